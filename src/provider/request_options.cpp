#include "provider/request_options.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "provider/request_parts.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

using Options = RequestOptions;

// An option without a field in any protocol: it affects how the request is made.
constexpr std::string_view kPromptCache = "prompt_cache";

struct OptionJson {
  std::string operator()(const std::string& text) const {
    return text.empty() ? "" : json::quoted(text);
  }
  std::string operator()(const std::optional<std::int64_t>& number) const {
    return number ? cat(*number) : "";
  }
  std::string operator()(const std::optional<double>& number) const {
    return number ? number_to_json(*number) : "";
  }
  std::string operator()(const std::optional<bool>& truth) const {
    return truth ? (*truth ? "true" : "false") : "";
  }
  std::string operator()(const std::vector<std::string>& texts) const {
    return texts.empty() ? "" : json::array_of(texts);
  }
  std::string operator()(const RawJson& json) const { return json.is_null() ? "" : json.text(); }
};

template <class Number>
bool read_number(std::string_view text, std::optional<Number>& out) {
  const auto number = parse_number<Number>(text);
  out = number ? number : out;
  return number.has_value();
}

// Return what was expected, or "" if the value was accepted.
struct OptionParser {
  std::string_view text;
  const NumberRange& range;

  std::string operator()(std::string& out) const {
    out = text;
    return text.empty() ? "a word" : "";
  }
  std::string operator()(std::optional<std::int64_t>& out) const {
    return read_number(text, out) && range.holds(static_cast<double>(out.value_or(0)))
               ? ""
               : number_words(NumberKind::whole, range);
  }
  std::string operator()(std::optional<double>& out) const {
    const bool is_valid = read_number(text, out) && std::isfinite(out.value_or(0));
    return is_valid && range.holds(out.value_or(0)) ? "" : number_words(NumberKind::any, range);
  }
  std::string operator()(std::optional<bool>& out) const {
    out = text == "true";
    return text == "true" || text == "false" ? "" : "true or false";
  }
  // One text, or several as a JSON array.
  std::string operator()(std::vector<std::string>& out) const {
    out.clear();
    json::Scanner scanner(text);
    if (scanner.kind() != json::Kind::array) {
      out.emplace_back(text);
      return text.empty() ? "a string" : "";
    }
    const bool is_valid =
        scanner.array([&] { return scanner.string(out.emplace_back()); }) && scanner.end();
    return is_valid && !out.empty() ? "" : "a string or a JSON array of strings";
  }
  std::string operator()(RawJson& out) const {
    auto parsed = RawJson::parse(std::string(text));
    if (!parsed || !is_json_object(parsed->text())) {
      return "a JSON object";
    }
    out = *std::move(parsed);
    return "";
  }
};

bool is_set(const RequestOption& option, const Options& options) {
  return !option_value(option, options).empty();
}

std::string with_value(std::string_view piece, std::string_view value) {
  const std::size_t at = piece.find('%');
  return at == std::string_view::npos ? std::string(piece)
                                      : cat(piece.substr(0, at), value, piece.substr(at + 1));
}

}  // namespace

std::span<const RequestOption> request_options() {
  static const std::array<RequestOption, 11> all = {{
      {"reasoning_summary",
       &Options::reasoning_summary,
       "what is shown of the model's reasoning",
       {"auto", "concise", "detailed", "none"}},
      {"effort",
       &Options::effort,
       "how much the model reasons",
       {"none", "minimal", "low", "medium", "high", "xhigh", "max"}},
      {"thinking_budget",
       &Options::thinking_budget,
       "tokens for thinking, for models without effort levels",
       {},
       {.min = 1}},
      {"schema", &Options::schema, "a JSON Schema the answer must match"},
      {"stop", &Options::stop, "texts that end the answer"},
      {"top_p",
       &Options::top_p,
       "sample only from the most likely tokens, up to this total probability",
       {},
       {.min = 0, .max = 1}},
      {"seed", &Options::seed, "a number that makes answers repeatable"},
      {"service_tier", &Options::service_tier, "the provider's service tier"},
      {"tool_choice", &Options::tool_choice, "auto, none, required or the name of a tool"},
      {kPromptCache, &Options::prompt_cache, "whether the provider caches the prompt"},
      {"prompt_cache_key", &Options::prompt_cache_key,
       "the name of the cache, instead of the session's id"},
  }};
  return all;
}

const RequestOption* find_request_option(std::string_view name) {
  const auto options = request_options();
  const auto found = std::ranges::find(options, name, &RequestOption::name);
  return found == options.end() ? nullptr : &*found;
}

std::string option_value(const RequestOption& option, const RequestOptions& options) {
  return std::visit([&](auto slot) { return OptionJson()(options.*slot); }, option.slot);
}

Result<> set_option(RequestOptions& options, std::string_view name, std::string_view value) {
  const RequestOption* const option = find_request_option(name);
  if (option == nullptr) {
    return fail(Code::invalid_argument, cat("unknown option '", name, "'"));
  }
  const auto& choices = option->choices;
  if (!choices.empty() && std::ranges::find(choices, value) == choices.end()) {
    return fail(Code::invalid_argument,
                cat(name, " must be one of ", joined(choices), ", not '", value, "'"));
  }
  const std::string expected = std::visit(
      [&](auto slot) { return OptionParser{value, option->range}(options.*slot); }, option->slot);
  if (!expected.empty()) {
    return fail(Code::invalid_argument, cat(name, " must be ", expected, ", not '", value, "'"));
  }
  return {};
}

void overlay(RequestOptions& base, const RequestOptions& over) {
  for (const RequestOption& option : request_options()) {
    if (is_set(option, over)) {
      std::visit([&](auto slot) { base.*slot = over.*slot; }, option.slot);
    }
  }
}

bool supports_option(std::span<const OptionEncoding> encodings, std::string_view option) {
  return option == kPromptCache ||
         std::ranges::find(encodings, option, &OptionEncoding::option) != encodings.end();
}

Result<std::string> encode_options(const RequestOptions& options, std::string_view protocol,
                                   std::span<const OptionEncoding> encodings) {
  std::string out = "{}";
  for (const RequestOption& option : request_options()) {
    const std::string value = option_value(option, options);
    if (value.empty() || option.name == kPromptCache) {
      continue;
    }
    const auto found = std::ranges::find_if(encodings, [&](const OptionEncoding& encoding) {
      return encoding.option == option.name && (encoding.value.empty() || encoding.value == value);
    });
    if (found == encodings.end()) {
      return fail(Code::unsupported, cat(protocol, " has no field for ", option.name));
    }
    out = merged_json(out, with_value(found->json, value));
  }
  return out;
}

std::vector<std::pair<std::string, std::string_view>> members_of(std::string_view object) {
  std::vector<std::pair<std::string, std::string_view>> out;
  JsonView(object).each_member(
      [&](std::string_view name, JsonView value) { out.emplace_back(name, value.raw()); });
  return out;
}

std::string merged_json(std::string_view base, std::string_view over) {
  if (!JsonView(base).is(json::Kind::object) || !JsonView(over).is(json::Kind::object)) {
    return std::string(over);
  }
  auto theirs = members_of(over);
  std::string out;
  json::ObjectWriter object(out);
  for (const auto& [name, value] : members_of(base)) {
    const auto found =
        std::ranges::find(theirs, name, &std::pair<std::string, std::string_view>::first);
    if (found == theirs.end()) {
      object.raw(name, value);
    } else {
      object.raw(name, merged_json(value, found->second));
      theirs.erase(found);
    }
  }
  for (const auto& [name, value] : theirs) {
    object.raw(name, value);
  }
  object.close();
  return out;
}

}  // namespace reprise::provider
