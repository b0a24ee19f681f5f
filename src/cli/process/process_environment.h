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
  // From main's third argument. If HOME is not set, it comes from the user database.
  static ProcessEnvironment read(const char* const* variables);

  // nullopt if the variable is unset or empty.
  std::optional<std::string> find(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace reprise::cli
