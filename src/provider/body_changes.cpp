#include "provider/body_changes.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <system_error>

#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "provider/refusal.h"
#include "provider/request_options.h"

namespace reprise::provider {
namespace {

constexpr std::string_view kOldLimit = "max_tokens";
constexpr std::string_view kNewLimit = "max_completion_tokens";

// Parameters that can be dropped without changing what was asked. Schemas, tools, stop texts and
// prompts are not optional: the user must learn that they were rejected.
constexpr std::string_view kOptional[] = {"temperature",
                                          "top_p",
                                          "top_k",
                                          "presence_penalty",
                                          "frequency_penalty",
                                          "seed",
                                          "service_tier",
                                          "reasoning_effort",
                                          "reasoning",
                                          "thinking",
                                          "output_config",
                                          "verbosity",
                                          "prompt_cache_key",
                                          "stream_options",
                                          "include",
                                          "metadata",
                                          "user",
                                          "logprobs",
                                          "max_output_tokens"};

bool is_optional(std::string_view name) {
  return std::ranges::find(kOptional, name) != std::end(kOptional);
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool is_word(char c) {
  return is_ascii_alnum(c) || c == '_';
}

// Whether the name at `at` refers to a parameter, and is not just a word in the sentence.
bool is_parameter_name(std::string_view text, std::size_t at, std::size_t size) {
  const std::string_view before = text.substr(0, at);
  const std::string_view after = text.substr(at + size);
  if ((!before.empty() && (is_word(before.back()) || before.back() == '.')) ||
      (!after.empty() && is_word(after.front()))) {
    return false;
  }
  if (!before.empty() && std::string_view("'`\"").contains(before.back())) {
    return true;
  }
  if ((before.empty() && (after.starts_with(':') || after.starts_with('.'))) ||
      (before == "invalid " && after.starts_with(':'))) {
    return true;
  }
  for (const std::string_view word : {" is ", " are ", " not ", " parameter", " field"}) {
    if (after.starts_with(word)) {
      return true;
    }
  }
  for (const std::string_view word :
       {"parameter ", "parameter: ", "parameters: ", "argument ",
        "argument: ", "supplied: ", "field ", "field: ", "support ", "supports ", "property "}) {
    if (before.ends_with(word)) {
      return true;
    }
  }
  return false;
}

bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    if (is_parameter_name(text, at, name.size())) {
      return true;
    }
  }
  return false;
}

// An unsupported parameter can be dropped; an invalid value must be corrected by the user.
bool is_unsupported(std::string_view code, std::string_view reason) {
  return contains_any(code, {"unsupported", "unknown_parameter", "extra_forbidden"}) ||
         contains_any(
             reason, {"deprecated", "not support", "unsupported", "n't support", "not permitted",
                      "not allowed", "unrecognized", "unknown", "unexpected", "only the default",
                      "may only be", "no longer", "extra fields", "extra inputs",
                      "must be verified", "is allowed for this model", "cannot both be specified"});
}

// The parameter as named by the server: {"error":{"param":…}}, or FastAPI's
// {"detail":[{"loc":["body","temperature"],…}]}, which is Mistral's "message".
std::string named_parameter(JsonView answer) {
  if (std::string param = answer["error"]["param"].text(); !param.empty()) {
    return param;
  }
  std::string last;
  for (const JsonView faults : {answer["detail"], answer["message"]["detail"]}) {
    faults.each(
        [&](JsonView fault) { fault["loc"].each([&](JsonView step) { last = step.text(); }); });
  }
  return last;
}

// `named`: the parameter that the server names; if none, `reason` may mention it.
bool is_rejected(std::string_view parameter, std::string_view named, std::string_view reason) {
  return named.empty() ? mentions(reason, parameter)
                       : named == parameter || named.starts_with(cat(parameter, ".")) ||
                             named.starts_with(cat(parameter, "["));
}

std::string parameter_named_in(std::string_view answer) {
  return is_json_object(answer) ? named_parameter(JsonView(answer)) : "";
}

std::string rejected_parameter(const RejectedBody& refused, std::string_view reason) {
  const std::string named = parameter_named_in(refused.answer);
  for (const std::string& parameter : parameters_of(refused.head)) {
    if (is_rejected(parameter, named, reason)) {
      return parameter;
    }
  }
  return "";
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  std::int64_t number = 0;
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view number_text = text.substr(at + words.size());
  const auto [end, code] =
      std::from_chars(number_text.data(), number_text.data() + number_text.size(), number);
  return code == std::errc() && number > 0 ? std::optional(number) : std::nullopt;
}

// "max_tokens: 64000 > 8192, which is the maximum": 8192. "input length and `max_tokens` exceed
// context limit: 100000 + 64000 > 131072": 31072, what the input leaves.
std::optional<std::int64_t> named_maximum(std::string_view reason, std::int64_t limit) {
  const auto at = reason.find(kOldLimit);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = reason.substr(at);
  const auto total = number_after(rest, cat(" + ", limit, " > "));
  if (!total) {
    return rest.starts_with("max_tokens: ") ? number_after(rest, " > ") : std::nullopt;
  }
  const auto colon = rest.rfind(": ", rest.find(cat(" + ", limit, " > ")));
  const auto input =
      colon == std::string_view::npos ? std::nullopt : number_after(rest.substr(colon), ": ");
  return input && *input < *total ? std::optional(*total - *input) : std::nullopt;
}

// The object without its removed members; "" if none are left.
std::string changed_object(const std::string& name, std::string_view object,
                           const BodyChanges& changes) {
  std::string out;
  json::ObjectWriter writer(out);
  for (const auto& [inner, value] : members_of(object)) {
    if (!changes.left_out.contains(cat(name, ".", inner))) {
      writer.raw(inner, value);
    }
  }
  writer.close();
  return out == "{}" && object != "{}" ? "" : out;
}

// Whether leaving out `parameter` would leave out one that was given, or a part of it.
bool holds_given(std::string_view parameter, const std::set<std::string, std::less<>>& given) {
  return std::ranges::any_of(given, [parameter](const std::string& name) {
    return name == parameter || name.starts_with(cat(parameter, ".")) ||
           parameter.starts_with(cat(name, "."));
  });
}

}  // namespace

std::string changed_head(std::string_view head, const BodyChanges& changes) {
  if (changes == BodyChanges()) {
    return std::string(head);
  }
  std::string out;
  json::ObjectWriter object(out);
  for (const auto& [name, value] : members_of(head)) {
    if (changes.left_out.contains(name)) {
      continue;
    }
    if (changes.is_limit_renamed && (name == kOldLimit || name == kNewLimit)) {
      object.raw(name == kOldLimit ? kNewLimit : kOldLimit, value);
    } else if (changes.max_tokens && name == kOldLimit) {
      object.field(name, *changes.max_tokens);
    } else if (JsonView(value).is(json::Kind::object)) {
      if (const std::string changed = changed_object(name, value, changes); !changed.empty()) {
        object.raw(name, changed);
      }
    } else {
      object.raw(name, value);
    }
  }
  object.close();
  return out;
}

std::vector<std::string> parameters_of(std::string_view head) {
  std::vector<std::string> out;
  for (const auto& [name, value] : members_of(head)) {
    if (JsonView(value).is(json::Kind::object)) {
      for (const auto& [inner, ignored] : members_of(value)) {
        out.push_back(cat(name, ".", inner));
      }
    }
    out.push_back(name);
  }
  return out;
}

bool blames_given(const RejectedBody& rejected) {
  const std::string answer = original_answer(rejected.answer);
  RejectedBody refused = rejected;
  refused.answer = answer;
  const std::string parameter = rejected_parameter(refused, reason_in(answer));
  return !parameter.empty() && holds_given(parameter, rejected.given);
}

std::set<std::string, std::less<>> droppable_parameters(
    std::string_view head, const std::set<std::string, std::less<>>& given) {
  constexpr std::string_view kStay[] = {"model",
                                        "stream",
                                        "store",
                                        "max_tokens",
                                        "max_completion_tokens",
                                        "system",
                                        "tools",
                                        "instructions",
                                        "response_format",
                                        "max_output_tokens",
                                        "tool_choice",
                                        "stop",
                                        "stop_sequences",
                                        "text",
                                        "previous_response_id"};
  std::set<std::string, std::less<>> out;
  for (const std::string& name : parameters_of(head)) {
    const std::string_view root = std::string_view(name).substr(0, name.find('.'));
    const bool stays = std::ranges::find(kStay, root) != std::end(kStay) ||
                       name == "output_config" || name == "output_config.format";
    if (!stays && !holds_given(name, given)) {
      out.insert(name);
    }
  }
  return out;
}

std::optional<RequestAdjustment> adjust(const BodyChanges& changes, const RejectedBody& rejected) {
  if (rejected.status != 400 && rejected.status != 422) {
    return std::nullopt;
  }
  const std::string answer = original_answer(rejected.answer);
  RejectedBody refused = rejected;
  refused.answer = answer;
  const std::string reason = reason_in(answer);
  RequestAdjustment adjustment{.changes = changes, .left_out = {}};
  if (refused.is_default_limit) {
    const std::int64_t limit = JsonView(refused.head)[kOldLimit].count();
    const auto maximum = named_maximum(reason, limit);
    if (maximum && *maximum < limit && changes.max_tokens != maximum) {
      adjustment.changes.max_tokens = maximum;
      return adjustment;
    }
  }
  const std::string code =
      is_json_object(refused.answer) ? JsonView(refused.answer)["error"]["code"].text() : "";
  const std::string parameter = rejected_parameter(refused, reason);
  // Reprise itself asks for encrypted reasoning.
  if (parameter != "include" && !is_unsupported(ascii_lower(code), ascii_lower(reason))) {
    return std::nullopt;
  }
  if (parameter == kOldLimit || parameter == kNewLimit) {
    if (refused.is_default_limit || changes.is_limit_renamed) {
      return std::nullopt;
    }
    adjustment.changes.is_limit_renamed = true;
    return adjustment;
  }
  const std::string_view root = std::string_view(parameter).substr(0, parameter.find('.'));
  const bool is_format = parameter == "output_config" || parameter.ends_with(".format");
  if (!is_optional(root) || is_format || changes.left_out.contains(parameter) ||
      holds_given(parameter, refused.given)) {
    return std::nullopt;
  }
  adjustment.changes.left_out.insert(parameter);
  adjustment.left_out = parameter == "include" ? "" : parameter;
  return adjustment;
}

}  // namespace reprise::provider
