// Convolution, and Linear as its 1 x 1 case. A block of columns that is not stored as products read it
// is unpacked into the cache and used for every pixel, so that a 4-bit weight never takes more than
// half a byte of memory.

#include <optional>

#include "blocks.h"
#include "errors.h"

namespace taq {
namespace {

constexpr int PIXELS = REGISTERS == 32 ? 12 : 6;  // outputs that share what is loaded of the weight

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

// Where the codes of an output pixel's tap are; `outside` where the tap is in the padding.
struct Reader {
  const Code* codes;
  const Code* outside;
  Geometry g;

  const Code* at(int64_t pixel, int64_t tap) const {
    const int64_t x = pixel % g.out_width, rest = pixel / g.out_width;
    const int64_t y = rest % g.out_height, b = rest / g.out_height;
    const int64_t in_y = y * g.stride_y - g.padding_y + tap / g.kernel_width * g.dilation_y;
    const int64_t in_x = x * g.stride_x - g.padding_x + tap % g.kernel_width * g.dilation_x;
    if (in_y < 0 || in_y >= g.height || in_x < 0 || in_x >= g.width) return outside;
    return codes + ((b * g.height + in_y) * g.width + in_x) * g.channels;
  }
};

template <typename T>
void pixels_of(const Reader& from, const Integer* weight, int64_t pixel, int count, int64_t column,
               const Columns& columns, T* out) {
  const Geometry& g = from.g;
  const int64_t taps = g.kernel_height * g.kernel_width;
  Ints sums[PIXELS][2] = {};
  for (int64_t tap = 0; tap < taps; ++tap) {
    const Code* x[PIXELS];
    for (int p = 0; p < PIXELS; ++p) x[p] = p < count ? from.at(pixel + p, tap) : from.outside;
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
      const Floats sum = floats(sums[p][half] - shift);
      store(out + (pixel + p) * g.out_channels + n, lanes, fused(sum, scale, bias));
    }
  }
}

template <typename T>
void product(const Code* codes, Code zero, const uint8_t* packed, const Columns& columns,
             const Geometry& g, T* out, int threads) {
  const int64_t groups = g.kernel_height * g.kernel_width * g.channels / GROUP;
  const int64_t blocks = (g.out_channels + COLUMNS - 1) / COLUMNS;
  const bool four_bits = columns.zero_point, unpacks = four_bits || sizeof(Integer) > 1;
  const int64_t pixels = g.batch * g.out_height * g.out_width;
  // Few columns on many cores: cut the pixels too, at the price of unpacking more than once.
  const int64_t parts = std::max<int64_t>(1, 2 * threads / blocks);
  const int64_t part = ((pixels + parts - 1) / parts + PIXELS - 1) / PIXELS * PIXELS;
  const std::vector<Code> outside(g.channels, zero);
  const Reader from{codes, outside.data(), g};
  Failure failure;
#pragma omp parallel num_threads(threads)
  {
    std::optional<std::vector<Integer>> weight;
    failure.keep([&] { weight.emplace(unpacks ? size_t(groups) * STEP : 0); });
#pragma omp for schedule(dynamic)
    for (int64_t task = 0; task < blocks * parts; ++task) {
      if (!weight) continue;
      const int64_t block = task / parts, begin = task % parts * part;
      const int64_t end = std::min(pixels, begin + part);
      const uint8_t* stored = packed + block * groups * group_bytes(four_bits ? 4 : 8);
      const auto* integers = reinterpret_cast<const Integer*>(stored);
      if (unpacks) {
        const int8_t* zero_point = four_bits ? columns.zero_point + block * COLUMNS : nullptr;
        unpack(stored, zero_point, groups, weight->data());
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

extern "C" const int taq_code_bytes = sizeof(taq::Code);

extern "C" int taq_product(const taq::Code* codes, int zero, const uint8_t* packed,
                           const int8_t* zero_point, const int32_t* shift, const float* scale,
                           const float* bias, const int64_t* geometry, void* out, int in_bfloat16,
                           int threads) {
  return taq::entered(in_bfloat16, [&](auto kind) {
    using T = decltype(kind);
    taq::Geometry g;
    static_assert(sizeof(g) == 15 * sizeof(int64_t), "as many as the caller gives");
    std::memcpy(&g, geometry, sizeof(g));
    const taq::Columns columns{zero_point, shift, scale, bias};
    taq::product(codes, taq::Code(zero), packed, columns, g, static_cast<T*>(out), threads);
  });
}
