// The only file that includes toml++, compiled without its exceptions.

#include "cli/config.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/json_write.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/process_environment.h"
#include "cli/settings.h"
#include "provider/request_options.h"
#include "reprise/error.h"
#include "reprise/json.h"
#include "reprise/mode.h"
#include "reprise/provider.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProjectFile = ".reprise.toml";
constexpr std::int64_t kConfigBytesMax = 1 << 20;

// Whether a project's file that is not trusted may set it.
enum class Reach : std::uint8_t { anyone, trusted };

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
constexpr std::array<std::string_view, 4> kModeKeys = {"system", "model", "context", "path"};
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

constexpr std::pair<std::string_view, PathPolicy> kPathPolicies[] = {
    {"none", PathPolicy::none},
    {"optional", PathPolicy::optional},
    {"required", PathPolicy::required},
};

// Reads one file into the settings that are there already.
class Reader {
 public:
  Reader(fs::path file, bool trusted, LoadedSettings& out)
      : file_(std::move(file)), trusted_(trusted), out_(out) {}

  Result<> read(const toml::table& table) {
    top_.from = file_.string();
    for (const auto& [key, node] : table) {
      REPRISE_TRY(top(key, node));
    }
    bind();
    return {};
  }

 private:
  // What stands beside each other in this file belongs together, whatever another file says.
  void bind() {
    Settings& settings = out_.settings;
    for (auto& [name, section] : sections_) {
      lay_over(settings.providers[name], std::move(section));
    }
    top_.own.key_url = top_.own.base_url.value_or("");
    settings.tops.push_back(std::move(top_));
    if (settings.origin.contains("store_key_command") &&
        settings.origin["store_key_command"] == file_.string()) {
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

  std::string at(const toml::source_region& place) const {
    return cat(file_.string(), " line ", place.begin.line, ", column ", place.begin.column);
  }

  std::unexpected<Error> wrong(const toml::node& node, std::string_view name,
                               std::string_view wanted) const {
    return fail(Code::invalid_argument, cat(at(node.source()), ": ", name, " must be ", wanted));
  }

  bool allowed(const toml::key& key, Reach reach, std::string_view name) {
    if (reach == Reach::anyone || trusted_) {
      return true;
    }
    out_.warnings.push_back(cat(at(key.source()), ": ", name,
                                " of a project is ignored; list its folder under trust in your "
                                "own config to allow it"));
    return false;
  }

  void unknown(const toml::key& key, std::string_view name,
               std::span<const std::string_view> known) {
    const std::string_view meant = nearest(key.str(), known);
    out_.warnings.push_back(cat(at(key.source()), ": unknown key ", name,
                                meant.empty() ? "" : "; did you mean ", meant,
                                meant.empty() ? "" : "?"));
  }

  void came_from(std::string_view name) {
    out_.settings.origin.insert_or_assign(std::string(name), file_.string());
  }

  Result<> text(const toml::node& node, std::string_view name, std::optional<std::string>& out) {
    const auto value = node.value_exact<std::string>();
    if (!value) {
      return wrong(node, name, "a string");
    }
    out = *value;
    came_from(name);
    return {};
  }

  Result<> integer(const toml::node& node, std::string_view name,
                   std::optional<std::int64_t>& out) {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value <= 0) {
      return wrong(node, name, "an integer above 0");
    }
    out = value;
    came_from(name);
    return {};
  }

  Result<> temperature(const toml::node& node) {
    const auto value = node.value<double>();
    if (!node.is_number() || !value || *value < 0) {
      return wrong(node, "temperature", "a number from 0 on");
    }
    out_.settings.temperature = value;
    came_from("temperature");
    return {};
  }

  Result<> truth(const toml::node& node, std::string_view name, std::optional<bool>& out) {
    const auto value = node.value_exact<bool>();
    if (!value) {
      return wrong(node, name, "true or false");
    }
    out = value;
    came_from(name);
    return {};
  }

  Result<> texts(const toml::node& node, std::string_view name, std::vector<std::string>& out) {
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

  // Returns whether the key was one of a provider.
  Result<bool> provider_key(const toml::key& key, const toml::node& node, const std::string& prefix,
                            ProviderSettings& out) {
    const auto* const known = std::ranges::find(kProviderKeys, key.str(), &ProviderKey::name);
    if (known == std::end(kProviderKeys)) {
      return false;
    }
    const std::string name = cat(prefix, known->name);
    if (allowed(key, known->reach, name)) {
      REPRISE_TRY(text(node, name, out.*known->slot));
    }
    return true;
  }

  // As JSON, on one line.
  static void append_json(std::string& out, const toml::node& node) {
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
      std::ostringstream spelled;  // numbers and truths read the same; dates become no JSON
      spelled << toml::default_formatter(node);
      out += std::move(spelled).str();
    }
  }

  Result<> option(const toml::node& node, const std::string& name, std::string_view option,
                  RequestOptions& out) {
    const auto text = node.value_exact<std::string>();
    const auto* const known = provider::find_request_option(option);
    const bool takes_text =
        std::holds_alternative<std::string RequestOptions::*>(known->slot) ||
        std::holds_alternative<std::vector<std::string> RequestOptions::*>(known->slot);
    std::string value = text.value_or("");
    if (!text) {
      append_json(value, node);
    }
    const auto taken =
        text.has_value() && !takes_text
            ? Result<>(fail(Code::invalid_argument, cat(option, " must not be a string")))
            : provider::set_option(out, option, value);
    if (!taken) {
      return fail(Code::invalid_argument, cat(at(node.source()), ": ", taken.error().message));
    }
    came_from(name);
    return {};
  }

  Result<> headers(const toml::node& node, const std::string& name, RequestSettings& out) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return wrong(node, name, "a table of strings");
    }
    for (const auto& [key, value] : *table) {
      const auto text = value.value_exact<std::string>();
      if (!text) {
        return wrong(value, cat(name, ".", key.str()), "a string");
      }
      out.headers.insert_or_assign(std::string(key.str()), *text);
    }
    came_from(name);
    return {};
  }

  Result<> extra(const toml::node& node, const std::string& name, RequestSettings& out) {
    std::string text;
    append_json(text, node);
    auto json = RawJson::parse(std::move(text));
    if (!node.is_table() || !json) {
      return wrong(node, name, "a table without dates and infinite numbers");
    }
    out.extra = *std::move(json);
    came_from(name);
    return {};
  }

  // What goes into requests. Returns whether the key was of that kind.
  Result<bool> request_key(const toml::key& key, const toml::node& node,
                           const std::string& provider, const std::string& prefix) {
    const std::string name = cat(prefix, key.str());
    const bool is_option = provider::find_request_option(key.str()) != nullptr;
    const bool is_addition =
        !provider.empty() && (key == "auth" || key == "headers" || key == "extra");
    if (!is_option && !is_addition) {
      return false;
    }
    // A tier costs money, and a cache key tells others apart; the rest is the model's business.
    const bool is_harmless = is_option && key != "service_tier" && key != "prompt_cache_key";
    if (!allowed(key, is_harmless ? Reach::anyone : Reach::trusted, name)) {
      return true;
    }
    RequestSettings& out = out_.settings.requests[provider];
    if (is_option) {
      REPRISE_TRY(option(node, name, key.str(), out.options));
    } else if (key == "auth") {
      REPRISE_TRY(text(node, name, out.auth));
    } else {
      REPRISE_TRY(key == "headers" ? headers(node, name, out) : extra(node, name, out));
    }
    return true;
  }

  Result<> text_key(const toml::node& node, const TextKey& known) {
    std::optional<std::string>& slot = known.slot(out_.settings);
    REPRISE_TRY(text(node, known.name, slot));
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
        return mode(name, table);
      });
    }
    // TOML has no room for both `provider = "x"` and [provider.x].
    if (key == "provider" && node.is_table()) {
      return wrong(node, "provider",
                   "a string; settings of one provider stand in [providers.NAME]");
    }
    if (key == "providers") {
      return tables(node, "providers", [this](const toml::key& name, const toml::table& table) {
        return provider(name, table);
      });
    }
    if (const auto* const known = std::ranges::find(kTextKeys, key.str(), &TextKey::name);
        known != std::end(kTextKeys)) {
      return allowed(key, known->reach, known->name) ? text_key(node, *known) : Result<>();
    }
    REPRISE_ASSIGN(const bool taken, provider_key(key, node, "", top_.own));
    if (taken) {
      return {};
    }
    if (key == "temperature") {
      return temperature(node);
    }
    if (key == "max_tokens") {
      return integer(node, "max_tokens", out_.settings.max_tokens);
    }
    if (key == "budget") {
      return integer(node, "budget", out_.settings.budget);
    }
    if (key == "max_answer_bytes") {
      return allowed(key, Reach::trusted, "max_answer_bytes")
                 ? integer(node, "max_answer_bytes", out_.settings.max_answer_bytes)
                 : Result<>();
    }
    if (key == "spill") {
      return allowed(key, Reach::trusted, "spill") ? truth(node, "spill", out_.settings.spill)
                                                   : Result<>();
    }
    if (key == "insecure") {
      return allowed(key, Reach::trusted, "insecure")
                 ? truth(node, "insecure", out_.settings.insecure)
                 : Result<>();
    }
    if (key == "trust") {
      return allowed(key, Reach::trusted, "trust") ? texts(node, "trust", out_.settings.trust)
                                                   : Result<>();
    }
    REPRISE_ASSIGN(const bool asked, request_key(key, node, "", ""));
    if (!asked) {
      unknown(key, key.str(), top_keys());
    }
    return {};
  }

  template <class Take>
  Result<> tables(const toml::node& node, std::string_view name, Take take) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return wrong(node, name, "a table of tables");
    }
    for (const auto& [key, value] : *table) {
      if (!value.is_table()) {
        return wrong(value, cat(name, ".", key.str()), "a table");
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
        if (allowed(key, Reach::trusted, cat(prefix, "store"))) {
          REPRISE_TRY(truth(node, cat(prefix, "store"), out.store));
        }
        continue;
      }
      REPRISE_ASSIGN(const bool taken, provider_key(key, node, prefix, out));
      if (!taken) {
        REPRISE_ASSIGN(const bool asked, request_key(key, node, std::string(name.str()), prefix));
        if (!asked) {
          unknown(key, cat(prefix, key.str()), provider_keys());
        }
      }
    }
    return {};
  }

  Result<> path_policy(const toml::node& node, std::string_view name, PathPolicy& out) {
    const auto value = node.value_exact<std::string>();
    const auto* const known = std::ranges::find(kPathPolicies, value.value_or(""),
                                                &std::pair<std::string_view, PathPolicy>::first);
    if (known == std::end(kPathPolicies)) {
      return wrong(node, name, "\"none\", \"optional\" or \"required\"");
    }
    out = known->second;
    return {};
  }

  Result<> mode(const toml::key& mode_name, const toml::table& table) {
    Mode mode;
    mode.name = std::string(mode_name.str());
    const std::string prefix = cat("mode.", mode.name, ".");
    std::optional<std::string> system;
    std::optional<std::string> model;
    for (const auto& [key, node] : table) {
      const std::string name = cat(prefix, key.str());
      if (key == "system") {
        REPRISE_TRY(text(node, name, system));
      } else if (key == "model") {
        REPRISE_TRY(text(node, name, model));
      } else if (key == "path") {
        REPRISE_TRY(path_policy(node, name, mode.path));
      } else if (key == "context") {
        // It reads files and runs commands, and what they say is sent to a provider.
        if (allowed(key, Reach::trusted, name)) {
          REPRISE_TRY(texts(node, name, mode.context));
        }
      } else {
        unknown(key, name, kModeKeys);
      }
    }
    mode.system = system.value_or("");
    mode.model = model.value_or("");
    came_from(cat("mode.", mode.name));
    out_.settings.modes.insert_or_assign(mode.name, std::move(mode));
    return {};
  }

  fs::path file_;
  bool trusted_;
  LoadedSettings& out_;
  TopSettings top_;
  std::map<std::string, ProviderSettings> sections_;
  std::string store_;
};

Result<> read_config(const fs::path& file, bool trusted, LoadedSettings& out) {
  REPRISE_ASSIGN(const fs::path real, resolve_path(file));
  REPRISE_ASSIGN(const std::string text, read_file(real, kConfigBytesMax));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const auto& place = parsed.error().source().begin;
    return fail(Code::invalid_argument, cat(file.string(), " line ", place.line, ", column ",
                                            place.column, ": ", parsed.error().description()));
  }
  out.settings.files.push_back(file);
  return Reader(file, trusted, out).read(parsed.table());
}

bool is_below(const fs::path& folder, const fs::path& parent) {
  const auto [end, ignored] =
      std::mismatch(parent.begin(), parent.end(), folder.begin(), folder.end());
  return end == parent.end();
}

void take(const ProcessEnvironment& environment, const std::string& variable, std::string_view name,
          std::optional<std::string>& out, LoadedSettings& loaded) {
  if (auto value = environment.find(variable)) {
    out = *std::move(value);
    loaded.settings.origin.insert_or_assign(std::string(name), variable);
  }
}

}  // namespace

bool is_trusted(const fs::path& folder, const std::vector<std::string>& trust) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  return !error && std::ranges::any_of(trust, [&](const std::string& entry) {
    std::error_code missing;
    const fs::path parent = fs::canonical(entry, missing);
    return !missing && fs::path(entry).is_absolute() && is_below(real, parent);
  });
}

Result<fs::path> find_project_file(const fs::path& folder) {
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    fs::path file = at / kProjectFile;
    const auto kind = kind_behind(file);
    if (!kind && kind.error().os_errno != EACCES) {
      return std::unexpected(kind.error());
    }
    if (kind && *kind != FileKind::none) {
      return file;
    }
    if (at == at.parent_path()) {
      break;
    }
  }
  return fs::path();
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

bool Settings::is_untrusted(std::string_view key) const {
  const auto from = origin.find(key);
  return !untrusted_file.empty() && from != origin.end() && from->second == untrusted_file;
}

Result<LoadedSettings> load_settings(const ConfigSources& sources,
                                     const ProcessEnvironment& environment) {
  LoadedSettings loaded;
  REPRISE_ASSIGN(const FileKind user_file, kind_behind(sources.user_file));
  if (sources.user_file_required || user_file != FileKind::none) {
    REPRISE_TRY(read_config(sources.user_file, true, loaded));
  }
  REPRISE_ASSIGN(const fs::path project, find_project_file(sources.project_from));
  if (!project.empty()) {
    const bool trusted = is_trusted(project.parent_path(), loaded.settings.trust);
    loaded.settings.untrusted_file = trusted ? "" : project.string();
    REPRISE_TRY(read_config(project, trusted, loaded));
  }
  take(environment, "REPRISE_STORE", "store", loaded.settings.store, loaded);
  take(environment, "REPRISE_PROVIDER", "provider", loaded.settings.provider, loaded);
  TopSettings variables{.provider = {}, .own = {}, .from = "REPRISE_MODEL"};
  take(environment, "REPRISE_MODEL", "model", variables.own.model, loaded);
  loaded.settings.tops.push_back(std::move(variables));
  return loaded;
}

}  // namespace reprise::cli
