#pragma once

// Shared libraries that only some commands need are loaded on first use: linking libcurl alone
// would take 8 of the 11 ms of every `reprise list`.

#include <initializer_list>
#include <memory>
#include <vector>

#include "reprise/error.h"

namespace reprise {

// The files of libraries that most commands work without, which `reprise doctor` reports.
inline constexpr std::initializer_list<const char*> kCurlFiles = {"libcurl.so.4",
                                                                  "libcurl-gnutls.so.4"};
inline constexpr std::initializer_list<const char*> kCryptoFiles = {"libcrypto.so.3"};
inline constexpr std::initializer_list<const char*> kEditFiles = {"libedit.so.2", "libedit.so"};

// Never unloaded. Thread-safe.
class DynamicLibrary {
 public:
  // Loads the first of the names that exists ("libcurl.so.4"). unsupported if none does; `title` is
  // the library and its package in the message.
  static Result<DynamicLibrary> load(std::string_view title,
                                     std::initializer_list<const char*> names);

  Result<void*> symbol(const char* name) const;

 private:
  explicit DynamicLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

// The functions of a library, each one line of a struct that derives from this:
//   struct EditLibrary : LibraryFunctions {
//     LazyFunction<decltype(&::el_end)> end{*this, "el_end"};
class LibraryFunctions {
 public:
  LibraryFunctions() = default;
  ~LibraryFunctions() = default;
  LibraryFunctions(const LibraryFunctions&) = delete;
  LibraryFunctions& operator=(const LibraryFunctions&) = delete;

  // Resolves all functions; fails if one is missing.
  Result<> bind(const DynamicLibrary& library) const;

 private:
  template <class Function>
  friend class LazyFunction;
  std::vector<std::pair<const char*, void**>> functions_;
};

// Callable like the function itself.
template <class Function>
class LazyFunction {
 public:
  LazyFunction(LibraryFunctions& library, const char* name) {
    library.functions_.emplace_back(name, &address_);
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym is for.
  Function function() const { return reinterpret_cast<Function>(address_); }
  operator Function() const { return function(); }  // NOLINT(google-explicit-constructor)
  // Not copyable, so that it cannot be passed as a variadic argument: pass function() instead.
  LazyFunction(const LazyFunction&) = delete;
  LazyFunction& operator=(const LazyFunction&) = delete;
  ~LazyFunction() {}  // NOLINT(modernize-use-equals-default): a trivial one would allow that

 private:
  void* address_ = nullptr;
};

// A library with its functions. Never destroyed: a thread may still use it while the process exits.
template <class Functions>
Result<const Functions*> load_library(std::string_view title,
                                      std::initializer_list<const char*> names) {
  REPRISE_ASSIGN(const DynamicLibrary library, DynamicLibrary::load(title, names));
  auto functions = std::make_unique<Functions>();
  REPRISE_TRY(functions->bind(library));
  return functions.release();
}

}  // namespace reprise
