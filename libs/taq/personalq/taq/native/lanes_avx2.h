// Eight 32-bit lanes of AVX2, and products of 16-bit integers, two in a lane: those of bytes it adds in
// 16 bits, which is not exact.
#pragma once

namespace taq {

constexpr int REGISTERS = 16;

using Floats = __m256;
typedef int32_t Ints __attribute__((vector_size(32)));
using Mask = __m256i;

using Code = int16_t;     // of an input
using Integer = int16_t;  // of a weight

inline Ints ints(__m256i x) { return reinterpret_cast<Ints>(x); }
inline __m256i bits(Ints x) { return reinterpret_cast<__m256i>(x); }

// The first `count` lanes, none below zero.
struct First {
  int count;

  operator Mask() const {
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), numbers);
  }
};

inline First first(int count) { return {std::clamp(count, 0, 8)}; }

inline Floats all(float x) { return _mm256_set1_ps(x); }
inline Ints all(int32_t x) { return ints(_mm256_set1_epi32(x)); }

// The GROUP codes from here on, in every lane.
inline Ints all(const Code* from) {
  int32_t two;
  std::memcpy(&two, from, 4);
  return all(two);
}

inline Floats load(const float* from) { return _mm256_loadu_ps(from); }
inline Floats load(const BFloat16* from) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}
inline Ints load(const int32_t* from) {
  return ints(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
inline Ints load(const uint8_t* from) {
  return ints(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}

// Zeros in the other lanes, whose memory may not be there.
template <typename T>
auto load(const T* from, First lanes) {
  if (lanes.count == 8) return load(from);
  T part[8] = {};
  std::memcpy(part, from, lanes.count * sizeof(T));
  return load(part);
}

inline void store(float* to, Floats x) { _mm256_storeu_ps(to, x); }

// To the nearest, ties to even.
inline void store(BFloat16* to, Floats x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
  const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
  const __m128i low = _mm256_castsi256_si128(rounded), high = _mm256_extracti128_si256(rounded, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packus_epi32(low, high));
}

// Every lane to a code or an integer.
inline void narrow(int16_t* to, Ints x) {
  const __m128i low = _mm256_castsi256_si128(bits(x)), high = _mm256_extracti128_si256(bits(x), 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packs_epi32(low, high));
}

// Every lane to a byte.
inline void store(uint8_t* to, Ints x) {
  const __m128i low = _mm256_castsi256_si128(bits(x)), high = _mm256_extracti128_si256(bits(x), 1);
  const __m128i shorts = _mm_packs_epi32(low, high);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(shorts, shorts));
}

template <typename T, typename Lanes>
void store(T* to, First lanes, Lanes x) {
  if (lanes.count == 8) return store(to, x);
  T part[8];
  store(part, x);
  std::memcpy(to, part, lanes.count * sizeof(T));
}

inline Floats abs(Floats x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.f), x); }
inline Floats max(Floats a, Floats b) { return _mm256_max_ps(a, b); }
inline Floats min(Floats a, Floats b) { return _mm256_min_ps(a, b); }
inline Floats fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
inline Floats rounded(Floats x) {
  return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline Ints nearest(Floats x) { return ints(_mm256_cvtps_epi32(x)); }
inline Ints truncated(Floats x) { return ints(_mm256_cvttps_epi32(x)); }
inline Floats floats(Ints x) { return _mm256_cvtepi32_ps(bits(x)); }

// x * 2^n for whole n from -126 to 127.
inline Floats times_power_of_two(Floats x, Floats n) {
  return x * _mm256_castsi256_ps(bits((nearest(n) + 127) << 23));
}

inline float sum_of(Floats x) {
  float sum = 0.f;
  for (int i = 0; i < 8; ++i) sum += x[i];
  return sum;
}
inline int32_t sum_of(Ints x) {
  int32_t sum = 0;
  for (int i = 0; i < 8; ++i) sum += x[i];
  return sum;
}
inline float largest_of(Floats x) {
  float most = x[0];
  for (int i = 1; i < 8; ++i) most = std::max(most, x[i]);
  return most;
}

inline Mask is_nan(Floats x) { return _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)); }
inline bool any(Mask mask) { return !_mm256_testz_si256(mask, mask); }
inline Floats choose(Mask mask, Floats x, Floats otherwise) {
  return _mm256_blendv_ps(otherwise, x, _mm256_castsi256_ps(mask));
}

// Those of the first lanes whose byte is not zero.
inline Mask flagged(const uint8_t* flags, First lanes) {
  return _mm256_cmpgt_epi32(bits(load(flags, lanes)), _mm256_setzero_si256());
}

// A register of integers; from bytes of either sign.
inline Ints load_packed(const Integer* from) {
  return ints(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
inline Ints load_packed(const int8_t* from) {
  return ints(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
inline Ints load_packed(const uint8_t* from) {
  return ints(_mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
inline void store_packed(Integer* to, Ints x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bits(x));
}
inline Ints minus_packed(Ints a, Ints b) { return ints(_mm256_sub_epi16(bits(a), bits(b))); }

// To every lane of the sums, the products of its codes and integers.
inline Ints add_products(Ints sums, Ints codes, Ints integers) {
  return sums + ints(_mm256_madd_epi16(bits(codes), bits(integers)));
}

}  // namespace taq
