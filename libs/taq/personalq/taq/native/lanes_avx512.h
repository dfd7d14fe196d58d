// Sixteen 32-bit lanes of AVX-512, and products of bytes, four in a lane, by VNNI.
#pragma once

namespace taq {

constexpr int REGISTERS = 32;

using Floats = __m512;
typedef int32_t Ints __attribute__((vector_size(64)));
using Mask = __mmask16;

using Code = uint8_t;    // of an input
using Integer = int8_t;  // of a weight

inline Ints ints(__m512i x) { return reinterpret_cast<Ints>(x); }
inline __m512i bits(Ints x) { return reinterpret_cast<__m512i>(x); }

// The first `count` lanes, none below zero.
inline Mask first(int count) {
  return count >= 16 ? Mask(0xffff) : Mask((1u << std::max(count, 0)) - 1);
}

inline Floats all(float x) { return _mm512_set1_ps(x); }
inline Ints all(int32_t x) { return ints(_mm512_set1_epi32(x)); }

// The GROUP codes from here on, in every lane.
inline Ints all(const Code* from) {
  int32_t four;
  std::memcpy(&four, from, 4);
  return all(four);
}

inline Floats load(const float* from) { return _mm512_loadu_ps(from); }
inline Floats load(const float* from, Mask lanes) { return _mm512_maskz_loadu_ps(lanes, from); }
inline Ints load(const int32_t* from, Mask lanes) {
  return ints(_mm512_maskz_loadu_epi32(lanes, from));
}
inline Floats load(const BFloat16* from, Mask lanes) {
  const __m256i halves = _mm256_maskz_loadu_epi16(lanes, from);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

inline void store(float* to, Floats x) { _mm512_storeu_ps(to, x); }
inline void store(float* to, Mask lanes, Floats x) { _mm512_mask_storeu_ps(to, lanes, x); }

// To the nearest, ties to even.
inline void store(BFloat16* to, Mask lanes, Floats x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i half = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
  _mm256_mask_storeu_epi16(to, lanes, _mm512_cvtepi32_epi16(rounded));
}

inline Floats abs(Floats x) { return _mm512_abs_ps(x); }
inline Floats max(Floats a, Floats b) { return _mm512_max_ps(a, b); }
inline Floats min(Floats a, Floats b) { return _mm512_min_ps(a, b); }
inline Floats fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
inline Floats rounded(Floats x) {
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline Ints nearest(Floats x) { return ints(_mm512_cvtps_epi32(x)); }
inline Ints truncated(Floats x) { return ints(_mm512_cvttps_epi32(x)); }
inline Floats floats(Ints x) { return _mm512_cvtepi32_ps(bits(x)); }
inline Floats times_power_of_two(Floats x, Floats n) { return _mm512_scalef_ps(x, n); }

inline float sum_of(Floats x) { return _mm512_reduce_add_ps(x); }
inline int32_t sum_of(Ints x) { return _mm512_reduce_add_epi32(bits(x)); }
inline float largest_of(Floats x) { return _mm512_reduce_max_ps(x); }

inline Mask is_nan(Floats x) { return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q); }
inline bool any(Mask mask) { return mask != 0; }
inline Floats choose(Mask mask, Floats x, Floats otherwise) {
  return _mm512_mask_blend_ps(mask, otherwise, x);
}

// Those of the first lanes whose byte is not zero.
inline Mask flagged(const uint8_t* flags, Mask lanes) {
  const __m128i bytes = _mm_maskz_loadu_epi8(lanes, flags);
  return _mm_test_epi8_mask(bytes, bytes);
}

// Every lane to a byte.
inline void store(uint8_t* to, Mask lanes, Ints x) {
  _mm_mask_storeu_epi8(to, lanes, _mm512_cvtepi32_epi8(bits(x)));
}

// Every lane to a code or an integer.
template <typename T>
void narrow(T* to, Ints x) {
  static_assert(sizeof(T) == sizeof(Code));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(bits(x)));
}

// A register of integers; from bytes of either sign.
template <typename T>
Ints load_packed(const T* from) {
  static_assert(sizeof(T) == sizeof(Integer));
  return ints(_mm512_loadu_si512(from));
}
inline void store_packed(Integer* to, Ints x) { _mm512_storeu_si512(to, bits(x)); }
inline Ints minus_packed(Ints a, Ints b) { return ints(_mm512_sub_epi8(bits(a), bits(b))); }

// To every lane of the sums, the products of its codes and integers.
inline Ints add_products(Ints sums, Ints codes, Ints integers) {
  return ints(_mm512_dpbusd_epi32(bits(sums), bits(codes), bits(integers)));
}

}  // namespace taq
