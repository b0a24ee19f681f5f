#include "cli/process/process_environment.h"

#include <pwd.h>
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace reprise::cli {

ProcessEnvironment ProcessEnvironment::read(const char* const* variables) {
  std::map<std::string, std::string, std::less<>> out;
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    const std::string_view pair = *variables;
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos) {
      // Of duplicates, the first one wins, as in getenv(3).
      out.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    }
  }
  if (const auto home = out.find("HOME"); home == out.end() || home->second.empty()) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs yet.
    if (const passwd* const user = ::getpwuid(::geteuid());
        user != nullptr && user->pw_dir != nullptr && user->pw_dir[0] == '/') {
      out.insert_or_assign("HOME", user->pw_dir);
    }
  }
  return ProcessEnvironment(std::move(out));
}

std::optional<std::string> ProcessEnvironment::find(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || found->second.empty()) {
    return std::nullopt;
  }
  return found->second;
}

}  // namespace reprise::cli
