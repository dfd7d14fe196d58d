// Cross-attention: Q in codes with a scale per row, K and V as the values they stand for (protected
// rows are precise), probabilities in codes with a scale per row except the protected columns.
// A prompt has few tokens, so all of it stays in the cache and sums are in float32.

#include "attention.h"

namespace taq {
namespace {

constexpr bool MANY = REGISTERS == 32;
constexpr int ROWS = MANY ? 4 : 6;     // queries that share what is loaded of K or V
constexpr int WIDE = MANY ? 5 : 2;     // registers of keys worked on at a time
constexpr int COLUMNS = MANY ? 3 : 2;  // registers of output channels

// One head of the text.
struct Head {
  std::vector<float> k;  // (width, keys)
  std::vector<float> v;  // (tokens, columns)
  int keys, columns;     // rounded up
  bool broken = false;   // K holds NaN or infinity, and so does what comes out
};

template <typename T>
void pack(Head& head, const T* k, const T* v, const Strides* at, int tokens, int width) {
  head.k.assign(size_t(width) * head.keys, 0.f);
  head.v.assign(size_t(tokens) * head.columns, 0.f);
  std::vector<float> row(head.columns);
  for (int j = 0; j < tokens; ++j) {
    for (int c = 0; c < width; c += LANES) {
      const auto lanes = first(width - c);
      store(row.data() + c, load(k + j * at[1].row + c, lanes));
      store(head.v.data() + size_t(j) * head.columns + c, load(v + j * at[2].row + c, lanes));
    }
    for (int c = 0; c < width; ++c) head.k[size_t(c) * head.keys + j] = row[c];
    head.broken |= !std::isfinite(largest(row.data(), nullptr, width));
  }
}

// Scores of ROWS queries (ROWS, width) for COUNT registers of keys.
template <int COUNT>
void scores_of(const float* q, int q_stride, const Head& head, int width, int key, float* scores) {
  Floats sums[ROWS][COUNT] = {};
  for (int c = 0; c < width; ++c) {
    const float* from = head.k.data() + size_t(c) * head.keys + key;
    Floats k[COUNT];
    for (int s = 0; s < COUNT; ++s) k[s] = load(from + LANES * s);
    for (int r = 0; r < ROWS; ++r) {
      const Floats x = all(q[r * q_stride + c]);
      for (int s = 0; s < COUNT; ++s) sums[r][s] = fused(x, k[s], sums[r][s]);
    }
  }
  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < COUNT; ++s) {
      store(scores + size_t(r) * head.keys + key + LANES * s, sums[r][s]);
    }
  }
}

// In place: last * e^(s - max), rounded where `kept` is not set; returns the sum of e^(s - max).
float weights_of(float* scores, int tokens, const uint8_t* kept, int last) {
  Floats most = all(-INFINITY);
  for (int j = 0; j < tokens; j += LANES) {
    most = choose(first(tokens - j), max(most, load(scores + j)), most);
  }
  const Floats top = all(largest_of(most)), reach = all(float(last));
  Floats sum{};
  for (int j = 0; j < tokens; j += LANES) {
    const auto real = first(tokens - j);
    const Floats e = exp_below_zero(load(scores + j) - top);
    sum = choose(real, sum + e, sum);
    const Floats a = e * reach;
    const Mask spared = kept ? flagged(kept + j, real) : Mask{};
    store(scores + j, choose(spared, a, rounded(a)));
  }
  return sum_of(sum);
}

// ROWS queries' weights times V, for COUNT registers of columns.
template <int COUNT, typename T>
void times_v(const float* weights, const float* sums, const Head& head, int tokens, int column,
             int width, int rows, int last, T* out, int64_t stride) {
  Floats total[ROWS][COUNT] = {};
  for (int j = 0; j < tokens; ++j) {
    const float* from = head.v.data() + size_t(j) * head.columns + column;
    Floats v[COUNT];
    for (int c = 0; c < COUNT; ++c) v[c] = load(from + LANES * c);
    for (int r = 0; r < ROWS; ++r) {
      const Floats a = all(weights[size_t(r) * head.keys + j]);
      for (int c = 0; c < COUNT; ++c) total[r][c] = fused(a, v[c], total[r][c]);
    }
  }
  for (int r = 0; r < rows; ++r) {
    const Floats part = all(1.f / (last * sums[r]));
    for (int c = 0; c < COUNT; ++c) {
      const int at = column + LANES * c;
      store(out + r * stride + at, first(width - at), total[r][c] * part);
    }
  }
}

struct Scratch {
  std::vector<float> q;       // (ROWS, columns)
  std::vector<float> scores;  // (ROWS, keys)

  explicit Scratch(const Head& head)
      : q(size_t(ROWS) * head.columns), scores(size_t(ROWS) * head.keys) {}
};

template <typename T>
void rows_of(const T* q, int64_t q_stride, int rows, T* out, int64_t out_stride, const Head& head,
             const uint8_t* kept, int tokens, int width, float scale, int row_last, int last,
             Scratch& use) {
  std::fill(use.q.begin(), use.q.end(), 0.f);
  bool broken[ROWS] = {};
  for (int r = 0; r < rows; ++r) {
    const T* row = q + r * q_stride;
    const float most = largest(row, nullptr, width);
    broken[r] = head.broken || !std::isfinite(most);
    const float step = step_of(most, row_last);
    const Floats inverse = all(1.f / step), back = all(step * scale);
    for (int c = 0; c < width; c += LANES) {
      const Floats code = rounded(load(row + c, first(width - c)) * inverse);
      store(use.q.data() + size_t(r) * head.columns + c, code * back);
    }
  }
  int j = 0;
  for (; j + WIDE * LANES <= head.keys; j += WIDE * LANES) {
    scores_of<WIDE>(use.q.data(), head.columns, head, width, j, use.scores.data());
  }
  for (; j < head.keys; j += LANES) {
    scores_of<1>(use.q.data(), head.columns, head, width, j, use.scores.data());
  }
  float sums[ROWS];
  for (int r = 0; r < ROWS; ++r) {
    sums[r] = weights_of(use.scores.data() + size_t(r) * head.keys, tokens, kept, last);
    if (broken[r]) sums[r] = NAN;
  }
  int c = 0;
  for (; c + COLUMNS * LANES <= head.columns; c += COLUMNS * LANES) {
    times_v<COLUMNS>(use.scores.data(), sums, head, tokens, c, width, rows, last, out, out_stride);
  }
  for (; c < head.columns; c += LANES) {
    times_v<1>(use.scores.data(), sums, head, tokens, c, width, rows, last, out, out_stride);
  }
}

template <typename T>
void text_attention(const T* q, const T* k, const T* v, T* out, const uint8_t* kept,
                    const Shape& shape, const Strides* at, float scale, int row_last, int last,
                    int threads) {
  const auto pack_head = [&](Head& head, int64_t b, int64_t i) {
    const int tokens = int(shape.keys), width = int(shape.width);
    head.keys = round_up(tokens, LANES);
    head.columns = round_up(width, LANES);
    pack(head, at[1].at(k, b, i), at[2].at(v, b, i), at, tokens, width);
  };
  const auto attend = [&](const Head& head, int64_t b, int64_t i, int64_t row, int rows,
                          Scratch& use) {
    rows_of(at[0].at(q, b, i) + row * at[0].row, at[0].row, rows,
            at[3].at(out, b, i) + row * at[3].row, at[3].row, head,
            kept ? kept + b * shape.keys : nullptr, int(shape.keys), int(shape.width), scale,
            row_last, last, use);
  };
  for_each_block<Head, Scratch>(shape, ROWS, 64, threads, pack_head, attend);
}

}  // namespace
}  // namespace taq

extern "C" int taq_text_attention(const void* q, const void* k, const void* v, void* out,
                                  const uint8_t* kept, const taq::Shape* shape,
                                  const taq::Strides* strides, float scale, int row_last, int last,
                                  int in_bfloat16, int threads) {
  return taq::entered(in_bfloat16, [&](auto kind) {
    using T = decltype(kind);
    taq::text_attention(static_cast<const T*>(q), static_cast<const T*>(k),
                        static_cast<const T*>(v), static_cast<T*>(out), kept, *shape, strides,
                        scale, row_last, last, threads);
  });
}
