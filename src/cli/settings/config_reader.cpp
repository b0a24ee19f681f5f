#include <filesystem>
#include <map>
#include <system_error>

#include "base/text.h"
#include "cli/settings/config_values.h"
#include "cli/settings/context_file.h"

namespace reprise::cli {
namespace {

// Merges one file into the existing settings.
class Reader {
 public:
  explicit Reader(ConfigValues values) : values_(std::move(values)) {}

  Result<> read(const toml::table& table) {
    top_.from = values_.file();
    for (const auto& [key, node] : table) {
      REPRISE_TRY(top(key, node));
    }
    bind();
    return {};
  }

 private:
  // Binds keys to the provider or store in the same file, regardless of other files.
  void bind() {
    Settings& settings = values_.settings();
    for (const auto& [name, section] : sections_) {
      merge(settings.providers[name], section);
    }
    const auto is_ours = [&](std::string_view name) {
      const auto from = settings.origin.find(name);
      return from != settings.origin.end() && from->second == values_.file();
    };
    if (is_ours("store") && settings.store) {
      std::error_code error;
      const std::filesystem::path file = std::filesystem::absolute(values_.file(), error);
      settings.store = absolute_store_url(*settings.store, file.parent_path());
    }
    if (is_ours("provider")) {
      top_.provider = settings.provider;
    }
    top_.own.key_url = top_.own.base_url.value_or("");
    settings.tops.push_back(std::move(top_));
    if (is_ours("store_key_command")) {
      settings.store_key_url = is_ours("store") ? settings.store.value_or("") : "";
    }
  }

  // A key replaces those from other files, however they are read.
  static void merge(ProviderSettings& below, const ProviderSettings& above) {
    if (above.env_key || above.key_command) {
      below.env_key.reset();
      below.key_command.reset();
      below.key_url = above.base_url.value_or("");
    }
    overlay(below, above);
  }

  Result<> take(Section section, const toml::key& key, const toml::node& node,
                const std::string& prefix, const SettingTarget& target) {
    const Setting* const known = find_config_key(section, key.str());
    const std::string name = cat(prefix, key.str());
    if (known == nullptr) {
      values_.unknown(key, name, names_in(section));
      return {};
    }
    return values_.allowed(key, known->required_trust, name)
               ? values_.take(*known, node, name, target)
               : Result<>();
  }

  static std::vector<std::string_view> names_in(Section section) {
    std::vector<std::string_view> names = config_key_names(section);
    if (section == Section::top) {
      names.insert(names.end(), {"mode", "providers"});
    }
    return names;
  }

  Result<> top(const toml::key& key, const toml::node& node) {
    if (key == "mode") {
      return tables(node, "mode", [this](const toml::key& name, const toml::table& table) {
        return mode(name, table);
      });
    }
    if (key == "providers") {
      return tables(node, "providers", [this](const toml::key& name, const toml::table& table) {
        return provider(name, table);
      });
    }
    // TOML does not allow both `provider = "x"` and [provider.x].
    if (key == "provider" && node.is_table()) {
      return values_.invalid_value(node, "provider",
                                   "a string; settings of one provider belong in [providers.NAME]");
    }
    return take(Section::top, key, node, "",
                {&values_.settings(), &top_.own, requests_of(""), nullptr});
  }

  template <class Take>
  Result<> tables(const toml::node& node, std::string_view name, Take take) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return values_.invalid_value(node, name, "a table of tables");
    }
    for (const auto& [key, value] : *table) {
      if (!value.is_table()) {
        return values_.invalid_value(value, cat(name, ".", key.str()), "a table");
      }
      REPRISE_TRY(take(key, *value.as_table()));
    }
    return {};
  }

  Result<> provider(const toml::key& name, const toml::table& table) {
    const std::string section(name.str());
    ProviderSettings& out = sections_[section];
    for (const auto& [key, node] : table) {
      REPRISE_TRY(take(Section::provider, key, node, cat("providers.", section, "."),
                       {&values_.settings(), &out, requests_of(section), nullptr}));
    }
    if (out.protocol && find_provider_kind(section) != nullptr) {
      return values_.invalid_value(*table.get("protocol"), cat("providers.", section, ".protocol"),
                                   "ignored: that is the name of a protocol");
    }
    return {};
  }

  Result<> mode(const toml::key& name, const toml::table& table) {
    if (!values_.may_set_mode(name)) {
      return {};
    }
    Mode mode;
    mode.name = std::string(name.str());
    for (const auto& [key, node] : table) {
      REPRISE_TRY(take(Section::mode, key, node, cat("mode.", mode.name, "."),
                       {&values_.settings(), nullptr, nullptr, &mode}));
    }
    values_.set_origin(cat("mode.", mode.name));
    values_.settings().modes.insert_or_assign(mode.name, std::move(mode));
    return {};
  }

  RequestSettings* requests_of(const std::string& section) {
    return &values_.settings().requests[section];
  }

  ConfigValues values_;
  TopSettings top_;
  std::map<std::string, ProviderSettings> sections_;
};

}  // namespace

Result<> read_config(const toml::table& table, ConfigValues values) {
  return Reader(std::move(values)).read(table);
}

}  // namespace reprise::cli
