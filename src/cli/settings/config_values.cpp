#include "cli/settings/config_values.h"

#include <cstdint>
#include <map>
#include <span>
#include <sstream>

#include "base/json_write.h"
#include "base/text.h"

namespace reprise::cli {
namespace {

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

// Reads the value of one key.
struct ValueReader {
  const ConfigValues& values;
  const Setting& key;
  const std::string& name;

  Result<Value> value(const toml::node& node) const {
    if (key.option != nullptr) {
      return option(node);
    }
    switch (key.kind) {
      case ValueKind::text:
        return text(node);
      case ValueKind::truth:
        return checked(node, node.value_exact<bool>());
      case ValueKind::whole:
        return checked(node, node.value_exact<std::int64_t>());
      case ValueKind::number:
        return checked(node, node.is_number() ? node.value<double>() : std::nullopt);
      case ValueKind::list:
        return list(node);
      case ValueKind::table_of_texts:
        return table_of_texts(node);
      case ValueKind::table:
        break;
    }
    std::string text;
    append_json(text, node);
    auto json = RawJson::parse(std::move(text));
    return node.is_table() && json ? Result<Value>(*std::move(json)) : invalid_value(node);
  }

  std::unexpected<Error> invalid_value(const toml::node& node) const {
    return values.invalid_value(node, name, expected_value(key));
  }

  Result<Value> text(const toml::node& node) const {
    auto text = node.value_exact<std::string>();
    if (!text && !key.check.tells_choices) {
      return values.invalid_value(node, name, "a string");
    }
    return text && key.check.holds(*text) ? Result<Value>(*std::move(text)) : invalid_value(node);
  }

  template <class Content>
  Result<Value> checked(const toml::node& node, const std::optional<Content>& content) const {
    const bool is_valid = content && key.check.range.holds(static_cast<double>(*content));
    return is_valid ? Result<Value>(*content) : invalid_value(node);
  }

  Result<Value> list(const toml::node& node) const {
    const toml::array* const array = node.as_array();
    if (array == nullptr) {
      return invalid_value(node);
    }
    std::vector<std::string> out;
    for (const toml::node& item : *array) {
      auto text = item.value_exact<std::string>();
      if (!text || !key.check.holds(*text)) {
        return invalid_value(item);
      }
      out.push_back(*std::move(text));
    }
    return out;
  }

  Result<Value> table_of_texts(const toml::node& node) const {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return invalid_value(node);
    }
    provider::TextTable out;
    for (const auto& [part, item] : *table) {
      auto text = item.value_exact<std::string>();
      if (!text) {
        return values.invalid_value(item, cat(name, ".", part.str()), "a string");
      }
      out.emplace(part.str(), *std::move(text));
    }
    return out;
  }

  // As from the command line.
  Result<Value> option(const toml::node& node) const {
    auto text = node.value_exact<std::string>();
    const bool takes_list = key.kind == ValueKind::list;
    const bool takes_text = takes_list || key.kind == ValueKind::text;
    if (text.has_value() != takes_text && !(takes_list && node.is_array())) {
      return invalid_value(node);
    }
    if (!text) {
      append_json(text.emplace(), node);
    }
    auto value = provider::parse_option(*key.option, *text);
    return value ? std::move(value)
                 : fail(Code::invalid_argument,
                        cat(values.at(node.source()), ": ", value.error().message));
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

Result<> ConfigValues::take(const Setting& setting, const toml::node& node, const std::string& name,
                            const SettingTarget& target) {
  REPRISE_ASSIGN(Value value, (ValueReader{*this, setting, name}.value(node)));
  setting.set(setting, target, std::move(value));
  set_origin(name);
  return {};
}

}  // namespace reprise::cli
