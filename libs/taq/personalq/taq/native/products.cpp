// Convolution, and Linear as its 1 x 1 case. Of 4-bit weights a block of columns is unpacked into the
// cache and used for every pixel, so that a weight never takes more than half a byte of memory.

#include <cstring>
#include <optional>

#include "blocks.h"
#include "errors.h"

namespace taq {
namespace {

constexpr int PIXELS = 12;  // outputs that share what is loaded of the weight

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
};

// A block's codes, two per byte, to integers (taps, channels / 4, COLUMNS, 4).
void unpack(const uint8_t* packed, const int8_t* zero_point, int64_t groups, int8_t* out) {
  alignas(64) int8_t zeros[STEP];
  for (int n = 0; n < COLUMNS; ++n) std::memset(zeros + 4 * n, zero_point[n], 4);
  const __m512i zero_low = _mm512_load_si512(zeros), zero_high = _mm512_load_si512(zeros + 64);
  const __m512i low = _mm512_set1_epi8(15);
  for (int64_t g = 0; g < groups; ++g) {
    const __m512i both = _mm512_loadu_si512(packed + 64 * g);
    const __m512i a = _mm512_and_si512(both, low);
    const __m512i b = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
    _mm512_storeu_si512(out + STEP * g, _mm512_sub_epi8(a, zero_low));
    _mm512_storeu_si512(out + STEP * g + 64, _mm512_sub_epi8(b, zero_high));
  }
}

// Where the codes of an output pixel's tap are; `outside` where the tap is in the padding.
struct Reader {
  const uint8_t* codes;
  const uint8_t* outside;
  Geometry g;

  const uint8_t* at(int64_t pixel, int64_t tap) const {
    const int64_t x = pixel % g.out_width, rest = pixel / g.out_width;
    const int64_t y = rest % g.out_height, b = rest / g.out_height;
    const int64_t in_y = y * g.stride_y - g.padding_y + tap / g.kernel_width * g.dilation_y;
    const int64_t in_x = x * g.stride_x - g.padding_x + tap % g.kernel_width * g.dilation_x;
    if (in_y < 0 || in_y >= g.height || in_x < 0 || in_x >= g.width) return outside;
    return codes + ((b * g.height + in_y) * g.width + in_x) * g.channels;
  }
};

template <typename T>
void pixels_of(const Reader& from, const int8_t* weight, int64_t pixel, int count, int64_t column,
               const Columns& columns, T* out) {
  const Geometry& g = from.g;
  const int64_t taps = g.kernel_height * g.kernel_width;
  __m512i sums[PIXELS][2];
  for (auto& sum : sums) sum[0] = sum[1] = _mm512_setzero_si512();
  for (int64_t tap = 0; tap < taps; ++tap) {
    const uint8_t* x[PIXELS];
    for (int p = 0; p < PIXELS; ++p) x[p] = p < count ? from.at(pixel + p, tap) : from.outside;
    for (int64_t c = 0; c < g.channels; c += 4, weight += STEP) {
      const __m512i low = _mm512_loadu_si512(weight), high = _mm512_loadu_si512(weight + 64);
      for (int p = 0; p < PIXELS; ++p) {
        int32_t four;
        std::memcpy(&four, x[p] + c, 4);
        const __m512i codes = _mm512_set1_epi32(four);
        sums[p][0] = _mm512_dpbusd_epi32(sums[p][0], codes, low);
        sums[p][1] = _mm512_dpbusd_epi32(sums[p][1], codes, high);
      }
    }
  }
  for (int half = 0; half < 2; ++half) {
    const int64_t n = column + LANES * half;
    const __mmask16 lanes = first(int(g.out_channels - n));
    if (!lanes) break;
    const __m512i shift = _mm512_maskz_loadu_epi32(lanes, columns.shift + n);
    const __m512 scale = load(columns.scale + n, lanes), bias = load(columns.bias + n, lanes);
    for (int p = 0; p < count; ++p) {
      const __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums[p][half], shift));
      store(out + (pixel + p) * g.out_channels + n, lanes, _mm512_fmadd_ps(sum, scale, bias));
    }
  }
}

template <typename T>
void product(const uint8_t* codes, uint8_t zero, const uint8_t* packed, const Columns& columns,
             const Geometry& g, T* out, int threads) {
  const int64_t groups = g.kernel_height * g.kernel_width * g.channels / 4;
  const int64_t blocks = (g.out_channels + COLUMNS - 1) / COLUMNS;
  const bool four_bits = columns.zero_point;
  const int64_t pixels = g.batch * g.out_height * g.out_width;
  // Few columns on many cores: cut the pixels too, at the price of unpacking more than once.
  const int64_t parts = std::max<int64_t>(1, 2 * threads / blocks);
  const int64_t part = ((pixels + parts - 1) / parts + PIXELS - 1) / PIXELS * PIXELS;
  const std::vector<uint8_t> outside(g.channels, zero);
  const Reader from{codes, outside.data(), g};
  Failure failure;
#pragma omp parallel num_threads(threads)
  {
    std::optional<std::vector<int8_t>> weight;
    failure.keep([&] { weight.emplace(four_bits ? size_t(groups) * STEP : 0); });
#pragma omp for schedule(dynamic)
    for (int64_t task = 0; task < blocks * parts; ++task) {
      if (!weight) continue;
      const int64_t block = task / parts, begin = task % parts * part;
      const int64_t end = std::min(pixels, begin + part);
      const uint8_t* codes_of = packed + block * groups * group_bytes(four_bits ? 4 : 8);
      const int8_t* integers = reinterpret_cast<const int8_t*>(codes_of);
      if (four_bits) {
        unpack(codes_of, columns.zero_point + block * COLUMNS, groups, weight->data());
        integers = weight->data();
      }
      for (int64_t pixel = begin; pixel < end; pixel += PIXELS) {
        const int count = int(std::min<int64_t>(PIXELS, end - pixel));
        pixels_of(from, integers, pixel, count, block * COLUMNS, columns, out);
      }
    }
  }
  failure.rethrow();
}

}  // namespace
}  // namespace taq

extern "C" int taq_product(const uint8_t* codes, int zero, const uint8_t* packed,
                           const int8_t* zero_point, const int32_t* shift, const float* scale,
                           const float* bias, const int64_t* geometry, void* out, int in_bfloat16,
                           int threads) {
  return taq::entered(in_bfloat16, [&](auto kind) {
    using T = decltype(kind);
    taq::Geometry g;
    static_assert(sizeof(g) == 15 * sizeof(int64_t), "as many as the caller gives");
    std::memcpy(&g, geometry, sizeof(g));
    const taq::Columns columns{zero_point, shift, scale, bias};
    taq::product(codes, uint8_t(zero), packed, columns, g, static_cast<T*>(out), threads);
  });
}
