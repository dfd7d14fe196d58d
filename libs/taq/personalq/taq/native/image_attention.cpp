// Self-attention in integers: Q and K in int8 with a scale per row, V with one per channel, and the
// probabilities in uint8 with a scale per row. Products are summed in int32.
//
// The largest probability of a row is e^0 / sum, so its codes are round(last * e^(s - max)): they
// are known without the sum, and the sum leaves the integer product.

#include "attention.h"

namespace taq {
namespace {

constexpr bool MANY = REGISTERS == 32;
constexpr int BLOCK = MANY ? 16 : 12;  // queries of a task
constexpr int ROWS = MANY ? 4 : 6;     // queries whose scores share what is loaded of K
constexpr int ACROSS = MANY ? 4 : 2;   // registers of keys
constexpr int TALL = MANY ? 8 : 6;     // queries whose outputs share what is loaded of V
constexpr int COLUMNS = MANY ? 3 : 2;  // registers of output channels
constexpr int KEYS = ACROSS * LANES;
constexpr int SHIFT = 128;  // makes codes of Q unsigned

// One head of K and V in the layout of the products: codes that are summed in a lane lie together.
struct Head {
  std::vector<Integer> k;      // (keys / KEYS, width / GROUP, KEYS, GROUP)
  std::vector<float> k_scale;  // (keys)
  std::vector<float> k_sum;    // (keys): SHIFT times the sum of a row's codes
  std::vector<Integer> v;      // (keys / GROUP, columns, GROUP)
  std::vector<float> v_scale;  // (columns)
  int keys, groups, columns;   // rounded up
  bool broken = false;         // holds NaN or infinity, and so does what comes out
};

template <typename T>
void pack_k(Head& head, const T* k, int64_t stride, int rows, int width, int last) {
  head.k.assign(size_t(head.groups) * head.keys * GROUP, 0);
  head.k_scale.assign(head.keys, 0.f);
  head.k_sum.assign(head.keys, 0.f);
  std::vector<Integer> codes(round_up(width, LANES), 0);
  for (int j = 0; j < rows; ++j) {
    const T* row = k + j * stride;
    const float most = largest(row, nullptr, width);
    head.broken |= !std::isfinite(most);
    const float step = step_of(most, last);
    const Floats inverse = all(1.f / step);
    Ints sum{};
    for (int c = 0; c < width; c += LANES) {
      const Ints code = nearest(load(row + c, first(width - c)) * inverse);
      sum += code;
      narrow(codes.data() + c, code);
    }
    Integer* to = head.k.data() + (size_t(j / KEYS) * head.groups * KEYS + j % KEYS) * GROUP;
    for (int g = 0; g < head.groups; ++g, to += KEYS * GROUP) {
      std::memcpy(to, codes.data() + GROUP * g, 4);
    }
    head.k_scale[j] = step;
    head.k_sum[j] = SHIFT * float(sum_of(sum));
  }
}

template <typename T>
void pack_v(Head& head, const T* v, int64_t stride, int rows, int width, int last) {
  head.v.assign(size_t(head.keys) * head.columns, 0);
  head.v_scale.assign(head.columns, 0.f);
  for (int c = 0; c < width; c += LANES) {
    const auto lanes = first(width - c);
    Floats most{}, nothing{};  // 0 · x is 0 unless x is NaN or infinite
    for (int j = 0; j < rows; ++j) {
      const Floats x = load(v + j * stride + c, lanes);
      nothing = fused(x, Floats{}, nothing);
      most = max(most, abs(x));
    }
    head.broken |= any(is_nan(nothing));
    const Floats step = max(most / all(float(last)), all(1.17549435e-38f));
    store(head.v_scale.data() + c, step);
    const Floats inverse = all(1.f) / step;
    constexpr int BITS = 32 / GROUP;
    const Ints low = all((1 << BITS) - 1);
    for (int j = 0; j < rows; j += GROUP) {
      Ints group{};
      for (int i = 0; i < std::min(GROUP, rows - j); ++i) {
        const Ints code = nearest(load(v + (j + i) * stride + c, lanes) * inverse);
        group |= (code & low) << (BITS * i);
      }
      store_packed(head.v.data() + (size_t(j / GROUP) * head.columns + c) * GROUP, group);
    }
  }
}

// Scores of ROWS queries against every key, and the largest of each.
void scores_of(const Code* q, int q_stride, const float* q_scale, const Head& head, int keys,
               float* scores, float* highest) {
  Floats most[ROWS];
  for (int r = 0; r < ROWS; ++r) most[r] = all(-INFINITY);
  const Integer* from = head.k.data();
  for (int j = 0; j < head.keys; j += KEYS) {
    Ints sums[ROWS][ACROSS] = {};
    for (int g = 0; g < head.groups; ++g, from += KEYS * GROUP) {
      Ints k[ACROSS];
      for (int s = 0; s < ACROSS; ++s) k[s] = load_packed(from + GROUP * LANES * s);
      for (int r = 0; r < ROWS; ++r) {
        const Ints codes = all(q + r * q_stride + GROUP * g);
        for (int s = 0; s < ACROSS; ++s) sums[r][s] = add_products(sums[r][s], codes, k[s]);
      }
    }
    for (int s = 0; s < ACROSS; ++s) {
      const int at = j + LANES * s;
      const Floats scale = load(head.k_scale.data() + at), sum = load(head.k_sum.data() + at);
      const Mask real = first(keys - at);
      for (int r = 0; r < ROWS; ++r) {
        Floats x = floats(sums[r][s]) - sum;
        x = x * (scale * all(q_scale[r]));
        x = choose(real, x, all(-INFINITY));
        most[r] = max(most[r], x);
        store(scores + size_t(r) * head.keys + at, x);
      }
    }
  }
  for (int r = 0; r < ROWS; ++r) highest[r] = largest_of(most[r]);
}

// Codes round(last * e^(s - highest)) of one query; returns the sum of e^(s - highest).
float codes_of(const float* scores, float highest, int keys, int last, Code* codes) {
  const Floats top = all(highest), reach = all(float(last));
  Floats sums[2] = {};
  for (int j = 0; j < keys; j += KEYS) {
    for (int s = 0; s < ACROSS; ++s) {
      const Floats e = exp_below_zero(load(scores + j + LANES * s) - top);
      sums[s % 2] = sums[s % 2] + e;
      narrow(codes + j + LANES * s, nearest(e * reach));
    }
  }
  return sum_of(sums[0] + sums[1]);
}

// Codes of TALL queries times V, for `WIDE` registers of columns from `column` on.
template <int WIDE>
void times_v(const Code* codes, const Head& head, int column, float* out) {
  Ints sums[TALL][WIDE] = {};
  const Integer* from = head.v.data() + size_t(column) * GROUP;
  for (int j = 0; j < head.keys; j += GROUP, from += size_t(head.columns) * GROUP) {
    Ints v[WIDE];
    for (int c = 0; c < WIDE; ++c) v[c] = load_packed(from + GROUP * LANES * c);
    for (int r = 0; r < TALL; ++r) {
      const Ints a = all(codes + size_t(r) * head.keys + j);
      for (int c = 0; c < WIDE; ++c) sums[r][c] = add_products(sums[r][c], a, v[c]);
    }
  }
  for (int r = 0; r < TALL; ++r) {
    for (int c = 0; c < WIDE; ++c) {
      store(out + size_t(r) * head.columns + column + LANES * c, floats(sums[r][c]));
    }
  }
}

struct Scratch {
  std::vector<float> scores;   // (ROWS, keys)
  std::vector<Code> codes;     // (BLOCK, keys)
  std::vector<Code> q;         // (BLOCK, GROUP groups)
  std::vector<float> product;  // (BLOCK, columns)
  float q_scale[BLOCK], sums[BLOCK];
  bool broken[BLOCK];

  explicit Scratch(const Head& head)
      : scores(size_t(ROWS) * head.keys),
        codes(size_t(BLOCK) * head.keys),
        q(size_t(BLOCK) * round_up(GROUP * head.groups, LANES)),
        product(size_t(BLOCK) * head.columns) {}
};

template <typename T>
void block_of(const T* q, int64_t q_stride, int rows, T* out, int64_t out_stride, const Head& head,
              int keys, int width, float scale, int row_last, int last, Scratch& use) {
  const int stride = round_up(GROUP * head.groups, LANES);
  std::fill(use.q.begin(), use.q.end(), Code(SHIFT));
  std::fill(use.q_scale, use.q_scale + BLOCK, 0.f);
  for (int r = 0; r < rows; ++r) {
    const T* row = q + r * q_stride;
    const float most = largest(row, nullptr, width);
    use.broken[r] = head.broken || !std::isfinite(most);
    const float step = step_of(most, row_last);
    const Floats inverse = all(1.f / step);
    for (int c = 0; c < width; c += LANES) {
      const Ints code = nearest(load(row + c, first(width - c)) * inverse);
      narrow(use.q.data() + size_t(r) * stride + c, code + SHIFT);
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
    const Code* codes = use.codes.data() + size_t(r) * head.keys;
    float* to = use.product.data() + size_t(r) * head.columns;
    int c = 0;
    for (; c + COLUMNS * LANES <= head.columns; c += COLUMNS * LANES) {
      times_v<COLUMNS>(codes, head, c, to);
    }
    for (; c < head.columns; c += LANES) times_v<1>(codes, head, c, to);
  }
  for (int r = 0; r < rows; ++r) {
    const Floats part = all(use.broken[r] ? NAN : 1.f / (last * use.sums[r]));
    for (int c = 0; c < width; c += LANES) {
      const Floats sum = load(use.product.data() + size_t(r) * head.columns + c);
      const Floats step = load(head.v_scale.data() + c) * part;
      store(out + r * out_stride + c, first(width - c), sum * step);
    }
  }
}

template <typename T>
void image_attention(const T* q, const T* k, const T* v, T* out, const Shape& shape,
                     const Strides* at, float scale, int row_last, int last, int threads) {
  const auto pack = [&](Head& head, int64_t b, int64_t i) {
    const int keys = int(shape.keys), width = int(shape.width);
    head.keys = round_up(keys, KEYS);
    head.groups = round_up(width, GROUP) / GROUP;
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
