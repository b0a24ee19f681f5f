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

std::string shown_json(const Setting& setting, const Value& value) {
  if (setting.is_secret) {
    return std::string(kSecret);
  }
  if (setting.name == "base_url" || (setting.name == "store" && setting.kind == ValueKind::text)) {
    return json::quoted(http::masked_url(without_password(std::get<std::string>(value))));
  }
  if (setting.option != nullptr) {
    return provider::value_json(value);
  }
  if (const auto* const json = std::get_if<RawJson>(&value)) {
    return provider::masked_extra(*json).text();
  }
  const auto* const number = std::get_if<double>(&value);
  return number != nullptr ? number_json(*number) : provider::value_json(value);
}

void add(std::vector<ShownSetting>& out, Section section, const std::string& prefix,
         const SettingSource& from) {
  for (const Setting& setting : config_keys()) {
    if (!setting.is_in(section)) {
      continue;
    }
    if (const auto value = setting.get(setting, from)) {
      out.push_back({cat(prefix, setting.name), shown_json(setting, *value)});
    }
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
  add(out, Section::top, "", {&settings, &top, requests_of(settings, ""), nullptr});
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
  for (const std::string& name : providers) {
    const auto own = settings.providers.find(name);
    add(out, Section::provider, cat("providers.", name, "."),
        {nullptr, own == settings.providers.end() ? nullptr : &own->second,
         requests_of(settings, name), nullptr});
  }
  for (const auto& [name, mode] : settings.modes) {
    add(out, Section::mode, cat("mode.", name, "."), {nullptr, nullptr, nullptr, &mode});
  }
  return out;
}

}  // namespace reprise::cli
