// What the kernels share: registers of 32-bit lanes, float32 or bfloat16 in memory, and what is
// computed with them on either kind of CPU.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace taq {

struct BFloat16 {
  uint16_t bits;
};

inline int round_up(int n, int to) { return (n + to - 1) / to * to; }

}  // namespace taq

#ifdef __AVX512VNNI__
#include "lanes_avx512.h"
#else
#include "lanes_avx2.h"
#endif

namespace taq {

constexpr int LANES = sizeof(Floats) / sizeof(float);
constexpr int GROUP = 4 / sizeof(Code);  // codes in a lane

// e^x for x <= 0, relative error below 1e-5.
inline Floats exp_below_zero(Floats x) {
  const Floats y = max(x, all(-87.f)) * all(1.44269504f);
  const Floats n = rounded(y), f = y - n;
  Floats p = all(1.33988744e-3f);
  p = fused(p, f, all(9.67371163e-3f));
  p = fused(p, f, all(5.55032932e-2f));
  p = fused(p, f, all(2.40221205e-1f));
  p = fused(p, f, all(6.93147182e-1f));
  p = fused(p, f, all(1.f));
  return times_power_of_two(p, n);
}

// The largest magnitude, of values multiplied by factors if there are any; NaN if any value is.
template <typename T>
float largest(const T* row, const float* factors, int width) {
  Floats most{};
  Mask unordered{};
  for (int c = 0; c < width; c += LANES) {
    const auto lanes = first(width - c);
    Floats x = load(row + c, lanes);
    if (factors) x = x * load(factors + c, lanes);
    unordered |= is_nan(x);
    most = max(most, abs(x));
  }
  return any(unordered) ? NAN : largest_of(most);
}

// The step of a symmetric grid that reaches `most` with the code `last`.
inline float step_of(float most, int last) { return std::max(most / last, 1.17549435e-38f); }

}  // namespace taq
