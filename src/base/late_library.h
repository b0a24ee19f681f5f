#pragma once

// Shared libraries that only some commands need are loaded when they are first used: linking
// libcurl alone would cost every `reprise list` 8 of its 11 ms.

#include <initializer_list>
#include <string_view>

#include "reprise/error.h"

namespace reprise {

// Stays loaded until the process ends. Thread-safe.
class LateLibrary {
 public:
  // The first name that loads ("libcurl.so.4"). unsupported, naming `what` and its package, when
  // none does.
  static Result<LateLibrary> load(std::string_view what, std::initializer_list<const char*> names);

  // `function = library.symbol<decltype(&curl_easy_init)>("curl_easy_init")`
  template <class Function>
  Result<> bind(Function& function, const char* name) const {
    REPRISE_ASSIGN(void* address, symbol(name));
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym is for.
    function = reinterpret_cast<Function>(address);
    return {};
  }

 private:
  explicit LateLibrary(void* handle) : handle_(handle) {}
  Result<void*> symbol(const char* name) const;
  void* handle_;
};

// Binds one function after the other; the first that is missing decides the outcome.
class LateBinder {
 public:
  explicit LateBinder(const LateLibrary& library) : library_(library) {}
  template <class Function>
  void operator()(Function& function, const char* name) {
    if (outcome_) {
      outcome_ = library_.bind(function, name);
    }
  }
  const Result<>& outcome() const { return outcome_; }

 private:
  LateLibrary library_;
  Result<> outcome_;
};

}  // namespace reprise
