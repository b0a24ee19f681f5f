#include "cli/settings/config_values.h"

#include <optional>
#include <span>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise::cli {

std::string ConfigValues::at(const toml::source_region& place) const {
  return cat(file_.string(), " line ", place.begin.line, ", column ", place.begin.column);
}

std::unexpected<Error> ConfigValues::wrong(const toml::node& node, std::string_view name,
                                           std::string_view wanted) const {
  return fail(Code::invalid_argument, cat(at(node.source()), ": ", name, " must be ", wanted));
}

bool ConfigValues::allowed(const toml::key& key, Reach reach, std::string_view name) {
  if (reach == Reach::anyone || trusted_) {
    return true;
  }
  out_.warnings.push_back(cat(at(key.source()), ": ", name,
                              " of a project is ignored; list its folder under trust in your "
                              "own config to allow it"));
  return false;
}

void ConfigValues::unknown(const toml::key& key, std::string_view name,
                           std::span<const std::string_view> known) {
  const std::string_view meant = nearest(key.str(), known);
  out_.warnings.push_back(cat(at(key.source()), ": unknown key ", name,
                              meant.empty() ? "" : "; did you mean ", meant,
                              meant.empty() ? "" : "?"));
}

void ConfigValues::came_from(std::string_view name) {
  out_.settings.origin.insert_or_assign(std::string(name), file_.string());
}

Result<> ConfigValues::text(const toml::node& node, std::string_view name,
                            std::optional<std::string>& out) {
  const auto value = node.value_exact<std::string>();
  if (!value) {
    return wrong(node, name, "a string");
  }
  out = *value;
  came_from(name);
  return {};
}

Result<> ConfigValues::integer(const toml::node& node, std::string_view name,
                               std::optional<std::int64_t>& out) {
  const auto value = node.value_exact<std::int64_t>();
  if (!value || *value <= 0) {
    return wrong(node, name, "an integer above 0");
  }
  out = value;
  came_from(name);
  return {};
}

Result<> ConfigValues::truth(const toml::node& node, std::string_view name,
                             std::optional<bool>& out) {
  const auto value = node.value_exact<bool>();
  if (!value) {
    return wrong(node, name, "true or false");
  }
  out = value;
  came_from(name);
  return {};
}

Result<> ConfigValues::texts(const toml::node& node, std::string_view name,
                             std::vector<std::string>& out) {
  const toml::array* const array = node.as_array();
  if (array == nullptr) {
    return wrong(node, name, "a list of strings");
  }
  out.clear();
  for (const toml::node& item : *array) {
    const auto value = item.value_exact<std::string>();
    if (!value) {
      return wrong(item, name, "a list of strings");
    }
    out.push_back(*value);
  }
  return {};
}

}  // namespace reprise::cli
