#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/http.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/settings/config.h"
#include "cli/settings/config_keys.h"
#include "provider/secret_mask.h"
#include "reprise/open_store.h"

namespace reprise::cli {
namespace {

std::string number_text(double number) {
  std::string text = std::to_string(number);
  text.resize(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text + "0" : text;
}

std::string list_text(const std::vector<std::string>& texts) {
  return texts.empty() ? "" : json::array_of(texts);
}

std::string path_text(PathPolicy policy) {
  return policy == PathPolicy::required   ? "required"
         : policy == PathPolicy::optional ? "optional"
                                          : "";
}

// The settings to read from.
struct ValueSources {
  const Settings& settings;
  const ProviderSettings& provider;
  const RequestSettings* requests = nullptr;
  const Mode* mode = nullptr;
};

// The text of a value; nullopt if it is not set.
struct ValueText {
  using Text = std::optional<std::string>;

  const ValueSources& from;

  Text operator()(std::optional<std::string> Settings::* slot) const { return from.settings.*slot; }
  Text operator()(std::optional<bool> Settings::* slot) const {
    return boolean(from.settings.*slot);
  }
  Text operator()(std::optional<std::int64_t> Settings::* slot) const {
    const auto& number = from.settings.*slot;
    return number ? Text(cat(*number)) : std::nullopt;
  }
  Text operator()(std::optional<double> Settings::* slot) const {
    const auto& number = from.settings.*slot;
    return number ? Text(number_text(*number)) : std::nullopt;
  }
  Text operator()(std::vector<std::string> Settings::* slot) const {
    return filled(list_text(from.settings.*slot));
  }
  Text operator()(std::optional<std::string> ProviderSettings::* slot) const {
    return from.provider.*slot;
  }
  Text operator()(std::optional<bool> ProviderSettings::* slot) const {
    return boolean(from.provider.*slot);
  }
  Text operator()(std::optional<std::string> RequestSettings::* slot) const {
    return from.requests == nullptr ? std::nullopt : from.requests->*slot;
  }
  Text operator()(std::map<std::string, std::string, std::less<>> RequestSettings::* slot) const {
    return from.requests == nullptr || (from.requests->*slot).empty() ? std::nullopt
                                                                      : Text("(set)");
  }
  Text operator()(RawJson RequestSettings::* slot) const {
    return from.requests == nullptr || (from.requests->*slot).is_null()
               ? std::nullopt
               : Text(provider::masked_extra(from.requests->*slot).text());
  }
  Text operator()(const provider::RequestOption* option) const {
    return from.requests == nullptr
               ? std::nullopt
               : filled(provider::option_value(*option, from.requests->options));
  }
  Text operator()(std::string Mode::* slot) const { return filled(from.mode->*slot); }
  Text operator()(std::vector<std::string> Mode::* slot) const {
    return filled(list_text(from.mode->*slot));
  }
  Text operator()(PathPolicy Mode::* slot) const { return filled(path_text(from.mode->*slot)); }

  static Text filled(std::string text) {
    return text.empty() ? std::nullopt : Text(std::move(text));
  }
  static Text boolean(const std::optional<bool>& value) {
    return value ? Text(*value ? "true" : "false") : std::nullopt;
  }
};

void add(std::vector<ShownSetting>& out, Section section, const std::string& prefix,
         const ValueSources& from) {
  for (const ConfigKey& key : config_keys()) {
    if (!key.is_in(section)) {
      continue;
    }
    ValueText::Text value = std::visit(ValueText{from}, key.slot);
    if (!value) {
      continue;
    }
    if (key.is_secret) {
      value = "(set)";
    } else if (key.name == "base_url" || (key.name == "store" && section == Section::top)) {
      value = http::masked_url(without_password(*value));
    }
    out.push_back({cat(prefix, key.name), *std::move(value)});
  }
}

const RequestSettings* requests_of(const Settings& settings, std::string_view provider) {
  const auto found = settings.requests.find(provider);
  return found == settings.requests.end() ? nullptr : &found->second;
}

}  // namespace

std::vector<ShownSetting> shown_settings(const Settings& settings) {
  std::vector<ShownSetting> out;
  const ProviderSettings top = settings.any();
  add(out, Section::top, "", {settings, top, requests_of(settings, "")});
  // Set by a context file.
  if (settings.stream) {
    out.push_back({"stream_default", *settings.stream ? "true" : "false"});
  }
  if (settings.save_path) {
    out.push_back({"save_path_default", *settings.save_path});
  }
  std::set<std::string, std::less<>> providers;
  for (const auto& [name, section] : settings.providers) {
    providers.insert(name);
  }
  for (const auto& [name, section] : settings.requests) {
    providers.insert(name);
  }
  providers.erase("");
  const ProviderSettings none;
  for (const std::string& name : providers) {
    const auto own = settings.providers.find(name);
    add(out, Section::provider, cat("providers.", name, "."),
        {settings, own == settings.providers.end() ? none : own->second,
         requests_of(settings, name)});
  }
  for (const auto& [name, mode] : settings.modes) {
    add(out, Section::mode, cat("mode.", name, "."), {settings, none, nullptr, &mode});
  }
  return out;
}

}  // namespace reprise::cli
