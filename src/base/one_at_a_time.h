#pragma once

// Objects that one thread uses at a time: a second call is refused, on any thread, also from a
// callback of the first one. Using them nevertheless would corrupt memory.

#include <atomic>

#include "base/text.h"
#include "reprise/error.h"

namespace reprise {

class OneAtATime {
 public:
  explicit OneAtATime(std::string_view object) : object_(object) {}

  // `call` returns a Result. invalid_argument while another call is running.
  template <class Call>
  auto run(const Call& call) -> decltype(call()) {
    if (is_running_.exchange(true)) {
      return fail(Code::invalid_argument,
                  cat("this ", object_,
                      " is in use: a call on it has not returned yet; each thread "
                      "needs one of its own"));
    }
    const End end(is_running_);
    return call();
  }

 private:
  class End {
   public:
    explicit End(std::atomic<bool>& is_running) : is_running_(is_running) {}
    ~End() { is_running_ = false; }
    End(const End&) = delete;
    End& operator=(const End&) = delete;

   private:
    std::atomic<bool>& is_running_;
  };

  std::string_view object_;
  std::atomic<bool> is_running_ = false;
};

}  // namespace reprise
