#include <set>
#include <vector>

#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/json_value.h"
#include "fake_provider/openai_chat.h"
#include "fake_provider/protocol.h"
#include "reprise/error.h"

namespace reprise::fake {
namespace openai_chat {
namespace {

using enum Kind;
using enum Need;

// Checks the messages of one request.
class ChatMessages {
 public:
  explicit ChatMessages(Turn& turn) : turn_(turn) {}

  Result<> check(const Value& messages) {
    if (messages.items.empty()) {
      return refuse("messages: must not be empty");
    }
    for (std::size_t i = 0; i < messages.items.size(); ++i) {
      REPRISE_TRY(check_message(messages.items[i], cat("messages[", i, "]")));
    }
    turn_.messages = static_cast<std::int64_t>(messages.items.size());
    turn_.goes_on = last_role_ == "assistant";
    if (last_role_ == "system") {
      return refuse("messages: nothing but a system message");
    }
    return check_all_answered("the end");
  }

 private:
  Result<> check_message(const Value& message, const std::string& path) {
    const std::string& role = message.find("role").text;
    if (role != "tool") {
      REPRISE_TRY(check_all_answered(path));
    }
    if (role == last_role_ && role != "tool") {
      return refuse(cat(path, ": two ", role, " messages in a row; roles must alternate"));
    }
    const bool leads = last_role_.empty();
    if (role == "system" || role == "developer") {
      REPRISE_TRY(check_fields(message, path, {{"role"}, {"content", string, array, required}}));
      REPRISE_TRY(leads ? Result<>() : refuse(cat(path, ": a system message must be the first")));
      last_role_ = "system";
      std::string text;
      return read_content(message.find("content"), cat(path, ".content"), text);
    }
    last_role_ = role;
    if (role == "user") {
      return check_user(message, path);
    }
    if (role == "assistant") {
      return check_assistant(message, path);
    }
    if (role == "tool") {
      return check_result(message, path);
    }
    return refuse(cat(path, ".role: '", role, "' is not one of system, user, assistant, tool"));
  }

  Result<> check_user(const Value& message, const std::string& path) {
    REPRISE_TRY(
        check_fields(message, path, {{"role"}, {"name"}, {"content", string, array, required}}));
    std::string text;
    REPRISE_TRY(read_content(message.find("content"), cat(path, ".content"), text));
    turn_.question = std::move(text);
    turn_.rounds = 0;
    turn_.results.clear();
    return {};
  }

  Result<> check_assistant(const Value& message, const std::string& path) {
    REPRISE_TRY(check_fields(message, path,
                             {{"role"},
                              {"name"},
                              {"content", string, array, nullable},
                              {"refusal", string, none, nullable},
                              {"reasoning_content"},
                              {"tool_calls", array}}));
    const Value& calls = message.find("tool_calls");
    const Value& content = message.find("content");
    std::string text;
    if (!content.is(none) && !content.is(null)) {
      REPRISE_TRY(read_content(content, cat(path, ".content"), text));
    } else if (calls.is(none)) {
      return refuse(cat(path, ".content: required without tool_calls"));
    }
    if (calls.is(none)) {
      return {};
    }
    if (calls.items.empty()) {
      return refuse(cat(path, ".tool_calls: must not be empty"));
    }
    ++turn_.rounds;
    turn_.results.clear();
    for (std::size_t i = 0; i < calls.items.size(); ++i) {
      REPRISE_TRY(check_call(calls.items[i], cat(path, ".tool_calls[", i, "]")));
    }
    return {};
  }

  Result<> check_call(const Value& call, const std::string& path) {
    REPRISE_TRY(check_fields(call, path,
                             {{"id", string, none, required},
                              {"type", string, none, required},
                              {"index", number},
                              {"extra_content", object},
                              {"function", object, none, required}}));
    const Value& function = call.find("function");
    REPRISE_TRY(
        check_fields(function, cat(path, ".function"),
                     {{"name", string, none, required}, {"arguments", string, none, required}}));
    REPRISE_TRY(check_tool_name(function.find("name"), cat(path, ".function.name")));
    REPRISE_TRY(check_arguments(function.find("arguments"), cat(path, ".function.arguments")));
    if (call.find("type").text != "function") {
      return refuse(cat(path, ".type: should be function"));
    }
    const std::string& id = call.find("id").text;
    if (id.empty() || !seen_.insert(id).second) {
      return refuse(cat(path, ".id: '", id, "' is empty or was used before"));
    }
    open_.insert(id);
    return {};
  }

  Result<> check_result(const Value& message, const std::string& path) {
    REPRISE_TRY(check_fields(message, path,
                             {{"role"},
                              {"name"},
                              {"tool_call_id", string, none, required},
                              {"content", string, array, required}}));
    const std::string& id = message.find("tool_call_id").text;
    if (open_.erase(id) == 0) {
      return refuse(cat(path, ": the tool result for '", id,
                        "' answers no open tool call of the assistant message before it"));
    }
    std::string text;
    const Value& content = message.find("content");
    if (content.is(string)) {
      text = content.text;  // a tool's result may be empty
    } else {
      REPRISE_TRY(read_content(content, cat(path, ".content"), text));
    }
    turn_.results.push_back(std::move(text));
    return {};
  }

  Result<> check_all_answered(std::string_view before) {
    if (!open_.empty()) {
      return refuse(
          cat("an assistant message with tool_calls must be followed by tool messages "
              "responding to each tool_call_id; '",
              *open_.begin(), "' has none before ", before));
    }
    return {};
  }

  static Result<> read_content(const Value& content, const std::string& path, std::string& text) {
    if (content.is(string)) {
      text = content.text;
      return check_not_empty(content, path);
    }
    if (content.items.empty()) {
      return refuse(cat(path, ": must not be empty"));
    }
    for (std::size_t i = 0; i < content.items.size(); ++i) {
      REPRISE_TRY(read_part(content.items[i], cat(path, "[", i, "]"), text));
    }
    return {};
  }

  static Result<> read_part(const Value& part, const std::string& path, std::string& text) {
    const std::string& type = part.find("type").text;
    if (type == "text") {
      REPRISE_TRY(check_fields(part, path, {{"type"}, {"text", string, none, required}}));
      REPRISE_TRY(check_not_empty(part.find("text"), cat(path, ".text")));
      text += part.find("text").text;
      return {};
    }
    if (type == "image_url") {
      REPRISE_TRY(check_fields(part, path, {{"type"}, {"image_url", object, none, required}}));
      return check_fields(part.find("image_url"), cat(path, ".image_url"),
                          {{"url", string, none, required}, {"detail"}});
    }
    if (type == "file") {
      REPRISE_TRY(check_fields(part, path, {{"type"}, {"file", object, none, required}}));
      return check_fields(
          part.find("file"), cat(path, ".file"),
          {{"filename", string, none, required}, {"file_data", string, none, required}});
    }
    return refuse(cat(path, ".type: '", type, "' is not one of text, image_url, file"));
  }

  Turn& turn_;
  std::string last_role_;
  std::set<std::string> open_;  // calls without a result
  std::set<std::string> seen_;  // all calls
};

Result<> check_tools(const Value& tools, Turn& turn) {
  for (std::size_t i = 0; i < tools.items.size(); ++i) {
    const std::string path = cat("tools[", i, "]");
    const Value& tool = tools.items[i];
    REPRISE_TRY(check_fields(
        tool, path, {{"type", string, none, required}, {"function", object, none, required}}));
    const Value& function = tool.find("function");
    REPRISE_TRY(check_fields(function, cat(path, ".function"),
                             {{"name", string, none, required},
                              {"description"},
                              {"parameters", object},
                              {"strict", boolean}}));
    REPRISE_TRY(check_tool_name(function.find("name"), cat(path, ".function.name")));
    if (function.has("parameters")) {
      REPRISE_TRY(check_schema(function.find("parameters"), cat(path, ".function.parameters")));
    }
    turn.tools.push_back(function.find("name").text);
  }
  return tools.is(array) && tools.items.empty() ? refuse("tools: must not be empty") : Result<>();
}

Result<> check_format(const Value& format) {
  if (format.find("type").text != "json_schema") {
    return {};
  }
  REPRISE_TRY(
      check_fields(format, "response_format", {{"type"}, {"json_schema", object, none, required}}));
  return check_fields(format.find("json_schema"), "response_format.json_schema",
                      {{"name", string, none, required},
                       {"schema", object},
                       {"description"},
                       {"strict", boolean, none, nullable}});
}

Result<> check_numbers(const Value& body) {
  const double temperature = body.find("temperature").number();
  if (temperature < 0 || temperature > 2) {
    return refuse("temperature: should be from 0 to 2");
  }
  for (const std::string_view name : {"max_tokens", "max_completion_tokens"}) {
    if (body.find(name).is(number) && body.find(name).number() < 1) {
      return refuse(cat(name, ": should be 1 or more"));
    }
  }
  return {};
}

}  // namespace

Result<Turn> check(const Value& body) {
  REPRISE_TRY(check_fields(body, "",
                           {{"model", string, none, required},
                            {"messages", array, none, required},
                            {"stream", boolean, none, nullable},
                            {"stream_options", object, none, nullable},
                            {"temperature", number, none, nullable},
                            {"top_p", number, none, nullable},
                            {"max_tokens", number, none, nullable},
                            {"max_completion_tokens", number, none, nullable},
                            {"n", number},
                            {"stop", string, array, nullable},
                            {"tools", array},
                            {"tool_choice", string, object},
                            {"parallel_tool_calls", boolean},
                            {"reasoning_effort", string},
                            {"response_format", object},
                            {"seed", number},
                            {"service_tier", string},
                            {"prompt_cache_key", string},
                            {"store", boolean},
                            {"metadata", object},
                            {"user", string}}));
  Turn turn;
  turn.model = body.find("model").text;
  turn.stream = body.find("stream").is_true();
  turn.with_usage = !turn.stream || body.find("stream_options").find("include_usage").is_true();
  REPRISE_TRY(check_not_empty(body.find("model"), "model"));
  REPRISE_TRY(check_numbers(body));
  REPRISE_TRY(check_format(body.find("response_format")));
  if (body.has("tool_choice") && !body.has("tools")) {
    return refuse("tool_choice: only allowed when tools are specified");
  }
  if (body.find("stream_options").is(object) && !turn.stream) {
    return refuse("stream_options: only allowed when stream is true");
  }
  REPRISE_TRY(check_tools(body.find("tools"), turn));
  ChatMessages messages(turn);
  REPRISE_TRY(messages.check(body.find("messages")));
  return turn;
}

}  // namespace openai_chat
}  // namespace reprise::fake
