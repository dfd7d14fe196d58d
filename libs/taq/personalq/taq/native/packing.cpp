// Weights from rows of output channels, as they are stored, to the blocks that products.cpp reads.

#include <optional>
#include <type_traits>

#include "blocks.h"
#include "errors.h"

namespace taq {
namespace {

using Word = std::conditional_t<GROUP == 4, uint32_t, uint16_t>;  // codes of a column in a group

struct Weight {
  const uint8_t* codes;  // (out, channels, taps), int8 or two 4-bit codes per byte
  int64_t out, channels, taps;
};

// Two codes per byte, the lower half first, to one.
void unpack(const uint8_t* from, int64_t bytes, int8_t* to) {
  for (int64_t i = 0; i < bytes; ++i) {
    to[2 * i] = int8_t(from[i] & 15);
    to[2 * i + 1] = int8_t(from[i] >> 4);
  }
}

int32_t sum_of(const int8_t* row, int64_t width) {
  int32_t sum = 0;
  for (int64_t i = 0; i < width; ++i) sum += row[i];
  return sum;
}

// `count` rows of codes (channels, taps) into a block of zeros, and the sum of each.
template <int BITS>
void pack_block(const int8_t* rows, int count, const Weight& w, uint8_t* block, int32_t* sums) {
  constexpr int WORDS = COLUMNS * BITS / 8;  // of a group
  const int64_t width = w.channels * w.taps, groups = w.channels / GROUP;
  auto* words = reinterpret_cast<Word*>(block);
  for (int64_t g = 0; g < groups; ++g) {
    for (int n = 0; n < count; ++n) {
      const int8_t* from = rows + n * width + GROUP * g * w.taps;
      for (int64_t t = 0; t < w.taps; ++t) {
        Word word = 0;
        for (int i = 0; i < GROUP; ++i) word |= Word(uint8_t(from[i * w.taps + t])) << 8 * i;
        words[(t * groups + g) * WORDS + n % WORDS] |= word << (n / WORDS * BITS);
      }
    }
  }
  for (int n = 0; n < count; ++n) sums[n] = sum_of(rows + n * width, width);
}

template <int BITS>
void pack(const Weight& w, uint8_t* packed, int32_t* sums, int threads) {
  const int64_t width = w.channels * w.taps, row_bytes = width * BITS / 8;
  const int64_t blocks = (w.out + COLUMNS - 1) / COLUMNS;
  const int64_t block_bytes = COLUMNS * row_bytes;
  Failure failure;
#pragma omp parallel num_threads(threads)
  {
    std::optional<std::vector<int8_t>> unpacked;
    failure.keep([&] { unpacked.emplace(BITS == 8 ? 0 : size_t(COLUMNS) * width); });
#pragma omp for schedule(dynamic)
    for (int64_t b = 0; b < blocks; ++b) {
      if (!unpacked) continue;
      const int count = int(std::min<int64_t>(COLUMNS, w.out - b * COLUMNS));
      const uint8_t* stored = w.codes + b * block_bytes;
      const int8_t* rows = reinterpret_cast<const int8_t*>(stored);
      if (BITS == 4) {
        unpack(stored, count * row_bytes, unpacked->data());
        rows = unpacked->data();
      }
      std::memset(packed + b * block_bytes, 0, block_bytes);
      pack_block<BITS>(rows, count, w, packed + b * block_bytes, sums + b * COLUMNS);
    }
  }
  failure.rethrow();
}

}  // namespace
}  // namespace taq

extern "C" const int taq_columns = taq::COLUMNS;  // of a block

extern "C" int taq_pack(const uint8_t* codes, int bits, const int64_t* shape, uint8_t* packed,
                        int32_t* sums, int threads) {
  return taq::entered(0, [&](auto) {
    const taq::Weight weight{codes, shape[0], shape[1], shape[2]};
    (bits == 4 ? taq::pack<4> : taq::pack<8>)(weight, packed, sums, threads);
  });
}
