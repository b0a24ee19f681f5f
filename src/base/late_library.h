#pragma once

// Shared libraries that only some commands need are loaded when they are first used: linking
// libcurl alone would cost every `reprise list` 8 of its 11 ms.

#include <initializer_list>
#include <memory>
#include <vector>

#include "reprise/error.h"

namespace reprise {

// Stays loaded until the process ends. Thread-safe.
class LateLibrary {
 public:
  // The first name that loads ("libcurl.so.4"). unsupported, naming `what` and its package, when
  // none does.
  static Result<LateLibrary> load(std::string_view what, std::initializer_list<const char*> names);

  Result<void*> symbol(const char* name) const;

 private:
  explicit LateLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

// The functions of a library, each one line of a struct that derives from this:
//   struct EditLibrary : LateFunctions {
//     Late<decltype(&::el_end)> end{*this, "el_end"};
class LateFunctions {
 public:
  LateFunctions() = default;
  ~LateFunctions() = default;
  LateFunctions(const LateFunctions&) = delete;
  LateFunctions& operator=(const LateFunctions&) = delete;

  // All of them; the first that is missing decides the outcome.
  Result<> bind(const LateLibrary& library) const;

 private:
  template <class Function>
  friend class Late;
  std::vector<std::pair<const char*, void**>> functions_;
};

// Called like the function that it is.
template <class Function>
class Late {
 public:
  Late(LateFunctions& all, const char* name) { all.functions_.emplace_back(name, &address_); }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym is for.
  Function function() const { return reinterpret_cast<Function>(address_); }
  operator Function() const { return function(); }  // NOLINT(google-explicit-constructor)
  // Not into the variable arguments of a function: those take function().
  Late(const Late&) = delete;
  Late& operator=(const Late&) = delete;
  ~Late() {}  // NOLINT(modernize-use-equals-default): a trivial one could be passed there

 private:
  void* address_ = nullptr;
};

// A library with its functions. They are never destroyed: a thread may still use them while the
// process ends.
template <class Functions>
Result<const Functions*> load_late(std::string_view what,
                                   std::initializer_list<const char*> names) {
  REPRISE_ASSIGN(const LateLibrary library, LateLibrary::load(what, names));
  auto functions = std::make_unique<Functions>();
  REPRISE_TRY(functions->bind(library));
  return functions.release();
}

}  // namespace reprise
