// Errors on their way to a caller that knows no exceptions: memory that is not there, sizes beyond it.
#pragma once

#include <atomic>
#include <exception>
#include <new>
#include <stdexcept>

#include "lanes.h"

namespace taq {

// What every entry returns; `native/build.py` raises what it says.
enum Status { DONE = 0, NO_MEMORY = 1, FAILED = 2 };

// Does `work` on a value of the type that the tensors have, and lets no exception out.
template <typename Work>
int entered(int in_bfloat16, Work&& work) noexcept {
  try {
    if (in_bfloat16) {
      work(BFloat16{});
    } else {
      work(float{});
    }
    return DONE;
  } catch (const std::bad_alloc&) {
    return NO_MEMORY;
  } catch (const std::length_error&) {
    return NO_MEMORY;
  } catch (...) {
    return FAILED;
  }
}

// No exception may leave a thread's part of a parallel region: one is kept and thrown behind it.
class Failure {
 public:
  template <typename Work>
  void keep(Work&& work) noexcept {
    try {
      work();
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace taq
