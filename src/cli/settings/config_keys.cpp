#include "cli/settings/config_keys.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/json_write.h"
#include "base/text.h"
#include "cli/settings/config_values.h"
#include "cli/settings/time_value.h"
#include "session/prices.h"

namespace reprise {

constexpr std::string_view kPolicies[] = {"none", "optional", "required"};  // as PathPolicy

// Whether a mode takes a folder is written as a word; "none" is the default.
template <>
struct provider::Held<PathPolicy> {
  using Content = std::string;

  static std::optional<Value> get(PathPolicy member) {
    return member == PathPolicy::none
               ? std::nullopt
               : std::optional<Value>(std::string(kPolicies[static_cast<std::size_t>(member)]));
  }
  static void set(PathPolicy& member, const std::string& word) {
    member = static_cast<PathPolicy>(std::ranges::find(kPolicies, word) - std::begin(kPolicies));
  }
};

}  // namespace reprise

namespace reprise::cli {
namespace {

constexpr std::uint8_t kTop = static_cast<std::uint8_t>(Section::top);
constexpr std::uint8_t kProvider = static_cast<std::uint8_t>(Section::provider);
constexpr std::uint8_t kMode = static_cast<std::uint8_t>(Section::mode);
constexpr RequiredTrust kAnyone = RequiredTrust::none;
constexpr RequiredTrust kTrusted = RequiredTrust::project;

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

// A row for the member of a target's struct that holds the value.
template <auto Member>
Setting row(std::string_view name, std::uint8_t sections, RequiredTrust trust,
            std::string_view help, Check check = {}) {
  using Owner = provider::MemberOf<Member>::Owner;
  Setting out{name, sections, trust, help, std::move(check)};
  out.kind = provider::bind<Member>().kind;
  out.get = [](const Setting& /*setting*/, const SettingSource& from) {
    const Owner* const owner = std::get<const Owner*>(from);
    return owner == nullptr ? std::nullopt : provider::bind<Member>().get(*owner);
  };
  out.set = [](const Setting& /*setting*/, const SettingTarget& to, Value value) {
    provider::bind<Member>().set(*std::get<Owner*>(to), std::move(value));
  };
  return out;
}

Setting secret(Setting row) {
  row.is_secret = true;
  return row;
}

Setting option_row(const provider::RequestOption& option) {
  // Tiers cost money and cache keys separate users; the other options only affect the model.
  const bool needs_trust = option.name == "service_tier" || option.name == "prompt_cache_key";
  Setting out{option.name,
              kTop | kProvider,
              needs_trust ? kTrusted : kAnyone,
              option.help,
              {.range = option.range, .choices = option.choices}};
  out.option = &option;
  out.kind = option.slot.kind;
  out.get = [](const Setting& setting, const SettingSource& from) {
    const auto* const owner = std::get<const RequestSettings*>(from);
    return owner == nullptr ? std::nullopt : setting.option->slot.get(owner->options);
  };
  out.set = [](const Setting& setting, const SettingTarget& to, Value value) {
    setting.option->slot.set(std::get<RequestSettings*>(to)->options, std::move(value));
  };
  return out;
}

// NOLINTNEXTLINE(readability-function-size): the table itself
std::vector<Setting> make_config_keys() {
  const Check counted{.range = {.min = 1}};
  std::vector<Setting> rows = {
      row<&Settings::store>("store", kTop, kTrusted,
                            "where sessions are stored, such as sqlite:FILE",
                            {"a URL such as sqlite:FILE, or a path", is_filled}),
      secret(row<&Settings::store_key_command>("store_key_command", kTop, kTrusted,
                                               "a command that prints the store's password")),
      row<&Settings::insecure>("insecure", kTop, kTrusted,
                               "allow keys and passwords over unencrypted connections"),
      row<&Settings::outbox>("spill", kTop, kTrusted, "store locally what a server did not accept"),
      row<&Settings::slow_call_ms>("slow_call_ms", kTop, kAnyone,
                                   "milliseconds after which -v reports a slow call",
                                   {.range = {.min = 0}}),
      row<&Settings::provider>("provider", kTop, kAnyone, "the provider that answers",
                               {"the name of a provider", is_filled}),
      row<&ProviderSettings::model>("model", kTop | kProvider, kAnyone, "the model that answers"),
      row<&ProviderSettings::dev_model>("dev_model", kTop | kProvider, kAnyone,
                                        "the cheaper model for --dev"),
      row<&ProviderSettings::base_url>("base_url", kTop | kProvider, kTrusted,
                                       "the provider's server",
                                       {"an http:// or https:// URL", is_web_url}),
      row<&ProviderSettings::env_key>("env_key", kTop | kProvider, kTrusted,
                                      "the variable that holds the key",
                                      {"the name of a variable, not the key itself", is_variable}),
      secret(row<&ProviderSettings::key_command>("key_command", kTop | kProvider, kTrusted,
                                                 "a shell command that prints the key")),
      row<&ProviderSettings::store>("store", kProvider, kTrusted,
                                    "whether the provider stores the answers"),
      row<&Settings::author>("author", kTop, kTrusted, "your name, stored with each question",
                             {"a name of at most 256 bytes, on one line", is_author}),
      row<&Settings::system>("system", kTop, kAnyone, "the system prompt of new sessions"),
      row<&Settings::temperature>("temperature", kTop, kAnyone, "sampling temperature",
                                  {.range = {.min = 0, .max = 2}}),
      row<&Settings::max_tokens>("max_tokens", kTop, kAnyone, "maximum size of an answer in tokens",
                                 counted),
      row<&Settings::budget>("budget", kTop, kAnyone, "maximum tokens of history to send", counted),
      row<&Settings::max_answer_bytes>("max_answer_bytes", kTop, kTrusted,
                                       "maximum size of an answer in bytes", counted),
      row<&Settings::retention>("retention", kTop, kTrusted,
                                "sessions closed longer ago go to the trash",
                                {"an age such as \"30d\", \"12h\" or \"4w\"", is_age}),
      row<&Settings::title>("title", kTop, kAnyone, "how a session gets its title",
                            {.choices = {"first words", "model"}}),
      row<&Settings::trust>("trust", kTop, RequiredTrust::user,
                            "folders whose project settings are trusted",
                            {"absolute paths", is_absolute}),
      row<&Settings::prices>(
          "prices", kTop, kAnyone, "prices for `stats`, in $ per million tokens",
          {"prices such as 'MODEL INPUT OUTPUT [CACHED [CACHE_WRITTEN]]'", is_price}),
  };
  std::ranges::transform(provider::request_options(), std::back_inserter(rows), option_row);
  const Setting others[] = {
      row<&ProviderSettings::protocol>("protocol", kProvider, kTrusted,
                                       "the protocol of the server at base_url",
                                       {.choices = protocols()}),
      row<&RequestSettings::path>("path", kProvider, kTrusted,
                                  "the path of requests, after base_url",
                                  {"a path such as /chat/completions", provider::is_request_path}),
      row<&RequestSettings::auth>("auth", kProvider, kTrusted, "how the key is sent",
                                  {.choices = provider::auth_names()}),
      row<&RequestSettings::auth_header>("auth_header", kProvider, kTrusted,
                                         "the header that has the key",
                                         {"the name of a header", provider::is_header_name}),
      secret(row<&RequestSettings::headers>("headers", kProvider, kTrusted,
                                            "a table of headers sent with each request")),
      row<&RequestSettings::extra>("extra", kProvider, kTrusted,
                                   "a table merged into the body of each request"),
      row<&RequestSettings::good_ends>("good_ends", kProvider, kTrusted,
                                       "reasons with which the server ends a whole answer",
                                       {"words such as \"finished\"", is_filled}),
      row<&Mode::system>("system", kMode, kAnyone, "the system prompt of the mode"),
      row<&Mode::model>("model", kMode, kAnyone, "the model that answers in the mode"),
      row<&Mode::path>(
          "path", kMode, kAnyone, "whether the mode takes a folder",
          {.choices = {std::begin(kPolicies), std::end(kPolicies)}, .tells_choices = true}),
      // Reads files and runs commands, and sends their output to a provider.
      row<&Mode::context>("context", kMode, kTrusted, "files and commands for the system prompt"),
  };
  std::ranges::copy(others, std::back_inserter(rows));
  return rows;
}

std::string list_words(const Setting& setting) {
  return setting.option != nullptr
             ? "a string or a list of strings"
             : cat("a list of ",
                   setting.check.expected.empty() ? "strings" : setting.check.expected);
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

std::string full_name(const KeyPath& path) {
  return path.section == Section::top        ? std::string(path.key->name)
         : path.section == Section::provider ? cat("providers.", path.name, ".", path.key->name)
                                             : cat("mode.", path.name, ".", path.key->name);
}

bool is_valid(const Setting& setting, const std::string& text) {
  return setting.kind == ValueKind::text
             ? setting.check.holds(text)
             : provider::parse_value(setting.kind, text, setting.check.range).has_value();
}

Result<std::string> list_literal(const KeyPath& path, std::vector<std::string> values) {
  if (values.size() == 1 && values.front().starts_with('[')) {
    REPRISE_ASSIGN(values, parse_list(full_name(path), values.front()));
  }
  const Check& check = path.key->check;
  if (!std::ranges::all_of(values, [&](const std::string& text) { return check.holds(text); })) {
    return fail(Code::invalid_argument,
                cat(full_name(path), " must be ", expected_value(*path.key)));
  }
  return list_of(values);
}

}  // namespace

bool Check::holds(std::string_view text) const {
  return (accepts == nullptr || accepts(text)) &&
         (choices.empty() || std::ranges::find(choices, text) != choices.end());
}

std::span<const Setting> config_keys() {
  static const std::vector<Setting> keys = make_config_keys();
  return keys;
}

const Setting* find_config_key(Section section, std::string_view name) {
  const auto keys = config_keys();
  const auto found = std::ranges::find_if(
      keys, [&](const Setting& key) { return key.is_in(section) && key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string_view> config_key_names(Section section) {
  std::vector<std::string_view> out;
  for (const Setting& key : config_keys()) {
    if (key.is_in(section)) {
      out.push_back(key.name);
    }
  }
  return out;
}

void overlay(ProviderSettings& base, const ProviderSettings& over) {
  for (const Setting& setting : config_keys()) {
    if (auto value = setting.get(setting, {nullptr, &over, nullptr, nullptr})) {
      setting.set(setting, {nullptr, &base, nullptr, nullptr}, *std::move(value));
    }
  }
}

std::string expected_value(const Setting& setting) {
  const Check& check = setting.check;
  if (!check.choices.empty()) {
    return alternatives(check.choices);
  }
  switch (setting.kind) {
    case ValueKind::text:
      return check.expected.empty() ? "a string" : std::string(check.expected);
    case ValueKind::list:
      return list_words(setting);
    case ValueKind::table_of_texts:
      return "a table of strings";
    case ValueKind::table:
      return "a table without dates or infinities";
    default:
      return provider::expected_text(setting.kind, check.range);
  }
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
  const Setting& key = *path.key;
  const bool is_option = key.option != nullptr;
  const bool is_list = values.size() > 1 || (values.size() == 1 && values.front().starts_with('['));
  if (key.kind == ValueKind::list && (is_list || !is_option)) {
    return list_literal(path, values);
  }
  if (values.size() != 1) {
    return fail(Code::invalid_argument, cat(full_name(path), " takes one value"));
  }
  const std::string& text = values.front();
  if (is_option) {
    REPRISE_TRY(provider::parse_option(*key.option, text));
  }
  if (key.kind == ValueKind::table || key.kind == ValueKind::table_of_texts) {
    return fail(Code::unsupported, cat(is_option ? std::string(key.name) : full_name(path),
                                       " is a table; use `reprise config edit` to set it"));
  }
  if (!is_option && !is_valid(key, text)) {
    // Does not repeat a value that may be a key given by mistake.
    const std::string given = key.name == "env_key" ? "" : text;
    return fail(Code::invalid_argument, cat(full_name(path), " must be ", expected_value(key),
                                            given.empty() ? "" : cat(", not '", given, "'")));
  }
  // Numbers and booleans are written as given.
  return key.kind == ValueKind::text || key.kind == ValueKind::list ? json::quoted(text) : text;
}

}  // namespace reprise::cli
