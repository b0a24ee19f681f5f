#pragma once

// Failures are values. Every fallible function of Reprise returns `Result<T>`: the value, or an
// `Error` whose `code` tells what a caller can do about it and whose `message` is one line for a
// person: lower case, no full stop, what failed, on what, and what to try if known.

#include <cstdint>      // IWYU pragma: export
#include <expected>     // IWYU pragma: export
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <utility>      // IWYU pragma: export

namespace reprise {

// What a caller can branch on. Adding a code changes the API.
enum class Code : std::uint8_t {
  not_found,         // the named thing does not exist
  ambiguous,         // a name or prefix matches several things
  invalid_argument,  // the input is not acceptable as it is; retrying will not help
  conflict,          // it was changed concurrently, or it exists already
  busy,              // another process or thread holds it; the bounded wait is over
  corrupt,           // the stored bytes are damaged
  unsupported,       // this store, provider or version does not support it
  unauthorized,      // the provider refused the key
  rate_limited,      // the provider asks to wait
  too_long,          // the request exceeds the model's limit: send less
  expired,           // the provider has dropped the response to continue from
  timeout,           // a deadline has passed
  cancelled,         // the caller asked to stop
  io,                // the operating system or the network failed; see os_errno
};

// The spelling used in JSON ("not_found", …). Never empty.
std::string_view to_string(Code code);

struct Error {
  Code code = Code::io;
  std::string message;
  int os_errno = 0;  // 0 when the operating system was not involved

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T = void>
struct [[nodiscard]] Result : std::expected<T, Error> {
  using Base = std::expected<T, Error>;
  using Base::Base;
  // NOLINTNEXTLINE(google-explicit-constructor): results of std::expected's own functions fit back.
  Result(Base base) : Base(std::move(base)) {}
};

// `return fail(Code::not_found, "…");` from any function that returns a Result.
inline std::unexpected<Error> fail(Code code, std::string message, int os_errno = 0) {
  return std::unexpected(Error{code, std::move(message), os_errno});
}

// The same error with "context: " before its message. Added once at each layer boundary.
inline std::unexpected<Error> fail_with_context(std::string_view context, Error error) {
  error.message.insert(0, ": ").insert(0, context);
  return std::unexpected(std::move(error));
}

}  // namespace reprise

#define REPRISE_CAT_(a, b) a##b
#define REPRISE_CAT(a, b) REPRISE_CAT_(a, b)

// Returns the error of a Result<>, if any.
#define REPRISE_TRY(expression)                                   \
  do {                                                            \
    if (auto reprise_result_ = (expression); !reprise_result_) {  \
      return std::unexpected(std::move(reprise_result_).error()); \
    }                                                             \
  } while (false)

// Returns the error of a Result<T>, or binds its value: REPRISE_ASSIGN(auto x, f());
// NOLINTBEGIN(bugprone-macro-parentheses): names and declarations cannot stand in parentheses.
#define REPRISE_ASSIGN(declaration, expression) \
  REPRISE_ASSIGN_(REPRISE_CAT(reprise_result_, __COUNTER__), declaration, expression)
#define REPRISE_ASSIGN_(result, declaration, expression) \
  auto result = (expression);                            \
  if (!result) {                                         \
    return std::unexpected(std::move(result).error());   \
  }                                                      \
  declaration = *std::move(result)
// NOLINTEND(bugprone-macro-parentheses)
