#pragma once

// The environment variables, read once by main.

#include <map>
#include <optional>  // IWYU pragma: export
#include <string>    // IWYU pragma: export
#include <string_view>

namespace reprise::cli {

class ProcessEnvironment {
 public:
  ProcessEnvironment() = default;
  explicit ProcessEnvironment(std::map<std::string, std::string, std::less<>> variables)
      : variables_(std::move(variables)) {}
  // From main's third argument. A HOME that is not set is the one of the system's list of users.
  static ProcessEnvironment read(const char* const* variables);

  // An empty variable counts as not set.
  std::optional<std::string> find(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace reprise::cli
