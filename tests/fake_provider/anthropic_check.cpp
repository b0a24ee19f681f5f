#include <algorithm>
#include <cstddef>
#include <set>

#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/anthropic.h"
#include "fake_provider/json_value.h"
#include "fake_provider/protocol.h"
#include "reprise/error.h"

namespace reprise::fake {
namespace anthropic {
namespace {

using enum Kind;
using enum Need;

Result<> check_text(const Value& block, const std::string& path) {
  REPRISE_TRY(check_fields(
      block, path,
      {{"type"}, {"text", string, none, required}, {"cache_control", object, none, nullable}}));
  return check_not_empty(block.find("text"), cat(path, ".text"));
}

Result<> check_image(const Value& block, const std::string& path) {
  REPRISE_TRY(check_fields(
      block, path,
      {{"type"}, {"source", object, none, required}, {"cache_control", object, none, nullable}}));
  const Value& source = block.find("source");
  if (source.find("type").text == "url") {
    return check_fields(source, cat(path, ".source"), {{"type"}, {"url", string, none, required}});
  }
  return check_fields(source, cat(path, ".source"),
                      {{"type", string, none, required},
                       {"media_type", string, none, required},
                       {"data", string, none, required}});
}

// Checks the messages of one request.
class AnthropicMessages {
 public:
  AnthropicMessages(Turn& turn, std::uint64_t seed) : turn_(turn), seed_(seed) {}

  Result<> check(const Value& messages) {
    if (messages.items.empty()) {
      return refuse("messages: at least one message is required");
    }
    for (std::size_t i = 0; i < messages.items.size(); ++i) {
      REPRISE_TRY(check_message(messages.items[i], cat("messages.", i), i % 2 == 0));
    }
    turn_.messages = static_cast<std::int64_t>(messages.items.size());
    turn_.goes_on = messages.items.back().find("role").text == "assistant";
    if (turn_.goes_on && !last_text_.empty() && trimmed(last_text_).back() != last_text_.back()) {
      return refuse("messages: final assistant content cannot end with trailing whitespace");
    }
    if (turn_.thinks && turn_.rounds > 0 && !last_answer_thought_) {
      return refuse(
          "messages: when `thinking` is enabled, an assistant message with tool calls must start "
          "with a thinking block");
    }
    REPRISE_TRY(check_all_answered("the end"));
    if (!seen_.empty() && turn_.tools.empty()) {
      return refuse("tools: requests which include `tool_use` blocks must define tools");
    }
    return {};
  }

 private:
  Result<> check_message(const Value& message, const std::string& path, bool from_user) {
    REPRISE_TRY(check_fields(
        message, path, {{"role", string, none, required}, {"content", string, array, required}}));
    const std::string& role = message.find("role").text;
    if (role != "user" && role != "assistant") {
      return refuse(cat(path, ".role: '", role, "' is not one of user, assistant"));
    }
    if ((role == "user") != from_user) {
      return refuse(cat(path, ": roles must alternate between user and assistant, user first"));
    }
    const Value& content = message.find("content");
    if (content.is(array) && content.items.empty()) {
      return refuse(cat(path, ".content: must not be empty"));
    }
    return from_user ? check_user(content, path) : check_assistant(content, path);
  }

  Result<> check_user(const Value& content, const std::string& path) {
    std::string text;
    if (content.is(string)) {
      REPRISE_TRY(check_not_empty(content, cat(path, ".content")));
      text = content.text;
    }
    turn_.results.clear();
    bool has_others = false;
    for (std::size_t i = 0; i < content.items.size(); ++i) {
      const Value& block = content.items[i];
      const std::string at = cat(path, ".content.", i);
      const std::string& type = block.find("type").text;
      if (type == "tool_result") {
        if (has_others) {
          return refuse(cat(at, ": `tool_result` blocks must come first"));
        }
        REPRISE_TRY(check_result(block, at));
        continue;
      }
      has_others = true;
      if (type == "text") {
        REPRISE_TRY(check_text(block, at));
        text += block.find("text").text;
      } else if (type == "image" || type == "document") {
        REPRISE_TRY(check_image(block, at));
      } else {
        return refuse(cat(at, ".type: '", type, "' cannot stand in a user message"));
      }
    }
    REPRISE_TRY(check_all_answered(path));
    if (!text.empty()) {
      if (!turn_.searches.empty()) {
        return refuse(cat(path, ": `server_tool_use` without its result before a user message"));
      }
      turn_.question = std::move(text);
      turn_.rounds = 0;
      turn_.pauses = 0;
      turn_.results.clear();
    }
    return {};
  }

  Result<> check_result(const Value& block, const std::string& path) {
    REPRISE_TRY(check_fields(block, path,
                             {{"type"},
                              {"tool_use_id", string, none, required},
                              {"content", string, array},
                              {"is_error", boolean},
                              {"cache_control", object, none, nullable}}));
    const std::string& id = block.find("tool_use_id").text;
    if (open_.erase(id) == 0) {
      return refuse(cat(path, ": unexpected `tool_use_id` found in `tool_result` blocks: ", id,
                        ". Each `tool_result` block must have a corresponding `tool_use` block in "
                        "the previous message"));
    }
    const Value& content = block.find("content");
    std::string text = content.is(string) ? content.text : "";
    for (std::size_t i = 0; i < content.items.size(); ++i) {
      const Value& part = content.items[i];
      const std::string at = cat(path, ".content.", i);
      const bool image = part.find("type").text == "image";
      REPRISE_TRY(image ? check_image(part, at) : check_text(part, at));
      text += part.find("text").text;
    }
    turn_.results.push_back(std::move(text));
    return {};
  }

  Result<> check_assistant(const Value& content, const std::string& path) {
    last_text_.clear();
    last_answer_thought_ = false;
    if (content.is(string)) {
      last_text_ = content.text;
      return check_not_empty(content, cat(path, ".content"));
    }
    bool calls = false;
    for (std::size_t i = 0; i < content.items.size(); ++i) {
      const Value& block = content.items[i];
      const std::string at = cat(path, ".content.", i);
      const std::string& type = block.find("type").text;
      last_text_.clear();
      if (type == "text") {
        REPRISE_TRY(check_text(block, at));
        last_text_ = block.find("text").text;
      } else if (type == "tool_use") {
        REPRISE_TRY(check_call(block, at));
        calls = true;
      } else if (type == "thinking") {
        REPRISE_TRY(check_thinking(block, at));
        last_answer_thought_ = last_answer_thought_ || i == 0;
      } else if (type == "server_tool_use") {
        REPRISE_TRY(check_search(block, at));
      } else if (type == "web_search_tool_result") {
        REPRISE_TRY(check_found(block, at));
      } else {
        return refuse(cat(at, ".type: '", type, "' cannot stand in an assistant message"));
      }
    }
    if (content.items.back().find("type").text == "thinking") {
      return refuse(cat(path, ": the final block in an assistant message cannot be `thinking`"));
    }
    turn_.rounds += calls ? 1 : 0;
    return {};
  }

  // A call of the provider's own tool, sent back unchanged.
  Result<> check_search(const Value& block, const std::string& path) {
    REPRISE_TRY(check_fields(block, path,
                             {{"type"},
                              {"id", string, none, required},
                              {"name", string, none, required},
                              {"input", object, none, required}}));
    if (block.find("input").find("query").text != "x") {
      return refuse(cat(path, ".input: is not what it was"));
    }
    turn_.searches.push_back(block.find("id").text);
    ++turn_.pauses;
    return {};
  }

  Result<> check_found(const Value& block, const std::string& path) {
    REPRISE_TRY(check_fields(
        block, path,
        {{"type"}, {"tool_use_id", string, none, required}, {"content", array, none, required}}));
    if (std::erase(turn_.searches, block.find("tool_use_id").text) == 0) {
      return refuse(cat(path, ": a result without its `server_tool_use`"));
    }
    return {};
  }

  Result<> check_call(const Value& block, const std::string& path) {
    REPRISE_TRY(check_fields(block, path,
                             {{"type"},
                              {"id", string, none, required},
                              {"name", string, none, required},
                              {"input", object, none, required},
                              {"cache_control", object, none, nullable}}));
    REPRISE_TRY(check_tool_name(block.find("name"), cat(path, ".name")));
    const std::string& id = block.find("id").text;
    const bool good = !id.empty() && std::ranges::all_of(id, [](char c) {
      return is_ascii_alnum(c) || c == '_' || c == '-';
    });
    if (!good) {
      return refuse(cat(path, ".id: should match ^[a-zA-Z0-9_-]+$"));
    }
    if (!seen_.insert(id).second) {
      return refuse(cat(path, ": `tool_use` ids must be unique: ", id));
    }
    open_.insert(id);
    return {};
  }

  Result<> check_thinking(const Value& block, const std::string& path) const {
    REPRISE_TRY(check_fields(
        block, path,
        {{"type"}, {"thinking", string, none, required}, {"signature", string, none, required}}));
    if (block.find("signature").text != sign(block.find("thinking").text, seed_)) {
      return refuse(cat(path, ": invalid `signature` in `thinking` block"));
    }
    return {};
  }

  Result<> check_all_answered(std::string_view before) const {
    if (!open_.empty()) {
      return refuse(cat(before,
                        ": `tool_use` ids were found without `tool_result` blocks "
                        "immediately after: ",
                        *open_.begin()));
    }
    return {};
  }

  Turn& turn_;
  std::uint64_t seed_;
  std::set<std::string> open_;  // calls without a result
  std::set<std::string> seen_;  // all calls
  std::string last_text_;       // if the last message ends with one
  bool last_answer_thought_ = false;
};

Result<> check_system(const Value& system) {
  if (system.is(string)) {
    return check_not_empty(system, "system");
  }
  for (std::size_t i = 0; i < system.items.size(); ++i) {
    if (system.items[i].find("type").text != "text") {
      return refuse(cat("system.", i, ".type: should be text"));
    }
    REPRISE_TRY(check_text(system.items[i], cat("system.", i)));
  }
  return {};
}

Result<> check_tools(const Value& tools, Turn& turn) {
  for (std::size_t i = 0; i < tools.items.size(); ++i) {
    const std::string path = cat("tools.", i);
    const Value& tool = tools.items[i];
    REPRISE_TRY(check_fields(tool, path,
                             {{"name", string, none, required},
                              {"type"},
                              {"description"},
                              {"input_schema", object, none, required},
                              {"cache_control", object, none, nullable}}));
    REPRISE_TRY(check_tool_name(tool.find("name"), cat(path, ".name")));
    REPRISE_TRY(check_schema(tool.find("input_schema"), cat(path, ".input_schema")));
    turn.tools.push_back(tool.find("name").text);
  }
  return {};
}

Result<> check_numbers(const Value& body) {
  const double temperature = body.find("temperature").number();
  if (temperature < 0 || temperature > 1) {
    return refuse("temperature: should be from 0 to 1");
  }
  if (body.find("max_tokens").number() < 1) {
    return refuse("max_tokens: should be 1 or more");
  }
  return {};
}

constexpr int kMarksMax = 4;

int marks_in(const Value& value) {
  int marks = 0;
  for (const Member& member : value.members) {
    marks += member.name == "cache_control" ? 1 : marks_in(member.value);
  }
  for (const Value& item : value.items) {
    marks += marks_in(item);
  }
  return marks;
}

Result<> check_output_wish(const Value& wish) {
  if (wish.is(none)) {
    return {};
  }
  REPRISE_TRY(check_fields(wish, "output_config", {{"effort"}, {"format", object}}));
  const std::string& effort = wish.find("effort").text;
  if (wish.has("effort") && effort != "low" && effort != "medium" && effort != "high" &&
      effort != "xhigh" && effort != "max") {
    return refuse(cat("output_config.effort: '", effort, "' is not one of low, medium, high, ",
                      "xhigh, max"));
  }
  const Value& format = wish.find("format");
  if (format.is(none)) {
    return {};
  }
  return check_fields(format, "output_config.format",
                      {{"type", string, none, required}, {"schema", object, none, required}});
}

Result<> check_choice(const Value& body) {
  if (!body.has("tool_choice")) {
    return {};
  }
  if (!body.has("tools")) {
    return refuse("tool_choice: may only be specified while providing tools");
  }
  const std::string& type = body.find("tool_choice").find("type").text;
  if (type != "auto" && type != "any" && type != "none" && type != "tool") {
    return refuse(cat("tool_choice.type: '", type, "' is not one of auto, any, none, tool"));
  }
  return {};
}

Result<> check_thinking_wish(const Value& body, Turn& turn) {
  const Value& wish = body.find("thinking");
  if (wish.is(none)) {
    return {};
  }
  REPRISE_TRY(check_fields(wish, "thinking",
                           {{"type", string, none, required},
                            {"budget_tokens", number},
                            {"display", string, none, nullable}}));
  turn.thinks = wish.find("type").text == "enabled";
  const double budget = wish.find("budget_tokens").number();
  if (turn.thinks && (budget < 1024 || budget >= body.find("max_tokens").number())) {
    return refuse("thinking.budget_tokens: should be 1024 or more and less than max_tokens");
  }
  if (turn.thinks && body.has("temperature") && body.find("temperature").number() < 1) {
    return refuse("temperature: may only be 1 when thinking is enabled");
  }
  return {};
}

}  // namespace

Result<Turn> check(const Value& body, std::uint64_t seed) {
  REPRISE_TRY(check_fields(body, "",
                           {{"model", string, none, required},
                            {"max_tokens", number, none, required},
                            {"messages", array, none, required},
                            {"system", string, array},
                            {"stream", boolean},
                            {"temperature", number},
                            {"top_p", number},
                            {"top_k", number},
                            {"stop_sequences", array},
                            {"tools", array},
                            {"tool_choice", object},
                            {"thinking", object},
                            {"output_config", object},
                            {"service_tier", string},
                            {"metadata", object}}));
  Turn turn;
  turn.model = body.find("model").text;
  turn.stream = body.find("stream").is_true();
  REPRISE_TRY(check_not_empty(body.find("model"), "model"));
  REPRISE_TRY(check_numbers(body));
  REPRISE_TRY(check_thinking_wish(body, turn));
  REPRISE_TRY(check_output_wish(body.find("output_config")));
  REPRISE_TRY(check_choice(body));
  turn.caches = marks_in(body) > 0;
  if (marks_in(body) > kMarksMax) {
    return refuse("a maximum of 4 blocks with cache_control may be provided");
  }
  REPRISE_TRY(check_system(body.find("system")));
  REPRISE_TRY(check_tools(body.find("tools"), turn));
  AnthropicMessages messages(turn, seed);
  REPRISE_TRY(messages.check(body.find("messages")));
  if (turn.rounds > 0 && turn.tools.empty()) {
    return refuse("tools: requests with `tool_use` blocks must define tools");
  }
  if (body.find("tool_choice").find("type").text == "none") {
    turn.tools.clear();  // declared, but not to be called
  }
  return turn;
}

}  // namespace anthropic
}  // namespace reprise::fake
