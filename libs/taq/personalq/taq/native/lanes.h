// What the kernels share: sixteen 32-bit lanes, float32 or bfloat16 in memory.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace taq {

constexpr int LANES = 16;

struct BFloat16 {
  uint16_t bits;
};

inline int round_up(int n, int to) { return (n + to - 1) / to * to; }

// The first `count` lanes, none below zero.
inline __mmask16 first(int count) {
  return count >= LANES ? __mmask16(0xffff) : __mmask16((1u << std::max(count, 0)) - 1);
}

inline __m512 load(const float* from, __mmask16 lanes) { return _mm512_maskz_loadu_ps(lanes, from); }

inline __m512 load(const BFloat16* from, __mmask16 lanes) {
  const __m256i halves = _mm256_maskz_loadu_epi16(lanes, from);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

inline void store(float* to, __mmask16 lanes, __m512 x) { _mm512_mask_storeu_ps(to, lanes, x); }

// To the nearest, ties to even.
inline void store(BFloat16* to, __mmask16 lanes, __m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
  _mm256_mask_storeu_epi16(to, lanes, _mm512_cvtepi32_epi16(rounded));
}

// e^x for x <= 0, relative error below 1e-5.
inline __m512 exp_below_zero(__m512 x) {
  const __m512 log2e = _mm512_set1_ps(1.44269504f);
  const __m512 y = _mm512_mul_ps(_mm512_max_ps(x, _mm512_set1_ps(-87.f)), log2e);
  const __m512 n = _mm512_roundscale_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 f = _mm512_sub_ps(y, n);
  __m512 p = _mm512_set1_ps(1.33988744e-3f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.67371163e-3f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.55032932e-2f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.40221205e-1f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.93147182e-1f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.f));
  return _mm512_scalef_ps(p, n);
}

// The largest magnitude; NaN if any value is.
template <typename T>
float largest(const T* row, int width) {
  __m512 most = _mm512_setzero_ps();
  __mmask16 unordered = 0;
  for (int c = 0; c < width; c += LANES) {
    const __m512 x = load(row + c, first(width - c));
    unordered |= _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    most = _mm512_max_ps(most, _mm512_abs_ps(x));
  }
  return unordered ? NAN : _mm512_reduce_max_ps(most);
}

// The step of a symmetric grid that reaches `most` with the code `last`.
inline float step_of(float most, int last) { return std::max(most / last, 1.17549435e-38f); }

}  // namespace taq
