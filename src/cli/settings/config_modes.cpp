#include "cli/settings/config_modes.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "base/text.h"
#include "cli/settings/config_values.h"
#include "reprise/mode.h"

namespace reprise::cli {
namespace {

constexpr std::array<std::string_view, 4> kModeKeys = {"system", "model", "context", "path"};

constexpr std::pair<std::string_view, PathPolicy> kPathPolicies[] = {
    {"none", PathPolicy::none},
    {"optional", PathPolicy::optional},
    {"required", PathPolicy::required},
};

Result<> path_policy(ConfigValues& values, const toml::node& node, std::string_view name,
                     PathPolicy& out) {
  const auto value = node.value_exact<std::string>();
  const auto* const known = std::ranges::find(kPathPolicies, value.value_or(""),
                                              &std::pair<std::string_view, PathPolicy>::first);
  if (known == std::end(kPathPolicies)) {
    return values.wrong(node, name, "\"none\", \"optional\" or \"required\"");
  }
  out = known->second;
  return {};
}

}  // namespace

Result<> read_mode(ConfigValues& values, const toml::key& mode_name, const toml::table& table) {
  Mode mode;
  mode.name = std::string(mode_name.str());
  const std::string prefix = cat("mode.", mode.name, ".");
  std::optional<std::string> system;
  std::optional<std::string> model;
  for (const auto& [key, node] : table) {
    const std::string name = cat(prefix, key.str());
    if (key == "system") {
      REPRISE_TRY(values.text(node, name, system));
    } else if (key == "model") {
      REPRISE_TRY(values.text(node, name, model));
    } else if (key == "path") {
      REPRISE_TRY(path_policy(values, node, name, mode.path));
    } else if (key == "context") {
      // It reads files and runs commands, and what they say is sent to a provider.
      if (values.allowed(key, Reach::trusted, name)) {
        REPRISE_TRY(values.texts(node, name, mode.context));
      }
    } else {
      values.unknown(key, name, kModeKeys);
    }
  }
  mode.system = system.value_or("");
  mode.model = model.value_or("");
  values.came_from(cat("mode.", mode.name));
  values.settings().modes.insert_or_assign(mode.name, std::move(mode));
  return {};
}

}  // namespace reprise::cli
