// How both attentions go through their tensors: every head is packed once, then read in blocks of
// queries.
#pragma once

#include <limits>
#include <optional>

#include "errors.h"

namespace taq {

// Where a head of a tensor (batch, heads, rows, width) begins; the width is contiguous.
struct Strides {
  int64_t batch, head, row;

  template <typename T>
  T* at(T* tensor, int64_t b, int64_t i) const {
    return tensor + b * batch + i * head;
  }
};

struct Shape {
  int64_t batch, heads, queries, keys, width;
};

// Calls pack(head, b, i) for every head, then attend(head, b, i, row, rows, scratch) for every
// `block` queries, of which a thread takes `chunk` at a time. A thread has one Scratch.
template <typename Head, typename Scratch, typename Pack, typename Attend>
void for_each_block(const Shape& shape, int block, int chunk, int threads, Pack&& pack,
                    Attend&& attend) {
  constexpr int64_t most = std::numeric_limits<int>::max() / 2;  // they are rounded up
  if (shape.keys > most || shape.width > most) throw std::length_error("rows beyond an int");
  const int64_t heads = shape.batch * shape.heads;
  std::vector<Head> packed(heads);
  Failure failure;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int64_t h = 0; h < heads; ++h) {
    failure.keep([&] { pack(packed[h], h / shape.heads, h % shape.heads); });
  }
  failure.rethrow();
  const int64_t blocks = (shape.queries + block - 1) / block;
#pragma omp parallel num_threads(threads)
  {
    std::optional<Scratch> scratch;
    failure.keep([&] { scratch.emplace(packed[0]); });
#pragma omp for schedule(dynamic, chunk)
    for (int64_t task = 0; task < heads * blocks; ++task) {
      if (!scratch) continue;
      const int64_t h = task / blocks, row = task % blocks * block;
      const int rows = int(std::min<int64_t>(block, shape.queries - row));
      attend(packed[h], h / shape.heads, h % shape.heads, row, rows, *scratch);
    }
  }
  failure.rethrow();
}

}  // namespace taq
