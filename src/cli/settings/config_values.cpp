#include "cli/settings/config_values.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <sstream>
#include <variant>

#include "base/json_write.h"
#include "base/text.h"

namespace reprise::cli {
namespace {

constexpr std::pair<std::string_view, PathPolicy> kPathPolicies[] = {
    {"none", PathPolicy::none},
    {"optional", PathPolicy::optional},
    {"required", PathPolicy::required},
};

// Appends the value as JSON on one line.
void append_json(std::string& out, const toml::node& node) {
  if (const toml::table* const table = node.as_table(); table != nullptr) {
    json::ObjectWriter object(out);
    for (const auto& [key, value] : *table) {
      object.key(key.str());
      append_json(out, value);
    }
    object.close();
  } else if (const toml::array* const array = node.as_array(); array != nullptr) {
    json::ArrayWriter items(out);
    for (const toml::node& item : *array) {
      items.item();
      append_json(out, item);
    }
    items.close();
  } else if (const auto text = node.value_exact<std::string>()) {
    json::append_string(out, *text);
  } else {
    std::ostringstream formatted;  // same as JSON for numbers and booleans; invalid for dates
    formatted << toml::default_formatter(node);
    out += std::move(formatted).str();
  }
}

// Stores a value in the slot of its key.
struct StoreValue {
  ConfigValues& values;
  const ConfigKey& key;
  const toml::node& node;
  const std::string& name;
  const ConfigValues::Targets& targets;

  Result<> operator()(std::optional<std::string> Settings::* slot) const {
    return text(values.settings().*slot);
  }
  Result<> operator()(std::optional<std::string> ProviderSettings::* slot) const {
    return text(targets.provider->*slot);
  }
  Result<> operator()(std::optional<std::string> RequestSettings::* slot) const {
    return text(requests().*slot);
  }
  Result<> operator()(std::optional<bool> Settings::* slot) const {
    return boolean(values.settings().*slot);
  }
  Result<> operator()(std::optional<bool> ProviderSettings::* slot) const {
    return boolean(targets.provider->*slot);
  }
  Result<> operator()(std::optional<std::int64_t> Settings::* slot) const {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || !key.range.holds(static_cast<double>(*value))) {
      return invalid_value();
    }
    values.settings().*slot = value;
    return {};
  }
  Result<> operator()(std::optional<double> Settings::* slot) const {
    const auto value = node.value<double>();
    if (!node.is_number() || !value || !key.range.holds(*value)) {
      return invalid_value();
    }
    values.settings().*slot = value;
    return {};
  }
  Result<> operator()(std::vector<std::string> Settings::* slot) const {
    return texts(values.settings().*slot);
  }
  Result<> operator()(std::vector<std::string> Mode::* slot) const {
    return texts(targets.mode->*slot);
  }
  Result<> operator()(std::string Mode::* slot) const {
    std::optional<std::string> value;
    REPRISE_TRY(text(value));
    targets.mode->*slot = value.value_or("");
    return {};
  }
  Result<> operator()(PathPolicy Mode::* slot) const {
    const auto value = node.value_exact<std::string>();
    const auto* const known = std::ranges::find(kPathPolicies, value.value_or(""),
                                                &std::pair<std::string_view, PathPolicy>::first);
    if (known == std::end(kPathPolicies)) {
      return invalid_value();
    }
    targets.mode->*slot = known->second;
    return {};
  }
  Result<> operator()(
      std::map<std::string, std::string, std::less<>> RequestSettings::* slot) const {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return invalid_value();
    }
    for (const auto& [header, value] : *table) {
      const auto text = value.value_exact<std::string>();
      if (!text) {
        return values.invalid_value(value, cat(name, ".", header.str()), "a string");
      }
      (requests().*slot).insert_or_assign(std::string(header.str()), *text);
    }
    return {};
  }
  Result<> operator()(RawJson RequestSettings::* slot) const {
    std::string text;
    append_json(text, node);
    auto json = RawJson::parse(std::move(text));
    if (!node.is_table() || !json) {
      return invalid_value();
    }
    requests().*slot = *std::move(json);
    return {};
  }
  Result<> operator()(const provider::RequestOption* option) const {
    const auto text = node.value_exact<std::string>();
    const bool takes_list =
        std::holds_alternative<std::vector<std::string> RequestOptions::*>(option->slot);
    const bool takes_text =
        takes_list || std::holds_alternative<std::string RequestOptions::*>(option->slot);
    if (text.has_value() != takes_text && !(takes_list && node.is_array())) {
      return invalid_value();
    }
    std::string value = text.value_or("");
    if (!text) {
      append_json(value, node);
    }
    if (const auto taken = provider::set_option(requests().options, option->name, value); !taken) {
      return fail(Code::invalid_argument,
                  cat(values.at(node.source()), ": ", taken.error().message));
    }
    return {};
  }

  RequestSettings& requests() const { return values.settings().requests[targets.section]; }

  std::unexpected<Error> invalid_value() const {
    return values.invalid_value(node, name, expected_value(key));
  }

  bool accepts(const std::string& text) const {
    return (key.accepts == nullptr || key.accepts(text)) &&
           (key.choices.empty() || std::ranges::find(key.choices, text) != key.choices.end());
  }

  Result<> text(std::optional<std::string>& out) const {
    const auto value = node.value_exact<std::string>();
    if (!value) {
      return values.invalid_value(node, name, "a string");
    }
    if (!accepts(*value)) {
      return invalid_value();
    }
    out = *value;
    return {};
  }

  Result<> boolean(std::optional<bool>& out) const {
    const auto value = node.value_exact<bool>();
    if (!value) {
      return invalid_value();
    }
    out = value;
    return {};
  }

  Result<> texts(std::vector<std::string>& out) const {
    const toml::array* const array = node.as_array();
    if (array == nullptr) {
      return invalid_value();
    }
    out.clear();
    for (const toml::node& item : *array) {
      const auto value = item.value_exact<std::string>();
      if (!value || !accepts(*value)) {
        return values.invalid_value(item, name, expected_value(key));
      }
      out.push_back(*value);
    }
    return {};
  }
};

}  // namespace

std::string ConfigValues::at(const toml::source_region& position) const {
  return cat(file_.string(), ", line ", position.begin.line, ", column ", position.begin.column);
}

std::unexpected<Error> ConfigValues::invalid_value(const toml::node& node, std::string_view name,
                                                   std::string_view expected) const {
  return fail(Code::invalid_argument, cat(at(node.source()), ": ", name, " must be ", expected));
}

bool ConfigValues::allowed(const toml::key& key, RequiredTrust required_trust,
                           std::string_view name) {
  if (required_trust == RequiredTrust::none || rank_ == FileRank::user ||
      (required_trust == RequiredTrust::project && rank_ == FileRank::trusted_project)) {
    return true;
  }
  out_.warnings.push_back(
      cat(at(key.source()), ": ", name, " is ignored here; ",
          required_trust == RequiredTrust::user
              ? "it belongs in your own settings"
              : "run `reprise config trust` to accept this project's settings"));
  return false;
}

bool ConfigValues::may_set_mode(const toml::key& key) {
  if (rank_ != FileRank::project || !out_.settings.modes.contains(key.str())) {
    return true;
  }
  out_.warnings.push_back(cat(at(key.source()), ": mode.", key.str(),
                              " is ignored here, as your own settings have a mode of that name; "
                              "run `reprise config trust` to accept this project's settings"));
  return false;
}

void ConfigValues::unknown(const toml::key& key, std::string_view name,
                           std::span<const std::string_view> known) {
  const std::string_view suggestion = nearest(key.str(), known);
  out_.warnings.push_back(cat(at(key.source()), ": unknown key '", name, "'",
                              suggestion.empty() ? "" : cat("; did you mean '", suggestion, "'?")));
}

void ConfigValues::set_origin(std::string_view name) {
  out_.settings.origin.insert_or_assign(std::string(name), file_.string());
}

Result<> ConfigValues::take(const ConfigKey& key, const toml::node& node, const std::string& name,
                            const Targets& targets) {
  REPRISE_TRY(std::visit(StoreValue{*this, key, node, name, targets}, key.slot));
  set_origin(name);
  return {};
}

}  // namespace reprise::cli
