// Codes of layer inputs.

#include "errors.h"

namespace taq {
namespace {

// clip(floor(x * f / s + z + 1/2), 0, last) of `rows` rows of `width` contiguous values.
template <typename T>
void quantize(const T* x, const float* factors, uint8_t* codes, int64_t rows, int64_t width,
              float inverse, float offset, int last, int threads) {
  const __m512 by = _mm512_set1_ps(inverse), shift = _mm512_set1_ps(offset);
  const __m512 zero = _mm512_setzero_ps(), most = _mm512_set1_ps(float(last));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const T* from = x + r * width;
    uint8_t* to = codes + r * width;
    for (int64_t c = 0; c < width; c += LANES) {
      const __mmask16 lanes = first(int(std::min<int64_t>(width - c, LANES)));
      __m512 value = load(from + c, lanes);
      if (factors) value = _mm512_mul_ps(value, load(factors + c, lanes));
      value = _mm512_fmadd_ps(value, by, shift);
      value = _mm512_min_ps(_mm512_max_ps(value, zero), most);
      _mm_mask_storeu_epi8(to + c, lanes, _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(value)));
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
