// Codes of layer inputs.

#include "errors.h"

namespace taq {
namespace {

// clip(floor(x * f / s + z + 1/2), 0, last) of `rows` rows of `width` contiguous values.
template <typename T>
void quantize(const T* x, const float* factors, uint8_t* codes, int64_t rows, int64_t width,
              float inverse, float offset, int last, int threads) {
  const Floats by = all(inverse), shift = all(offset), zero{}, most = all(float(last));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const T* from = x + r * width;
    uint8_t* to = codes + r * width;
    for (int64_t c = 0; c < width; c += LANES) {
      const auto lanes = first(int(std::min<int64_t>(width - c, LANES)));
      Floats value = load(from + c, lanes);
      if (factors) value = value * load(factors + c, lanes);
      value = fused(value, by, shift);
      value = min(max(value, zero), most);
      store(to + c, lanes, truncated(value));
    }
  }
}

// The same with a symmetric grid for each row, whose step goes to `scales`.
template <typename T>
void quantize_rows(const T* x, const float* factors, uint8_t* codes, float* scales, int64_t rows,
                   int64_t width, int last, int threads) {
  const Floats shift = all(last + 1.5f), zero{}, most = all(2.f * last + 1.f);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const T* from = x + r * width;
    uint8_t* to = codes + r * width;
    scales[r] = step_of(largest(from, factors, int(width)), last);
    const Floats by = all(1.f / scales[r]);
    for (int64_t c = 0; c < width; c += LANES) {
      const auto lanes = first(int(std::min<int64_t>(width - c, LANES)));
      Floats value = load(from + c, lanes);
      if (factors) value = value * load(factors + c, lanes);
      value = min(max(fused(value, by, shift), zero), most);
      store(to + c, lanes, truncated(value));
    }
  }
}

}  // namespace
}  // namespace taq

extern "C" int taq_quantize(const void* x, const float* factors, uint8_t* codes, int64_t rows,
                            int64_t width, float inverse, float offset, int last, int in_bfloat16,
                            int threads) {
  return taq::entered(in_bfloat16, [&](auto kind) {
    using T = decltype(kind);
    taq::quantize(static_cast<const T*>(x), factors, codes, rows, width, inverse, offset, last,
                  threads);
  });
}

extern "C" int taq_quantize_rows(const void* x, const float* factors, uint8_t* codes, float* scales,
                                 int64_t rows, int64_t width, int last, int in_bfloat16,
                                 int threads) {
  return taq::entered(in_bfloat16, [&](auto kind) {
    using T = decltype(kind);
    taq::quantize_rows(static_cast<const T*>(x), factors, codes, scales, rows, width, last,
                       threads);
  });
}
