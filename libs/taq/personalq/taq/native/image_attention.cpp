// Self-attention in integers: Q and K in int8 with a scale per row, V with one per channel, and the
// probabilities in uint8 with a scale per row. Products are uint8 times int8, summed in int32.
//
// The largest probability of a row is e^0 / sum, so its codes are round(last * e^(s - max)): they
// are known without the sum, and the sum leaves the integer product.

#include <cstring>

#include "attention.h"

namespace taq {
namespace {

constexpr int BLOCK = 16;  // queries of a task
constexpr int ROWS = 4;    // queries whose scores share what is loaded of K
constexpr int TALL = 8;    // queries whose outputs share what is loaded of V
constexpr int KEYS = 4 * LANES;
constexpr int SHIFT = 128;  // makes codes of Q unsigned

// One head of K and V in the layout of the products: four codes that are summed lie together.
struct Head {
  std::vector<int8_t> k;       // (width / 4, keys, 4)
  std::vector<float> k_scale;  // (keys)
  std::vector<float> k_sum;    // (keys): SHIFT times the sum of a row's codes
  std::vector<int8_t> v;       // (keys / 4, columns, 4)
  std::vector<float> v_scale;  // (columns)
  int keys, groups, columns;   // rounded up
  bool broken = false;         // holds NaN or infinity, and so does what comes out
};

template <typename T>
void pack_k(Head& head, const T* k, int64_t stride, int rows, int width, int last) {
  head.k.assign(size_t(head.groups) * head.keys * 4, 0);
  head.k_scale.assign(head.keys, 0.f);
  head.k_sum.assign(head.keys, 0.f);
  std::vector<int8_t> codes(round_up(width, LANES), 0);
  for (int j = 0; j < rows; ++j) {
    const T* row = k + j * stride;
    const float most = largest(row, width);
    head.broken |= !std::isfinite(most);
    const float step = step_of(most, last);
    const __m512 inverse = _mm512_set1_ps(1.f / step);
    __m512i sum = _mm512_setzero_si512();
    for (int c = 0; c < width; c += LANES) {
      const __m512 x = load(row + c, first(width - c));
      const __m512i code = _mm512_cvtps_epi32(_mm512_mul_ps(x, inverse));
      sum = _mm512_add_epi32(sum, code);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(codes.data() + c), _mm512_cvtepi32_epi8(code));
    }
    for (int g = 0; g < head.groups; ++g) {
      std::memcpy(head.k.data() + (size_t(g) * head.keys + j) * 4, codes.data() + 4 * g, 4);
    }
    head.k_scale[j] = step;
    head.k_sum[j] = SHIFT * float(_mm512_reduce_add_epi32(sum));
  }
}

template <typename T>
void pack_v(Head& head, const T* v, int64_t stride, int rows, int width, int last) {
  head.v.assign(size_t(head.keys) * head.columns, 0);
  head.v_scale.assign(head.columns, 0.f);
  for (int c = 0; c < width; c += LANES) {
    const __mmask16 lanes = first(width - c);
    __m512 most = _mm512_setzero_ps(), nothing = most;  // 0 · x is 0 unless x is NaN or infinite
    for (int j = 0; j < rows; ++j) {
      const __m512 x = load(v + j * stride + c, lanes);
      nothing = _mm512_fmadd_ps(x, _mm512_setzero_ps(), nothing);
      most = _mm512_max_ps(most, _mm512_abs_ps(x));
    }
    head.broken |= _mm512_cmp_ps_mask(nothing, nothing, _CMP_UNORD_Q) != 0;
    const __m512 reach = _mm512_set1_ps(float(last)), tiny = _mm512_set1_ps(1.17549435e-38f);
    const __m512 step = _mm512_max_ps(_mm512_div_ps(most, reach), tiny);
    _mm512_storeu_ps(head.v_scale.data() + c, step);
    const __m512 inverse = _mm512_div_ps(_mm512_set1_ps(1.f), step);
    const __m512i low = _mm512_set1_epi32(0xff);
    for (int j = 0; j < rows; j += 4) {
      __m512i four = _mm512_setzero_si512();
      for (int i = 0; i < std::min(4, rows - j); ++i) {
        const __m512 x = load(v + (j + i) * stride + c, lanes);
        const __m512i code = _mm512_cvtps_epi32(_mm512_mul_ps(x, inverse));
        four = _mm512_or_si512(four, _mm512_slli_epi32(_mm512_and_si512(code, low), 8 * i));
      }
      _mm512_storeu_si512(head.v.data() + (size_t(j / 4) * head.columns + c) * 4, four);
    }
  }
}

// Scores of ROWS queries against every key, and the largest of each.
void scores_of(const uint8_t* q, int q_stride, const float* q_scale, const Head& head, int keys,
               float* scores, float* highest) {
  __m512 most[ROWS];
  for (int r = 0; r < ROWS; ++r) most[r] = _mm512_set1_ps(-INFINITY);
  for (int j = 0; j < head.keys; j += KEYS) {
    __m512i sums[ROWS][4];
    for (auto& row : sums) std::fill(row, row + 4, _mm512_setzero_si512());
    for (int g = 0; g < head.groups; ++g) {
      const int8_t* from = head.k.data() + (size_t(g) * head.keys + j) * 4;
      __m512i k[4];
      for (int s = 0; s < 4; ++s) k[s] = _mm512_loadu_si512(from + 4 * LANES * s);
      for (int r = 0; r < ROWS; ++r) {
        int32_t four;
        std::memcpy(&four, q + r * q_stride + 4 * g, 4);
        const __m512i codes = _mm512_set1_epi32(four);
        for (int s = 0; s < 4; ++s) sums[r][s] = _mm512_dpbusd_epi32(sums[r][s], codes, k[s]);
      }
    }
    for (int s = 0; s < 4; ++s) {
      const int at = j + LANES * s;
      const __m512 scale = _mm512_loadu_ps(head.k_scale.data() + at);
      const __m512 sum = _mm512_loadu_ps(head.k_sum.data() + at);
      const __mmask16 real = first(keys - at);
      for (int r = 0; r < ROWS; ++r) {
        __m512 x = _mm512_sub_ps(_mm512_cvtepi32_ps(sums[r][s]), sum);
        x = _mm512_mul_ps(x, _mm512_mul_ps(scale, _mm512_set1_ps(q_scale[r])));
        x = _mm512_mask_blend_ps(real, _mm512_set1_ps(-INFINITY), x);
        most[r] = _mm512_max_ps(most[r], x);
        _mm512_storeu_ps(scores + size_t(r) * head.keys + at, x);
      }
    }
  }
  for (int r = 0; r < ROWS; ++r) highest[r] = _mm512_reduce_max_ps(most[r]);
}

// Codes round(last * e^(s - highest)) of one query; returns the sum of e^(s - highest).
float codes_of(const float* scores, float highest, int keys, int last, uint8_t* codes) {
  const __m512 top = _mm512_set1_ps(highest), reach = _mm512_set1_ps(float(last));
  __m512 sums[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (int j = 0; j < keys; j += KEYS) {
    for (int s = 0; s < 4; ++s) {
      const __m512 x = _mm512_sub_ps(_mm512_loadu_ps(scores + j + LANES * s), top);
      const __m512 e = exp_below_zero(x);
      sums[s % 2] = _mm512_add_ps(sums[s % 2], e);
      const __m512i code = _mm512_cvtps_epi32(_mm512_mul_ps(e, reach));
      auto* to = reinterpret_cast<__m128i*>(codes + j + LANES * s);
      _mm_storeu_si128(to, _mm512_cvtepi32_epi8(code));
    }
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1]));
}

// Codes of TALL queries times V, for `WIDE` registers of columns from `column` on.
template <int WIDE>
void times_v(const uint8_t* codes, const Head& head, int column, float* out) {
  __m512i sums[TALL][WIDE];
  for (auto& row : sums) std::fill(row, row + WIDE, _mm512_setzero_si512());
  const int8_t* from = head.v.data() + size_t(column) * 4;
  for (int j = 0; j < head.keys; j += 4, from += size_t(head.columns) * 4) {
    __m512i v[WIDE];
    for (int c = 0; c < WIDE; ++c) v[c] = _mm512_loadu_si512(from + 4 * LANES * c);
    for (int r = 0; r < TALL; ++r) {
      int32_t four;
      std::memcpy(&four, codes + size_t(r) * head.keys + j, 4);
      const __m512i a = _mm512_set1_epi32(four);
      for (int c = 0; c < WIDE; ++c) sums[r][c] = _mm512_dpbusd_epi32(sums[r][c], a, v[c]);
    }
  }
  for (int r = 0; r < TALL; ++r) {
    for (int c = 0; c < WIDE; ++c) {
      const __m512 sum = _mm512_cvtepi32_ps(sums[r][c]);
      _mm512_storeu_ps(out + size_t(r) * head.columns + column + LANES * c, sum);
    }
  }
}

struct Scratch {
  std::vector<float> scores;   // (ROWS, keys)
  std::vector<uint8_t> codes;  // (BLOCK, keys)
  std::vector<uint8_t> q;      // (BLOCK, 4 groups)
  std::vector<float> product;  // (BLOCK, columns)
  float q_scale[BLOCK], sums[BLOCK];
  bool broken[BLOCK];

  explicit Scratch(const Head& head)
      : scores(size_t(ROWS) * head.keys),
        codes(size_t(BLOCK) * head.keys),
        q(size_t(BLOCK) * round_up(4 * head.groups, LANES)),
        product(size_t(BLOCK) * head.columns) {}
};

template <typename T>
void block_of(const T* q, int64_t q_stride, int rows, T* out, int64_t out_stride, const Head& head,
              int keys, int width, float scale, int row_last, int last, Scratch& use) {
  const int stride = round_up(4 * head.groups, LANES);
  std::fill(use.q.begin(), use.q.end(), uint8_t(SHIFT));
  std::fill(use.q_scale, use.q_scale + BLOCK, 0.f);
  for (int r = 0; r < rows; ++r) {
    const T* row = q + r * q_stride;
    const float most = largest(row, width);
    use.broken[r] = head.broken || !std::isfinite(most);
    const float step = step_of(most, row_last);
    const __m512 inverse = _mm512_set1_ps(1.f / step);
    for (int c = 0; c < width; c += LANES) {
      const __m512 x = load(row + c, first(width - c));
      const __m512i code = _mm512_cvtps_epi32(_mm512_mul_ps(x, inverse));
      const __m512i shifted = _mm512_add_epi32(code, _mm512_set1_epi32(SHIFT));
      auto* to = reinterpret_cast<__m128i*>(use.q.data() + size_t(r) * stride + c);
      _mm_storeu_si128(to, _mm512_cvtepi32_epi8(shifted));
    }
    use.q_scale[r] = step * scale;
  }
  for (int r = 0; r < BLOCK; r += ROWS) {
    float highest[ROWS];
    scores_of(use.q.data() + size_t(r) * stride, stride, use.q_scale + r, head, keys,
              use.scores.data(), highest);
    for (int i = 0; i < ROWS; ++i) {
      use.sums[r + i] = codes_of(use.scores.data() + size_t(i) * head.keys, highest[i], head.keys,
                                 last, use.codes.data() + size_t(r + i) * head.keys);
    }
  }
  for (int r = 0; r < BLOCK; r += TALL) {
    const uint8_t* codes = use.codes.data() + size_t(r) * head.keys;
    float* to = use.product.data() + size_t(r) * head.columns;
    int c = 0;
    for (; c + 3 * LANES <= head.columns; c += 3 * LANES) times_v<3>(codes, head, c, to);
    for (; c < head.columns; c += LANES) times_v<1>(codes, head, c, to);
  }
  for (int r = 0; r < rows; ++r) {
    const __m512 part = _mm512_set1_ps(use.broken[r] ? NAN : 1.f / (last * use.sums[r]));
    for (int c = 0; c < width; c += LANES) {
      const __m512 sum = _mm512_loadu_ps(use.product.data() + size_t(r) * head.columns + c);
      const __m512 step = _mm512_mul_ps(_mm512_loadu_ps(head.v_scale.data() + c), part);
      store(out + r * out_stride + c, first(width - c), _mm512_mul_ps(sum, step));
    }
  }
}

template <typename T>
void image_attention(const T* q, const T* k, const T* v, T* out, const Shape& shape,
                     const Strides* at, float scale, int row_last, int last, int threads) {
  const auto pack = [&](Head& head, int64_t b, int64_t i) {
    const int keys = int(shape.keys), width = int(shape.width);
    head.keys = round_up(keys, KEYS);
    head.groups = round_up(width, 4) / 4;
    head.columns = round_up(width, LANES);
    pack_k(head, at[1].at(k, b, i), at[1].row, keys, width, row_last);
    pack_v(head, at[2].at(v, b, i), at[2].row, keys, width, row_last);
  };
  const auto attend = [&](const Head& head, int64_t b, int64_t i, int64_t row, int rows,
                          Scratch& use) {
    block_of(at[0].at(q, b, i) + row * at[0].row, at[0].row, rows,
             at[3].at(out, b, i) + row * at[3].row, at[3].row, head, int(shape.keys),
             int(shape.width), scale, row_last, last, use);
  };
  for_each_block<Head, Scratch>(shape, BLOCK, 4, threads, pack, attend);
}

}  // namespace
}  // namespace taq

extern "C" int taq_image_attention(const void* q, const void* k, const void* v, void* out,
                                   const taq::Shape* shape, const taq::Strides* strides,
                                   float scale, int row_last, int last, int in_bfloat16,
                                   int threads) {
  return taq::entered(in_bfloat16, [&](auto kind) {
    using T = decltype(kind);
    taq::image_attention(static_cast<const T*>(q), static_cast<const T*>(k),
                         static_cast<const T*>(v), static_cast<T*>(out), *shape, strides, scale,
                         row_last, last, threads);
  });
}
