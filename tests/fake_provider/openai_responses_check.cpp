#include <cstddef>

#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/json_value.h"
#include "fake_provider/openai_responses.h"
#include "fake_provider/protocol.h"
#include "reprise/error.h"

namespace reprise::fake {
namespace openai_responses {
namespace {

using enum Kind;
using enum Need;

// Checks the input items of one request.
class InputItems {
 public:
  InputItems(Chain& chain, const Issued& issued, bool has_instructions)
      : chain_(chain), issued_(issued), has_system_(has_instructions) {}

  Result<> check(const Value& input) {
    chain_.turn.goes_on = false;
    if (input.is(string)) {
      REPRISE_TRY(check_not_empty(input, "input"));
      ++chain_.turn.messages;
      ask(input.text);
      return check_all_answered();
    }
    if (input.items.empty()) {
      return refuse("input: must not be empty");
    }
    for (std::size_t i = 0; i < input.items.size(); ++i) {
      REPRISE_TRY(check_item(input.items[i], cat("input[", i, "]")));
    }
    if (!reasoning_.empty()) {
      return refuse(cat("item '", reasoning_, "' of type 'reasoning' was provided without its ",
                        "required following item"));
    }
    return check_all_answered();
  }

 private:
  Result<> check_item(const Value& item, const std::string& path) {
    const std::string& type = item.find("type").text;
    const bool message = type == "message" || (type.empty() && item.has("role"));
    const bool from_model = type == "function_call" || type == "reasoning" ||
                            (message && item.find("role").text == "assistant");
    if (!reasoning_.empty() && !from_model) {
      return refuse(cat("item '", reasoning_, "' of type 'reasoning' was provided without its ",
                        "required following item"));
    }
    reasoning_.clear();
    chain_.turn.goes_on = message && from_model;
    if (type != "reasoning") {
      ++chain_.turn.messages;
    }
    if (message) {
      return check_message(item, path);
    }
    if (type == "function_call") {
      return check_call(item, path);
    }
    if (type == "function_call_output") {
      return check_result(item, path);
    }
    if (type == "reasoning") {
      return check_reasoning(item, path);
    }
    return refuse(cat(path, ".type: '", type, "' is not one of message, function_call, ",
                      "function_call_output, reasoning"));
  }

  Result<> check_message(const Value& item, const std::string& path) {
    REPRISE_TRY(check_fields(item, path,
                             {{"type"},
                              {"id"},
                              {"status"},
                              {"role", string, none, required},
                              {"content", string, array, required}}));
    const std::string& role = item.find("role").text;
    if (role != "user" && role != "assistant" && role != "system" && role != "developer") {
      return refuse(cat(path, ".role: '", role, "' is not one of user, assistant, system"));
    }
    const bool leads = chain_.turn.messages == 1;
    if (role == "system" || role == "developer") {
      if (has_system_ || !leads) {
        return refuse(cat(path,
                          ": a system message must be the first, and the only one beside "
                          "instructions"));
      }
      has_system_ = true;
    }
    std::string text;
    REPRISE_TRY(read_content(item.find("content"), cat(path, ".content"), role, text));
    if (role == "user") {
      ask(std::move(text));
    }
    return {};
  }

  static Result<> read_content(const Value& content, const std::string& path, std::string_view role,
                               std::string& text) {
    if (content.is(string)) {
      text = content.text;
      return check_not_empty(content, path);
    }
    if (content.items.empty()) {
      return refuse(cat(path, ": must not be empty"));
    }
    for (std::size_t i = 0; i < content.items.size(); ++i) {
      REPRISE_TRY(read_part(content.items[i], cat(path, "[", i, "]"), role, text));
    }
    return {};
  }

  static Result<> read_part(const Value& part, const std::string& path, std::string_view role,
                            std::string& text) {
    const std::string& type = part.find("type").text;
    const bool from_model = role == "assistant";
    if (type == (from_model ? "output_text" : "input_text")) {
      REPRISE_TRY(check_fields(part, path,
                               {{"type"},
                                {"text", string, none, required},
                                {"annotations", array},
                                {"logprobs", array}}));
      REPRISE_TRY(check_not_empty(part.find("text"), cat(path, ".text")));
      text += part.find("text").text;
      return {};
    }
    if (type == "input_image" && !from_model) {
      return check_fields(part, path,
                          {{"type"}, {"image_url", string, none, required}, {"detail"}});
    }
    if (type == "input_file" && !from_model) {
      REPRISE_TRY(check_fields(part, path, {{"type"}, {"filename"}, {"file_data"}, {"file_url"}}));
      return part.has("file_url") != (part.has("file_data") && part.has("filename"))
                 ? Result<>()
                 : refuse(cat(path, ": one of file_url, or file_data with filename, is required"));
    }
    return refuse(cat(path, ".type: '", type, "' does not fit the role ", role));
  }

  Result<> check_call(const Value& item, const std::string& path) {
    REPRISE_TRY(check_fields(item, path,
                             {{"type"},
                              {"id"},
                              {"status"},
                              {"call_id", string, none, required},
                              {"name", string, none, required},
                              {"arguments", string, none, required}}));
    REPRISE_TRY(check_tool_name(item.find("name"), cat(path, ".name")));
    REPRISE_TRY(check_arguments(item.find("arguments"), cat(path, ".arguments")));
    const std::string& id = item.find("call_id").text;
    if (id.empty() || id.size() > 64 || !chain_.seen.insert(id).second) {
      return refuse(cat(path, ".call_id: '", id, "' is empty, longer than 64, or was used before"));
    }
    if (chain_.open.empty()) {
      ++chain_.turn.rounds;
      chain_.turn.results.clear();
    }
    chain_.open.insert(id);
    return {};
  }

  Result<> check_result(const Value& item, const std::string& path) {
    REPRISE_TRY(check_fields(item, path,
                             {{"type"},
                              {"id"},
                              {"status"},
                              {"call_id", string, none, required},
                              {"output", string, array, required}}));
    const std::string& id = item.find("call_id").text;
    if (chain_.open.erase(id) == 0) {
      return refuse(cat("no tool call found for function call output with call_id ", id));
    }
    const Value& output = item.find("output");
    std::string text = output.is(string) ? output.text : "";
    if (output.is(array)) {
      REPRISE_TRY(read_content(output, cat(path, ".output"), "user", text));
    }
    chain_.turn.results.push_back(std::move(text));
    return {};
  }

  Result<> check_reasoning(const Value& item, const std::string& path) {
    REPRISE_TRY(check_fields(item, path,
                             {{"type"},
                              {"id", string, none, required},
                              {"status", string, none, nullable},
                              {"summary", array, none, required},
                              {"content", array, none, nullable},
                              {"encrypted_content", string, none, nullable}}));
    const std::string& id = item.find("id").text;
    std::string text;
    for (const Value& part : item.find("summary").items) {
      REPRISE_TRY(
          check_fields(part, cat(path, ".summary"),
                       {{"type", string, none, required}, {"text", string, none, required}}));
      text += part.find("text").text;
    }
    const Value& proof = item.find("encrypted_content");
    if (proof.is(string) && proof.text != sign(text, issued_.seed)) {
      return refuse(cat("the encrypted content for item ", id, " could not be verified"));
    }
    if (!proof.is(string) && !issued_.reasoning.contains(id)) {
      return refuse(cat("item with id '", id, "' not found"));
    }
    reasoning_ = id;
    return {};
  }

  Result<> check_all_answered() const {
    if (!chain_.open.empty()) {
      return refuse(cat("no tool output found for function call ", *chain_.open.begin()));
    }
    return {};
  }

  void ask(std::string text) {
    if (!text.empty()) {
      chain_.turn.question = std::move(text);
    }
    chain_.turn.rounds = 0;
    chain_.turn.results.clear();
  }

  Chain& chain_;
  const Issued& issued_;
  bool has_system_;
  std::string reasoning_;  // the id of a reasoning item that must be followed by another item
};

Result<> check_tools(const Value& tools, Turn& turn) {
  turn.tools.clear();
  for (std::size_t i = 0; i < tools.items.size(); ++i) {
    const std::string path = cat("tools[", i, "]");
    const Value& tool = tools.items[i];
    REPRISE_TRY(check_fields(tool, path,
                             {{"type", string, none, required},
                              {"name", string, none, required},
                              {"description", string, none, nullable},
                              {"parameters", object, none, required},
                              {"strict", boolean, none, nullable}}));
    if (tool.find("type").text != "function") {
      return refuse(cat(path, ".type: should be function"));
    }
    REPRISE_TRY(check_tool_name(tool.find("name"), cat(path, ".name")));
    REPRISE_TRY(check_schema(tool.find("parameters"), cat(path, ".parameters")));
    turn.tools.push_back(tool.find("name").text);
  }
  return {};
}

Result<> check_wishes(const Value& body) {
  if (const Value& reasoning = body.find("reasoning"); reasoning.is(object)) {
    REPRISE_TRY(
        check_fields(reasoning, "reasoning",
                     {{"effort", string, none, nullable}, {"summary", string, none, nullable}}));
  }
  const Value& format = body.find("text").find("format");
  if (format.find("type").text == "json_schema") {
    REPRISE_TRY(check_fields(format, "text.format",
                             {{"type"},
                              {"name", string, none, required},
                              {"schema", object, none, required},
                              {"description"},
                              {"strict", boolean, none, nullable}}));
  }
  if (body.has("tool_choice") && body.find("tools").items.empty()) {
    return refuse("tool_choice: only allowed when tools are specified");
  }
  return {};
}

Result<> check_numbers(const Value& body) {
  const double temperature = body.find("temperature").number();
  if (temperature < 0 || temperature > 2) {
    return refuse("temperature: should be from 0 to 2");
  }
  const Value& tokens = body.find("max_output_tokens");
  if (tokens.is(number) && tokens.number() < 16) {
    return refuse("max_output_tokens: should be 16 or more");
  }
  return {};
}

Result<bool> wants_encrypted_reasoning(const Value& include) {
  bool out = false;
  for (const Value& wish : include.items) {
    if (wish.text != "reasoning.encrypted_content") {
      return refuse(cat("include: unknown value '", wish.text, "'"));
    }
    out = true;
  }
  return out;
}

}  // namespace

Result<> check(const Value& body, const Issued& issued, Chain& chain) {
  REPRISE_TRY(check_fields(body, "",
                           {{"model", string, none, required},
                            {"input", string, array, required},
                            {"instructions", string, none, nullable},
                            {"previous_response_id", string, none, nullable},
                            {"stream", boolean, none, nullable},
                            {"store", boolean, none, nullable},
                            {"include", array, none, nullable},
                            {"temperature", number, none, nullable},
                            {"top_p", number, none, nullable},
                            {"max_output_tokens", number, none, nullable},
                            {"tools", array},
                            {"tool_choice", string, object},
                            {"parallel_tool_calls", boolean, none, nullable},
                            {"reasoning", object, none, nullable},
                            {"text", object},
                            {"metadata", object, none, nullable},
                            {"truncation", string, none, nullable},
                            {"service_tier", string, none, nullable},
                            {"prompt_cache_key", string},
                            {"user", string}}));
  REPRISE_TRY(check_not_empty(body.find("model"), "model"));
  const Value& instructions = body.find("instructions");
  if (instructions.is(string)) {
    REPRISE_TRY(check_not_empty(instructions, "instructions"));
  }
  REPRISE_TRY(check_numbers(body));
  REPRISE_TRY(check_wishes(body));
  REPRISE_TRY(check_tools(body.find("tools"), chain.turn));
  REPRISE_ASSIGN(chain.turn.shows_proof, wants_encrypted_reasoning(body.find("include")));
  chain.turn.model = body.find("model").text;
  chain.turn.stream = body.find("stream").is_true();
  InputItems items(chain, issued, instructions.is(string));
  return items.check(body.find("input"));
}

}  // namespace openai_responses
}  // namespace reprise::fake
