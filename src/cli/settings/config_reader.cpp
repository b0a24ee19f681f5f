#include "cli/settings/config_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/text.h"
#include "cli/settings/config_modes.h"
#include "cli/settings/config_requests.h"
#include "cli/settings/config_values.h"
#include "cli/settings/settings.h"
#include "provider/request_options.h"
#include "reprise/error.h"

namespace reprise::cli {
namespace {

using TextSlot = std::optional<std::string>& (*)(Settings&);

struct TextKey {
  std::string_view name;
  Reach reach;
  TextSlot slot;
};

constexpr TextKey kTextKeys[] = {
    {"store", Reach::trusted, [](Settings& s) -> auto& { return s.store; }},
    {"store_key_command", Reach::trusted, [](Settings& s) -> auto& { return s.store_key_command; }},
    {"provider", Reach::anyone, [](Settings& s) -> auto& { return s.provider; }},
    {"system", Reach::anyone, [](Settings& s) -> auto& { return s.system; }},
    {"retention", Reach::trusted, [](Settings& s) -> auto& { return s.retention; }},
};

struct ProviderKey {
  std::string_view name;
  Reach reach;
  std::optional<std::string> ProviderSettings::* slot;
};

// Stand at the top of a file and in [providers.NAME].
constexpr ProviderKey kProviderKeys[] = {
    {"model", Reach::anyone, &ProviderSettings::model},
    {"dev_model", Reach::anyone, &ProviderSettings::dev_model},
    {"base_url", Reach::trusted, &ProviderSettings::base_url},
    {"env_key", Reach::trusted, &ProviderSettings::env_key},
    {"key_command", Reach::trusted, &ProviderSettings::key_command},
};

constexpr std::array<std::string_view, 19> kTopKeys = {"store",       "store_key_command",
                                                       "provider",    "system",
                                                       "retention",   "model",
                                                       "dev_model",   "base_url",
                                                       "env_key",     "key_command",
                                                       "temperature", "max_tokens",
                                                       "budget",      "trust",
                                                       "mode",        "providers",
                                                       "spill",       "max_answer_bytes",
                                                       "insecure"};
constexpr std::array<std::string_view, 6> kProviderKeyNames = {"model",   "dev_model",   "base_url",
                                                               "env_key", "key_command", "store"};

std::vector<std::string_view> with_options(std::span<const std::string_view> names) {
  std::vector<std::string_view> out(names.begin(), names.end());
  for (const provider::RequestOption& option : provider::request_options()) {
    out.push_back(option.name);
  }
  return out;
}

std::vector<std::string_view> top_keys() {
  return with_options(kTopKeys);
}

std::vector<std::string_view> provider_keys() {
  std::vector<std::string_view> out = with_options(kProviderKeyNames);
  out.insert(out.end(), {"auth", "headers", "extra"});
  return out;
}

// Reads one file into the settings that are there already.
class Reader {
 public:
  explicit Reader(ConfigValues values) : values_(std::move(values)), requests_(values_) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  Reader(Reader&&) = delete;
  Reader& operator=(Reader&&) = delete;
  ~Reader() = default;

  Result<> read(const toml::table& table) {
    top_.from = values_.file();
    for (const auto& [key, node] : table) {
      REPRISE_TRY(top(key, node));
    }
    bind();
    return {};
  }

 private:
  // What stands beside each other in this file belongs together, whatever another file says.
  void bind() {
    Settings& settings = values_.settings();
    for (auto& [name, section] : sections_) {
      lay_over(settings.providers[name], std::move(section));
    }
    top_.own.key_url = top_.own.base_url.value_or("");
    settings.tops.push_back(std::move(top_));
    if (settings.origin.contains("store_key_command") &&
        settings.origin["store_key_command"] == values_.file()) {
      settings.store_key_url = store_;
    }
  }

  static void lay_over(ProviderSettings& below, ProviderSettings&& above) {
    const auto lay = [](auto& slot, auto& value) {
      if (value) {
        slot = std::move(value);
      }
    };
    if (above.env_key || above.key_command) {
      below.env_key = std::move(above.env_key);
      below.key_command = std::move(above.key_command);
      below.key_url = above.base_url.value_or("");
    }
    lay(below.model, above.model);
    lay(below.dev_model, above.dev_model);
    lay(below.base_url, above.base_url);
    lay(below.store, above.store);
  }

  Result<> temperature(const toml::node& node) {
    const auto value = node.value<double>();
    if (!node.is_number() || !value || *value < 0) {
      return values_.wrong(node, "temperature", "a number from 0 on");
    }
    values_.settings().temperature = value;
    values_.came_from("temperature");
    return {};
  }

  // Returns whether the key was one of a provider.
  Result<bool> provider_key(const toml::key& key, const toml::node& node, const std::string& prefix,
                            ProviderSettings& out) {
    const auto* const known = std::ranges::find(kProviderKeys, key.str(), &ProviderKey::name);
    if (known == std::end(kProviderKeys)) {
      return false;
    }
    const std::string name = cat(prefix, known->name);
    if (values_.allowed(key, known->reach, name)) {
      REPRISE_TRY(values_.text(node, name, out.*known->slot));
    }
    return true;
  }

  Result<> text_key(const toml::node& node, const TextKey& known) {
    std::optional<std::string>& slot = known.slot(values_.settings());
    REPRISE_TRY(values_.text(node, known.name, slot));
    if (known.name == "provider") {
      top_.provider = slot;
    } else if (known.name == "store") {
      store_ = slot.value_or("");
    }
    return {};
  }

  Result<> top(const toml::key& key, const toml::node& node) {
    if (key == "mode") {
      return tables(node, "mode", [this](const toml::key& name, const toml::table& table) {
        return read_mode(values_, name, table);
      });
    }
    // TOML has no room for both `provider = "x"` and [provider.x].
    if (key == "provider" && node.is_table()) {
      return values_.wrong(node, "provider",
                           "a string; settings of one provider stand in [providers.NAME]");
    }
    if (key == "providers") {
      return tables(node, "providers", [this](const toml::key& name, const toml::table& table) {
        return provider(name, table);
      });
    }
    if (const auto* const known = std::ranges::find(kTextKeys, key.str(), &TextKey::name);
        known != std::end(kTextKeys)) {
      return values_.allowed(key, known->reach, known->name) ? text_key(node, *known) : Result<>();
    }
    REPRISE_ASSIGN(const bool taken, provider_key(key, node, "", top_.own));
    if (taken) {
      return {};
    }
    if (key == "temperature") {
      return temperature(node);
    }
    if (key == "max_tokens") {
      return values_.integer(node, "max_tokens", values_.settings().max_tokens);
    }
    if (key == "budget") {
      return values_.integer(node, "budget", values_.settings().budget);
    }
    if (key == "max_answer_bytes") {
      return values_.allowed(key, Reach::trusted, "max_answer_bytes")
                 ? values_.integer(node, "max_answer_bytes", values_.settings().max_answer_bytes)
                 : Result<>();
    }
    if (key == "spill") {
      return values_.allowed(key, Reach::trusted, "spill")
                 ? values_.truth(node, "spill", values_.settings().spill)
                 : Result<>();
    }
    if (key == "insecure") {
      return values_.allowed(key, Reach::trusted, "insecure")
                 ? values_.truth(node, "insecure", values_.settings().insecure)
                 : Result<>();
    }
    if (key == "trust") {
      return values_.allowed(key, Reach::trusted, "trust")
                 ? values_.texts(node, "trust", values_.settings().trust)
                 : Result<>();
    }
    REPRISE_ASSIGN(const bool asked, requests_.take(key, node, "", ""));
    if (!asked) {
      values_.unknown(key, key.str(), top_keys());
    }
    return {};
  }

  template <class Take>
  Result<> tables(const toml::node& node, std::string_view name, Take take) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return values_.wrong(node, name, "a table of tables");
    }
    for (const auto& [key, value] : *table) {
      if (!value.is_table()) {
        return values_.wrong(value, cat(name, ".", key.str()), "a table");
      }
      REPRISE_TRY(take(key, *value.as_table()));
    }
    return {};
  }

  Result<> provider(const toml::key& name, const toml::table& table) {
    ProviderSettings& out = sections_[std::string(name.str())];
    const std::string prefix = cat("providers.", name.str(), ".");
    for (const auto& [key, node] : table) {
      if (key == "store") {
        // The answers are left at the provider: that is not for a project to decide.
        if (values_.allowed(key, Reach::trusted, cat(prefix, "store"))) {
          REPRISE_TRY(values_.truth(node, cat(prefix, "store"), out.store));
        }
        continue;
      }
      REPRISE_ASSIGN(const bool taken, provider_key(key, node, prefix, out));
      if (!taken) {
        REPRISE_ASSIGN(const bool asked,
                       requests_.take(key, node, std::string(name.str()), prefix));
        if (!asked) {
          values_.unknown(key, cat(prefix, key.str()), provider_keys());
        }
      }
    }
    return {};
  }

  ConfigValues values_;
  ConfigRequests requests_;
  TopSettings top_;
  std::map<std::string, ProviderSettings> sections_;
  std::string store_;
};

}  // namespace

Result<> read_config(const toml::table& table, ConfigValues values) {
  return Reader(std::move(values)).read(table);
}

ProviderSettings Settings::any() const {
  ProviderSettings out;
  for (const TopSettings& top : tops) {
    for (const ProviderKey& key : kProviderKeys) {
      if (top.own.*key.slot) {
        out.*key.slot = top.own.*key.slot;
      }
    }
  }
  return out;
}

}  // namespace reprise::cli
