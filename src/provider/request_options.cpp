#include "provider/request_options.h"

#include <algorithm>
#include <array>

#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

using Options = RequestOptions;

// An option without a field in any protocol: it affects how the request is made.
constexpr std::string_view kPromptCache = "prompt_cache";

std::string with_value(std::string_view piece, std::string_view value) {
  const std::size_t at = piece.find('%');
  return at == std::string_view::npos ? std::string(piece)
                                      : cat(piece.substr(0, at), value, piece.substr(at + 1));
}

}  // namespace

std::span<const RequestOption> request_options() {
  static const std::array<RequestOption, 11> all = {{
      {"reasoning_summary",
       bind<&Options::reasoning_summary>(),
       "what is shown of the model's reasoning",
       {"auto", "concise", "detailed", "none"}},
      {"effort",
       bind<&Options::effort>(),
       "how much the model reasons",
       {"none", "minimal", "low", "medium", "high", "xhigh", "max"}},
      {"thinking_budget",
       bind<&Options::thinking_budget>(),
       "tokens for thinking, for models without effort levels",
       {},
       {.min = 1}},
      {"schema", bind<&Options::schema>(), "a JSON Schema the answer must match"},
      {"stop", bind<&Options::stop>(), "texts that end the answer"},
      {"top_p",
       bind<&Options::top_p>(),
       "sample only from the most likely tokens, up to this total probability",
       {},
       {.min = 0, .max = 1}},
      {"seed", bind<&Options::seed>(), "a number that makes answers repeatable"},
      {"service_tier", bind<&Options::service_tier>(), "the provider's service tier"},
      {"tool_choice", bind<&Options::tool_choice>(), "auto, none, required or the name of a tool"},
      {kPromptCache, bind<&Options::prompt_cache>(), "whether the provider caches the prompt"},
      {"prompt_cache_key", bind<&Options::prompt_cache_key>(),
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
  const auto value = option.slot.get(options);
  return value ? value_json(*value) : "";
}

Result<Value> parse_option(const RequestOption& option, std::string_view text) {
  const auto& choices = option.choices;
  if (!choices.empty() && std::ranges::find(choices, text) == choices.end()) {
    return fail(Code::invalid_argument,
                cat(option.name, " must be one of ", joined(choices), ", not '", text, "'"));
  }
  auto value = parse_value(option.slot.kind, text, option.range);
  if (!value) {
    const bool is_nothing = option.slot.kind == ValueKind::list && text.empty();
    return fail(Code::invalid_argument,
                cat(option.name, " must be ",
                    is_nothing ? "a string" : expected_text(option.slot.kind, option.range),
                    ", not '", text, "'"));
  }
  return *std::move(value);
}

Result<> set_option(RequestOptions& options, std::string_view name, std::string_view value) {
  const RequestOption* const option = find_request_option(name);
  if (option == nullptr) {
    return fail(Code::invalid_argument, cat("unknown option '", name, "'"));
  }
  REPRISE_ASSIGN(Value parsed, parse_option(*option, value));
  option->slot.set(options, std::move(parsed));
  return {};
}

void overlay(RequestOptions& base, const RequestOptions& over) {
  for (const RequestOption& option : request_options()) {
    if (auto value = option.slot.get(over)) {
      option.slot.set(base, *std::move(value));
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
