// Convolution, and Linear as its 1 x 1 case. Blocks of columns that are not stored as products read them
// are unpacked into the cache and used for every pixel, so that a 4-bit weight never takes more than
// half a byte of memory.

#include <optional>

#include "blocks.h"
#include "errors.h"

namespace taq {
namespace {

constexpr bool MANY = REGISTERS == 32;
constexpr int PIXELS = MANY ? 12 : 6;  // outputs that share what is loaded of the weight
// Of the weight, what pixels are multiplied with while they are in the cache too; one block at least.
constexpr int64_t KEPT = MANY ? 1 : (1 << 18) / sizeof(Integer);

struct Geometry {
  int64_t batch, height, width, channels;  // of the codes, channels innermost
  int64_t out_height, out_width, out_channels;
  int64_t kernel_height, kernel_width, stride_y, stride_x, padding_y, padding_x, dilation_y,
      dilation_x;
};

struct Columns {
  const int8_t* zero_point;  // (blocks, COLUMNS) of 4-bit weights; null: they are integers already
  const int32_t* shift;      // (out): input zero point times the sum of a column's integers
  const float* scale;        // (out): of input and weight together
  const float* bias;         // (out)
  const float* row_scale;    // (pixels), besides; null: 1
};

// A block as integers (taps, channels / GROUP, COLUMNS, GROUP).
void unpack(const uint8_t* packed, const int8_t* zero_point, int64_t groups, Integer* out) {
  if (!zero_point) {
    const auto* integers = reinterpret_cast<const int8_t*>(packed);
    for (int64_t i = 0; i < groups * STEP; i += HALF) {
      store_packed(out + i, load_packed(integers + i));
    }
    return;
  }
  Integer zeros[STEP];
  for (int i = 0; i < STEP; ++i) zeros[i] = zero_point[i / GROUP];
  const Ints zero_low = load_packed(zeros), zero_high = load_packed(zeros + HALF);
  const Ints low = all(0x0f0f0f0f);
  for (int64_t g = 0; g < groups; ++g) {
    const Ints both = load_packed(packed + HALF * g);
    store_packed(out + STEP * g, minus_packed(both & low, zero_low));
    store_packed(out + STEP * g + HALF, minus_packed(both >> 4 & low, zero_high));
  }
}

// Where the codes of output pixels' taps are; `outside` where a tap is in the padding.
struct Reader {
  const Code* codes;
  const Code* outside;
  Geometry g;

  // The rows (taps, PIXELS) of the first `count` from a pixel on.
  void find(int64_t pixel, int count, const Code** rows) const {
    std::fill(rows, rows + g.kernel_height * g.kernel_width * PIXELS, outside);
    for (int p = 0; p < count; ++p) {
      const int64_t x = (pixel + p) % g.out_width, rest = (pixel + p) / g.out_width;
      const int64_t y = rest % g.out_height, b = rest / g.out_height;
      const Code** row = rows + p;
      for (int64_t i = 0; i < g.kernel_height; ++i) {
        const int64_t in_y = y * g.stride_y - g.padding_y + i * g.dilation_y;
        for (int64_t j = 0; j < g.kernel_width; ++j, row += PIXELS) {
          const int64_t in_x = x * g.stride_x - g.padding_x + j * g.dilation_x;
          if (in_y < 0 || in_y >= g.height || in_x < 0 || in_x >= g.width) continue;
          *row = codes + ((b * g.height + in_y) * g.width + in_x) * g.channels;
        }
      }
    }
  }
};

// What a thread has of its own.
struct Scratch {
  std::vector<Integer> weight;    // (blocks, taps, channels / GROUP, COLUMNS, GROUP), if unpacked
  std::vector<const Code*> rows;  // (taps, PIXELS): where codes are

  Scratch(int64_t integers, int64_t taps) : weight(integers), rows(taps * PIXELS) {}
};

// The first `count` of PIXELS outputs, of a block of columns.
template <typename T>
void pixels_of(const Code* const* rows, const Integer* weight, const Geometry& g, int64_t pixel,
               int count, int64_t column, const Columns& columns, T* out) {
  const int64_t taps = g.kernel_height * g.kernel_width;
  Ints sums[PIXELS][2] = {};
  for (int64_t tap = 0; tap < taps; ++tap, rows += PIXELS) {
    const Code* x[PIXELS];
    for (int p = 0; p < PIXELS; ++p) x[p] = rows[p];
    for (int64_t c = 0; c < g.channels; c += GROUP, weight += STEP) {
      const Ints low = load_packed(weight), high = load_packed(weight + HALF);
      for (int p = 0; p < PIXELS; ++p) {
        const Ints codes = all(x[p] + c);
        sums[p][0] = add_products(sums[p][0], codes, low);
        sums[p][1] = add_products(sums[p][1], codes, high);
      }
    }
  }
  for (int half = 0; half < 2; ++half) {
    const int64_t n = column + LANES * half;
    if (n >= g.out_channels) break;
    const auto lanes = first(int(g.out_channels - n));
    const Ints shift = load(columns.shift + n, lanes);
    const Floats scale = load(columns.scale + n, lanes), bias = load(columns.bias + n, lanes);
    for (int p = 0; p < count; ++p) {
      Floats sum = floats(sums[p][half] - shift);
      if (columns.row_scale) sum = sum * all(columns.row_scale[pixel + p]);
      store(out + (pixel + p) * g.out_channels + n, lanes, fused(sum, scale, bias));
    }
  }
}

template <typename T>
void product(const Code* codes, Code zero, const uint8_t* packed, const Columns& columns,
             const Geometry& g, T* out, int threads) {
  const std::vector<Code> outside(g.channels, zero);
  const int64_t taps = g.kernel_height * g.kernel_width, groups = taps * g.channels / GROUP;
  const int64_t blocks = (g.out_channels + COLUMNS - 1) / COLUMNS;
  const bool four_bits = columns.zero_point, unpacks = four_bits || sizeof(Integer) > 1;
  const int64_t integers = groups * STEP, bytes = groups * group_bytes(four_bits ? 4 : 8);
  const int64_t taken = std::max<int64_t>(1, KEPT / std::max<int64_t>(1, integers));
  const int64_t across = (blocks + taken - 1) / taken;
  const int64_t pixels = g.batch * g.out_height * g.out_width;
  // Few columns on many cores: cut the pixels too, at the price of unpacking more than once.
  const int64_t parts = std::max<int64_t>(1, 2 * threads / across);
  const int64_t part = ((pixels + parts - 1) / parts + PIXELS - 1) / PIXELS * PIXELS;
  const Reader from{codes, outside.data(), g};
  Failure failure;
#pragma omp parallel num_threads(threads)
  {
    std::optional<Scratch> use;
    failure.keep([&] { use.emplace(unpacks ? taken * integers : 0, taps); });
#pragma omp for schedule(dynamic)
    for (int64_t task = 0; task < across * parts; ++task) {
      if (!use) continue;
      const int64_t block = task / parts * taken, last = std::min(blocks, block + taken);
      const int64_t begin = task % parts * part, end = std::min(pixels, begin + part);
      const auto* weight = reinterpret_cast<const Integer*>(packed + block * bytes);
      if (unpacks) {
        for (int64_t b = block; b < last; ++b) {
          unpack(packed + b * bytes, four_bits ? columns.zero_point + b * COLUMNS : nullptr, groups,
                 use->weight.data() + (b - block) * integers);
        }
        weight = use->weight.data();
      }
      for (int64_t pixel = begin; pixel < end; pixel += PIXELS) {
        const int count = int(std::min<int64_t>(PIXELS, end - pixel));
        from.find(pixel, count, use->rows.data());
        for (int64_t b = block; b < last; ++b) {
          pixels_of(use->rows.data(), weight + (b - block) * integers, g, pixel, count, b * COLUMNS,
                    columns, out);
        }
      }
    }
  }
  failure.rethrow();
}

}  // namespace
}  // namespace taq

extern "C" const int taq_code_bytes = sizeof(taq::Code);

extern "C" int taq_product(const taq::Code* codes, int zero, const uint8_t* packed,
                           const int8_t* zero_point, const int32_t* shift, const float* scale,
                           const float* bias, const float* row_scale, const int64_t* geometry,
                           void* out, int in_bfloat16, int threads) {
  return taq::entered(in_bfloat16, [&](auto kind) {
    using T = decltype(kind);
    taq::Geometry g;
    static_assert(sizeof(g) == 15 * sizeof(int64_t), "as many as the caller gives");
    std::memcpy(&g, geometry, sizeof(g));
    const taq::Columns columns{zero_point, shift, scale, bias, row_scale};
    taq::product(codes, taq::Code(zero), packed, columns, g, static_cast<T*>(out), threads);
  });
}
