#include "cli/settings/config_keys.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "base/json_write.h"
#include "base/text.h"
#include "cli/settings/config_values.h"
#include "cli/settings/time_value.h"
#include "session/prices.h"

namespace reprise::cli {
namespace {

constexpr std::uint8_t kTop = static_cast<std::uint8_t>(Section::top);
constexpr std::uint8_t kProvider = static_cast<std::uint8_t>(Section::provider);
constexpr std::uint8_t kMode = static_cast<std::uint8_t>(Section::mode);

constexpr std::array<std::string_view, 3> kAuths = {"bearer", "x-api-key", "api-key"};

std::vector<std::string_view> protocols() {
  std::vector<std::string_view> names;
  for (const ProviderKind& kind : provider_kinds()) {
    if (!kind.default_url.empty()) {
      names.push_back(kind.name);
    }
  }
  return names;
}

bool is_web_url(std::string_view text) {
  const std::size_t host = text.starts_with("https://")  ? 8
                           : text.starts_with("http://") ? 7
                                                         : text.size();
  return host < text.size() && text[host] != '/' &&
         text.find_first_of(" \t\r\n") == std::string_view::npos;
}

bool is_variable(std::string_view text) {
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::ranges::all_of(text, is_name) &&
         !(text.front() >= '0' && text.front() <= '9');
}

bool is_age(std::string_view text) {
  return parse_duration(text).has_value();
}

bool is_price(std::string_view text) {
  return parse_price(text).has_value();
}

bool is_author(std::string_view text) {
  return text.empty() || Author::parse(text).has_value();
}

bool is_absolute(std::string_view text) {
  return text.starts_with('/');
}

bool is_filled(std::string_view text) {
  return !text.empty();
}

bool is_auth(std::string_view text) {
  return std::ranges::find(kAuths, text) != kAuths.end();
}

// Tiers cost money and cache keys separate users; the other options only affect the model.
RequiredTrust trust_of(const provider::RequestOption& option) {
  return option.name == "service_tier" || option.name == "prompt_cache_key" ? RequiredTrust::project
                                                                            : RequiredTrust::none;
}

// NOLINTNEXTLINE(readability-function-size): the table itself
std::vector<ConfigKey> make_config_keys() {
  std::vector<ConfigKey> keys = {
      {"store", kTop, RequiredTrust::project, &Settings::store,
       "where sessions are stored, such as sqlite:FILE", "a URL such as sqlite:FILE, or a path",
       is_filled},
      {"store_key_command",
       kTop,
       RequiredTrust::project,
       &Settings::store_key_command,
       "a command that prints the store's password",
       "",
       nullptr,
       {},
       true},
      {"insecure", kTop, RequiredTrust::project, &Settings::insecure,
       "allow keys and passwords over unencrypted connections"},
      {"spill", kTop, RequiredTrust::project, &Settings::outbox,
       "store locally what a server did not accept"},
      {"slow_call_ms",
       kTop,
       RequiredTrust::none,
       &Settings::slow_call_ms,
       "milliseconds after which -v reports a slow call",
       "",
       nullptr,
       {.min = 0}},
      {"provider", kTop, RequiredTrust::none, &Settings::provider, "the provider that answers",
       "the name of a provider", is_filled},
      {"model", kTop | kProvider, RequiredTrust::none, &ProviderSettings::model,
       "the model that answers"},
      {"dev_model", kTop | kProvider, RequiredTrust::none, &ProviderSettings::dev_model,
       "the cheaper model for --dev"},
      {"base_url", kTop | kProvider, RequiredTrust::project, &ProviderSettings::base_url,
       "the provider's server", "an http:// or https:// URL", is_web_url},
      {"env_key", kTop | kProvider, RequiredTrust::project, &ProviderSettings::env_key,
       "the variable that holds the key", "the name of a variable, not the key itself",
       is_variable},
      {"key_command",
       kTop | kProvider,
       RequiredTrust::project,
       &ProviderSettings::key_command,
       "a shell command that prints the key",
       "",
       nullptr,
       {},
       true},
      {"store", kProvider, RequiredTrust::project, &ProviderSettings::store,
       "whether the provider stores the answers"},
      {"author", kTop, RequiredTrust::project, &Settings::author,
       "your name, stored with each question", "a name of at most 256 bytes, on one line",
       is_author},
      {"system", kTop, RequiredTrust::none, &Settings::system, "the system prompt of new sessions"},
      {"temperature",
       kTop,
       RequiredTrust::none,
       &Settings::temperature,
       "sampling temperature",
       "",
       nullptr,
       {.min = 0, .max = 2}},
      {"max_tokens",
       kTop,
       RequiredTrust::none,
       &Settings::max_tokens,
       "maximum size of an answer in tokens",
       "",
       nullptr,
       {.min = 1}},
      {"budget",
       kTop,
       RequiredTrust::none,
       &Settings::budget,
       "maximum tokens of history to send",
       "",
       nullptr,
       {.min = 1}},
      {"max_answer_bytes",
       kTop,
       RequiredTrust::project,
       &Settings::max_answer_bytes,
       "maximum size of an answer in bytes",
       "",
       nullptr,
       {.min = 1}},
      {"retention", kTop, RequiredTrust::project, &Settings::retention,
       "sessions closed longer ago go to the trash", "an age such as \"30d\", \"12h\" or \"4w\"",
       is_age},
      {"title",
       kTop,
       RequiredTrust::none,
       &Settings::title,
       "how a session gets its title",
       "",
       nullptr,
       {},
       false,
       {"first words", "model"}},
      {"trust", kTop, RequiredTrust::user, &Settings::trust,
       "folders whose project settings are trusted", "absolute paths", is_absolute},
      {"prices", kTop, RequiredTrust::none, &Settings::prices,
       "prices for `stats`, in $ per million tokens",
       "prices such as 'MODEL INPUT OUTPUT [CACHED [CACHE_WRITTEN]]'", is_price},
  };
  for (const provider::RequestOption& option : provider::request_options()) {
    keys.push_back({option.name, kTop | kProvider, trust_of(option), &option, option.help, "",
                    nullptr, option.range, false, option.choices});
  }
  const ConfigKey provider_keys[] = {
      {"protocol",
       kProvider,
       RequiredTrust::project,
       &ProviderSettings::protocol,
       "the protocol of the server at base_url",
       "",
       nullptr,
       {},
       false,
       protocols()},
      {"auth",
       kProvider,
       RequiredTrust::project,
       &RequestSettings::auth,
       "how the key is sent",
       "bearer, x-api-key or api-key",
       is_auth,
       {},
       false,
       {kAuths.begin(), kAuths.end()}},
      {"headers",
       kProvider,
       RequiredTrust::project,
       &RequestSettings::headers,
       "a table of headers sent with each request",
       "",
       nullptr,
       {},
       true},
      {"extra", kProvider, RequiredTrust::project, &RequestSettings::extra,
       "a table merged into the body of each request"},
      {"system", kMode, RequiredTrust::none, &Mode::system, "the system prompt of the mode"},
      {"model", kMode, RequiredTrust::none, &Mode::model, "the model that answers in the mode"},
      {"path",
       kMode,
       RequiredTrust::none,
       &Mode::path,
       "whether the mode takes a folder",
       "",
       nullptr,
       {},
       false,
       {"none", "optional", "required"}},
      // Reads files and runs commands, and sends their output to a provider.
      {"context", kMode, RequiredTrust::project, &Mode::context,
       "files and commands for the system prompt"},
  };
  std::ranges::copy(provider_keys, std::back_inserter(keys));
  return keys;
}

std::string alternatives(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += cat(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  }
  return out;
}

struct Expected {
  const ConfigKey& key;

  std::string operator()(std::optional<bool> Settings::*) const { return "true or false"; }
  std::string operator()(std::optional<bool> ProviderSettings::*) const { return "true or false"; }
  std::string operator()(std::optional<std::int64_t> Settings::*) const {
    return number_words(NumberKind::whole, key.range);
  }
  std::string operator()(std::optional<double> Settings::*) const {
    return number_words(NumberKind::any, key.range);
  }
  std::string operator()(const provider::RequestOption* option) const {
    return std::visit(*this, option->slot);
  }
  std::string operator()(std::optional<bool> RequestOptions::*) const { return "true or false"; }
  std::string operator()(std::optional<std::int64_t> RequestOptions::*) const {
    return number_words(NumberKind::whole, key.range);
  }
  std::string operator()(std::optional<double> RequestOptions::*) const {
    return number_words(NumberKind::any, key.range);
  }
  std::string operator()(std::vector<std::string> RequestOptions::*) const {
    return "a string or a list of strings";
  }
  std::string operator()(RawJson RequestOptions::*) const { return table(); }
  std::string operator()(std::vector<std::string> Settings::*) const { return list(); }
  std::string operator()(std::vector<std::string> Mode::*) const { return list(); }
  std::string operator()(std::map<std::string, std::string, std::less<>> RequestSettings::*) const {
    return "a table of strings";
  }
  std::string operator()(RawJson RequestSettings::*) const { return table(); }
  std::string operator()(const auto&) const { return "a string"; }

  static std::string table() { return "a table without dates or infinities"; }
  std::string list() const {
    return key.expected.empty() ? "a list of strings" : cat("a list of ", key.expected);
  }
};

bool takes_many(const ConfigKey& key) {
  return std::holds_alternative<std::vector<std::string> Settings::*>(key.slot) ||
         std::holds_alternative<std::vector<std::string> Mode::*>(key.slot);
}

template <class Number>
bool is_number(std::string_view text, const NumberRange& range) {
  const auto number = parse_number<Number>(text);
  return number && range.holds(static_cast<double>(*number));
}

// TOML strings accept JSON's escapes.
std::string list_of(const std::vector<std::string>& values) {
  return cat("[", joined(values, [](std::string_view value) { return json::quoted(value); }), "]");
}

// Parses a list as `config get` prints it.
Result<std::vector<std::string>> parse_list(std::string_view name, std::string_view text) {
  const toml::parse_result parsed = toml::parse(cat("list = ", text));
  const toml::array* const array =
      parsed && parsed.table().size() == 1 ? parsed["list"].as_array() : nullptr;
  std::vector<std::string> out;
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    if (const auto word = (*array)[i].value_exact<std::string>()) {
      out.push_back(*word);
    }
  }
  if (array == nullptr || out.size() != array->size()) {
    return fail(Code::invalid_argument,
                cat(name, ": '", text,
                    R"(' is not a list such as ["a", "b"]; write the values as separate words)"));
  }
  return out;
}

// Formats a value as TOML; nullopt if it is invalid.
struct TomlFormatter {
  const ConfigKey& key;
  const std::string& text;

  std::optional<std::string> operator()(std::optional<bool> Settings::*) const { return boolean(); }
  std::optional<std::string> operator()(std::optional<bool> ProviderSettings::*) const {
    return boolean();
  }
  std::optional<std::string> operator()(std::optional<std::int64_t> Settings::*) const {
    return is_number<std::int64_t>(text, key.range) ? std::optional(text) : std::nullopt;
  }
  std::optional<std::string> operator()(std::optional<double> Settings::*) const {
    return is_number<double>(text, key.range) ? std::optional(text) : std::nullopt;
  }
  std::optional<std::string> operator()(const auto&) const {
    const bool is_choice =
        key.choices.empty() || std::ranges::find(key.choices, text) != key.choices.end();
    return is_choice && (key.accepts == nullptr || key.accepts(text))
               ? std::optional(json::quoted(text))
               : std::nullopt;
  }
  std::optional<std::string> boolean() const {
    return text == "true" || text == "false" ? std::optional(text) : std::nullopt;
  }
};

std::string full_name(const KeyPath& path) {
  return path.section == Section::top        ? std::string(path.key->name)
         : path.section == Section::provider ? cat("providers.", path.name, ".", path.key->name)
                                             : cat("mode.", path.name, ".", path.key->name);
}

// Numbers and booleans are written as given, strings are quoted.
Result<std::string> option_value(const provider::RequestOption& option, const std::string& text) {
  RequestOptions taken;
  REPRISE_TRY(provider::set_option(taken, option.name, text));
  const bool is_text =
      std::holds_alternative<std::string RequestOptions::*>(option.slot) ||
      std::holds_alternative<std::vector<std::string> RequestOptions::*>(option.slot);
  if (std::holds_alternative<RawJson RequestOptions::*>(option.slot)) {
    return fail(Code::unsupported,
                cat(option.name, " is a table; use `reprise config edit` to set it"));
  }
  return is_text ? json::quoted(text) : text;
}

}  // namespace

std::span<const ConfigKey> config_keys() {
  static const std::vector<ConfigKey> keys = make_config_keys();
  return keys;
}

const ConfigKey* find_config_key(Section section, std::string_view name) {
  const auto keys = config_keys();
  const auto found = std::ranges::find_if(
      keys, [&](const ConfigKey& key) { return key.is_in(section) && key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string_view> config_key_names(Section section) {
  std::vector<std::string_view> out;
  for (const ConfigKey& key : config_keys()) {
    if (key.is_in(section)) {
      out.push_back(key.name);
    }
  }
  return out;
}

std::string expected_value(const ConfigKey& key) {
  if (!key.choices.empty()) {
    return alternatives(key.choices);
  }
  if (!key.expected.empty() && !takes_many(key)) {
    return std::string(key.expected);
  }
  return std::visit(Expected{key}, key.slot);
}

Result<KeyPath> parse_key_path(std::string_view text) {
  KeyPath path;
  std::string_view name = text;
  const std::size_t last = text.rfind('.');
  for (const auto& [prefix, section] :
       {std::pair<std::string_view, Section>{"providers.", Section::provider},
        std::pair<std::string_view, Section>{"mode.", Section::mode}}) {
    if (text.starts_with(prefix) && last > prefix.size()) {
      path.section = section;
      path.name = text.substr(prefix.size(), last - prefix.size());
      name = text.substr(last + 1);
    }
  }
  const bool is_table = last != std::string_view::npos && last + 1 < text.size() &&
                        path.section == Section::top &&
                        (text.substr(0, last) == "providers" || text.substr(0, last) == "mode");
  if (is_table) {
    return fail(Code::not_found,
                cat("unknown setting '", text, "'; name a key in it: ", text, ".KEY"));
  }
  path.key = find_config_key(path.section, name);
  if (path.key == nullptr) {
    const std::string_view suggestion = nearest(name, config_key_names(path.section));
    const std::string_view section = text.substr(0, text.size() - name.size());
    return fail(Code::not_found,
                cat("unknown setting '", text, "'",
                    suggestion.empty() ? "; `reprise config keys` lists them all"
                                       : cat("; did you mean '", section, suggestion, "'?")));
  }
  return path;
}

Result<std::string> toml_value(const KeyPath& path, const std::vector<std::string>& values) {
  const ConfigKey& key = *path.key;
  const auto* const option = std::get_if<const provider::RequestOption*>(&key.slot);
  const bool is_list_option =
      option != nullptr &&
      std::holds_alternative<std::vector<std::string> RequestOptions::*>((*option)->slot);
  const bool is_list = values.size() == 1 && values.front().starts_with('[');
  if (takes_many(key) || (is_list_option && (is_list || values.size() > 1))) {
    std::vector<std::string> items = values;
    if (is_list) {
      REPRISE_ASSIGN(items, parse_list(full_name(path), values.front()));
    }
    if (key.accepts != nullptr && !std::ranges::all_of(items, key.accepts)) {
      return fail(Code::invalid_argument, cat(full_name(path), " must be ", expected_value(key)));
    }
    return list_of(items);
  }
  if (values.size() != 1) {
    return fail(Code::invalid_argument, cat(full_name(path), " takes one value"));
  }
  if (std::holds_alternative<std::map<std::string, std::string, std::less<>> RequestSettings::*>(
          key.slot) ||
      std::holds_alternative<RawJson RequestSettings::*>(key.slot)) {
    return fail(Code::unsupported,
                cat(full_name(path), " is a table; use `reprise config edit` to set it"));
  }
  if (option != nullptr) {
    return option_value(**option, values.front());
  }
  auto formatted = std::visit(TomlFormatter{key, values.front()}, key.slot);
  if (!formatted) {
    // Does not repeat a value that may be a key given by mistake.
    const std::string given = key.name == "env_key" ? "" : values.front();
    return fail(Code::invalid_argument, cat(full_name(path), " must be ", expected_value(key),
                                            given.empty() ? "" : cat(", not '", given, "'")));
  }
  return *std::move(formatted);
}

}  // namespace reprise::cli
