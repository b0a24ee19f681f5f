#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/settings/config.h"
#include "cli/settings/config_keys.h"
#include "provider/secret_mask.h"
#include "reprise/open_store.h"

namespace reprise::cli {
namespace {

constexpr std::string_view kSecret = "\"(set)\"";

std::string number_json(double number) {
  std::string text = std::to_string(number);
  text.resize(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text + "0" : text;
}

std::string list_json(const std::vector<std::string>& texts) {
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

// A value as JSON; nullopt if it is not set.
struct ValueJson {
  using Json = std::optional<std::string>;

  const ValueSources& from;

  Json operator()(std::optional<std::string> Settings::* slot) const {
    return quoted(from.settings.*slot);
  }
  Json operator()(std::optional<bool> Settings::* slot) const {
    return boolean(from.settings.*slot);
  }
  Json operator()(std::optional<std::int64_t> Settings::* slot) const {
    const auto& number = from.settings.*slot;
    return number ? Json(cat(*number)) : std::nullopt;
  }
  Json operator()(std::optional<double> Settings::* slot) const {
    const auto& number = from.settings.*slot;
    return number ? Json(number_json(*number)) : std::nullopt;
  }
  Json operator()(std::vector<std::string> Settings::* slot) const {
    return filled(list_json(from.settings.*slot));
  }
  Json operator()(std::optional<std::string> ProviderSettings::* slot) const {
    return quoted(from.provider.*slot);
  }
  Json operator()(std::optional<bool> ProviderSettings::* slot) const {
    return boolean(from.provider.*slot);
  }
  Json operator()(std::optional<std::string> RequestSettings::* slot) const {
    return from.requests == nullptr ? std::nullopt : quoted(from.requests->*slot);
  }
  Json operator()(std::map<std::string, std::string, std::less<>> RequestSettings::* slot) const {
    return from.requests == nullptr || (from.requests->*slot).empty() ? std::nullopt
                                                                      : Json(kSecret);
  }
  Json operator()(RawJson RequestSettings::* slot) const {
    return from.requests == nullptr || (from.requests->*slot).is_null()
               ? std::nullopt
               : Json(provider::masked_extra(from.requests->*slot).text());
  }
  Json operator()(const provider::RequestOption* option) const {
    return from.requests == nullptr
               ? std::nullopt
               : filled(provider::option_value(*option, from.requests->options));
  }
  Json operator()(std::string Mode::* slot) const { return quoted_filled(from.mode->*slot); }
  Json operator()(std::vector<std::string> Mode::* slot) const {
    return filled(list_json(from.mode->*slot));
  }
  Json operator()(PathPolicy Mode::* slot) const {
    return quoted_filled(path_text(from.mode->*slot));
  }

  static Json quoted(const std::optional<std::string>& text) {
    return text ? Json(json::quoted(*text)) : std::nullopt;
  }
  static Json quoted_filled(const std::string& text) {
    return text.empty() ? std::nullopt : Json(json::quoted(text));
  }
  static Json filled(std::string json) {
    return json.empty() ? std::nullopt : Json(std::move(json));
  }
  static Json boolean(const std::optional<bool>& value) {
    return value ? Json(*value ? "true" : "false") : std::nullopt;
  }
};

void add(std::vector<ShownSetting>& out, Section section, const std::string& prefix,
         const ValueSources& from) {
  for (const ConfigKey& key : config_keys()) {
    if (!key.is_in(section)) {
      continue;
    }
    ValueJson::Json value = std::visit(ValueJson{from}, key.slot);
    if (!value) {
      continue;
    }
    if (key.is_secret) {
      value = kSecret;
    } else if (key.name == "base_url" || (key.name == "store" && section == Section::top)) {
      value = json::quoted(http::masked_url(without_password(json::text_in(*value).value_or(""))));
    }
    out.push_back({cat(prefix, key.name), *std::move(value)});
  }
}

const RequestSettings* requests_of(const Settings& settings, std::string_view provider) {
  const auto found = settings.requests.find(provider);
  return found == settings.requests.end() ? nullptr : &found->second;
}

}  // namespace

std::string ShownSetting::text() const {
  return json::text_in(json).value_or(json);
}

std::vector<ShownSetting> shown_settings(const Settings& settings) {
  std::vector<ShownSetting> out;
  const ProviderSettings top = settings.any();
  add(out, Section::top, "", {settings, top, requests_of(settings, "")});
  // Set by a context file.
  if (settings.stream) {
    out.push_back({"stream_default", *settings.stream ? "true" : "false"});
  }
  if (settings.save_path) {
    out.push_back({"save_path_default", json::quoted(*settings.save_path)});
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
