#include "fake_provider/behaviour.h"

#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <system_error>

#include "base/text.h"
#include "reprise/error.h"

namespace reprise::fake {
namespace {

std::optional<int> number_in(std::string_view text) {
  int out = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (code != std::errc{} || end != text.data() + text.size() || out < 0) {
    return std::nullopt;
  }
  return out;
}

using Flag = bool Behaviour::*;
using Number = int Behaviour::*;
using Count = std::optional<int> Behaviour::*;
using Size = std::size_t Behaviour::*;

const std::map<std::string_view, Flag>& flags() {
  static const std::map<std::string_view, Flag> table = {
      {"html", &Behaviour::html},
      {"echo_key", &Behaviour::echo_key},
      {"expired", &Behaviour::expired},
      {"garbage", &Behaviour::garbage},
      {"plain", &Behaviour::plain},
      {"silent", &Behaviour::silent},
      {"drop", &Behaviour::drop},
      {"no_end", &Behaviour::no_end},
      {"no_done", &Behaviour::no_done},
      {"crlf", &Behaviour::crlf},
      {"comments", &Behaviour::comments},
      {"until_close", &Behaviour::until_close},
      {"bad_input", &Behaviour::bad_input},
      {"no_previous", &Behaviour::no_previous},
      {"ignore_previous", &Behaviour::ignore_previous},
      {"no_store", &Behaviour::no_store},
      {"typed_items", &Behaviour::typed_items},
      {"no_include", &Behaviour::no_include},
      {"wants_reasoning", &Behaviour::wants_reasoning},
      {"nine_letters", &Behaviour::nine_letters},
      {"no_user_after_tool", &Behaviour::no_user_after_tool},
      {"no_marks", &Behaviour::no_marks},
      {"say_key", &Behaviour::say_key},
      {"gone", &Behaviour::gone},
      {"no_images", &Behaviour::no_images}};
  return table;
}

const std::map<std::string_view, Number>& numbers() {
  static const std::map<std::string_view, Number> table = {{"slow", &Behaviour::slow_ms},
                                                           {"status", &Behaviour::status},
                                                           {"first", &Behaviour::first},
                                                           {"every", &Behaviour::every},
                                                           {"chance", &Behaviour::chance}};
  return table;
}

const std::map<std::string_view, Count>& counts() {
  static const std::map<std::string_view, Count> table = {{"cut", &Behaviour::cut},
                                                          {"cut_char", &Behaviour::cut_char},
                                                          {"hang", &Behaviour::hang},
                                                          {"too_long", &Behaviour::too_long},
                                                          {"overloaded", &Behaviour::overloaded},
                                                          {"retry_after", &Behaviour::retry_after}};
  return table;
}

const std::map<std::string_view, Size>& sizes() {
  static const std::map<std::string_view, Size> table = {{"drip", &Behaviour::drip},
                                                         {"huge", &Behaviour::huge}};
  return table;
}

bool set_number(Behaviour& out, std::string_view name, int number) {
  if (const auto found = numbers().find(name); found != numbers().end()) {
    out.*found->second = number;
  } else if (const auto count = counts().find(name); count != counts().end()) {
    out.*count->second = number;
  } else if (const auto size = sizes().find(name); size != sizes().end()) {
    out.*size->second = static_cast<std::size_t>(number);
  } else {
    return false;
  }
  return true;
}

bool set_word(Behaviour& out, std::string_view word) {
  const auto equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
  if (name == "tag") {
    out.tag = value;
    return true;
  }
  if (name == "refuse") {
    out.refuse = value;
    return !value.empty();
  }
  if (name == "replay") {
    out.replay = value;
    return !value.empty();
  }
  if (name == "ends") {
    out.ends = value;
    return !value.empty();
  }
  if (name == "endless") {
    out.endless = value;
    return value == "delta" || value == "comment" || value == "line";
  }
  if (const auto found = flags().find(name); found != flags().end() && value.empty()) {
    out.*found->second = true;
    return true;
  }
  if (const auto status = number_in(name); status && *status >= 400 && *status < 600) {
    out.status = *status;  // "500", or "429=2" with the retry-after
    out.retry_after = number_in(value);
    return value.empty() || out.retry_after.has_value();
  }
  const auto number = number_in(value);
  return number && set_number(out, name, *number);
}

// A script has a line for each rule: "\\n" stands for a line end.
std::string with_line_ends(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_end = text.substr(at, 2) == "\\n";
    out += is_end ? '\n' : text[at];
    at += is_end ? 1U : 0U;
  }
  return out;
}

}  // namespace

Result<Behaviour> parse_behaviour(std::string_view text) {
  Behaviour out;
  while (!trimmed(text).empty()) {
    const auto comma = text.find(',');
    const std::string_view word = trimmed(text.substr(0, comma));
    if (!set_word(out, word)) {
      return fail(Code::invalid_argument, cat("no such behaviour: ", word));
    }
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return out;
}

Result<std::optional<Rule>> parse_rule(std::string_view line) {
  line = trimmed(line);
  if (line.empty() || line.starts_with('#')) {
    return std::optional<Rule>();
  }
  const auto arrow = line.find("=>");
  if (arrow == std::string_view::npos) {
    return fail(Code::invalid_argument, cat("no => in the script line: ", line));
  }
  const std::string_view left = trimmed(line.substr(0, arrow));
  const std::string_view right = trimmed(line.substr(arrow + 2));
  const auto blank = left.find(' ');
  Rule rule;
  rule.when = left.substr(0, blank);
  rule.which = blank == std::string_view::npos ? "" : trimmed(left.substr(blank));
  if (rule.when == "reply") {
    rule.reply = with_line_ends(right);
    return rule;
  }
  if (rule.when != "request" && rule.when != "text" && rule.when != "path" &&
      rule.when != "always") {
    return fail(Code::invalid_argument, cat("a script line begins with request, text, path, "
                                            "always or reply, not with ",
                                            rule.when));
  }
  REPRISE_ASSIGN(rule.behaviour, parse_behaviour(right));
  return rule;
}

bool Script::is_due(const Behaviour& behaviour, const std::string& counter) {
  const int times = ++seen_[counter];
  if (behaviour.first > 0 && times > behaviour.first) {
    return false;
  }
  if (behaviour.every > 0 && times % behaviour.every != 0) {
    return false;
  }
  return behaviour.chance <= 0 || static_cast<int>(random_() % 100) < behaviour.chance;
}

Result<Choice> Script::choose(const Occasion& occasion) {
  const auto matches = [&](const Rule& rule) {
    if (rule.when == "request") {
      return number_in(rule.which) == static_cast<int>(occasion.number);
    }
    if (rule.when == "path") {
      return occasion.path.find(rule.which) != std::string_view::npos;
    }
    return rule.when == "always" || occasion.question.find(rule.which) != std::string_view::npos;
  };
  constexpr std::string_view kPrefix = "fake:";
  Choice out;
  bool chosen = false;
  if (const auto at = occasion.model.find(kPrefix); at != std::string_view::npos) {
    REPRISE_ASSIGN(out.behaviour, parse_behaviour(occasion.model.substr(at + kPrefix.size())));
    chosen = is_due(out.behaviour, std::string(occasion.model));
  }
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = rules_[i];
    if (!matches(rule)) {
      continue;
    }
    if (rule.reply && !out.reply) {
      out.reply = rule.reply;
    } else if (!rule.reply && !chosen && is_due(rule.behaviour, cat("rule ", i))) {
      out.behaviour = rule.behaviour;
      chosen = true;
    }
  }
  if (!chosen) {
    out.behaviour = {};
  }
  return out;
}

}  // namespace reprise::fake
