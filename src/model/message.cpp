#include "reprise/message.h"

#include <algorithm>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "model/fields.h"
#include "model/json_fields.h"

namespace reprise {
namespace {

constexpr std::string_view kOriginal = "original_base64";

// Reads the members that `fields` lists, all others as extra fields.
template <class Value>
Result<Value> value_from_json(const auto& fields, std::string_view json) {
  json::Scanner scanner(json);
  Value value;
  if (!model::read_fields(scanner, fields, value) || !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  return value;
}

}  // namespace

TextBlock text_block(std::string_view bytes) {
  if (utf8::is_valid(bytes)) {
    return {std::string(bytes), {}};
  }
  return {utf8::sanitize(bytes), {{std::string(kOriginal), RawJson::string(base64_encode(bytes))}}};
}

std::string plain_text(const Message& message) {
  std::string out;
  for (const Block& block : message.blocks) {
    if (const auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
      out += out.empty() ? "" : "\n\n";
      out += text->text;
    }
  }
  return out;
}

std::vector<const ToolUseBlock*> tool_calls(const Message& message) {
  std::vector<const ToolUseBlock*> calls;
  for (const Block& block : message.blocks) {
    if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
      calls.push_back(call);
    }
  }
  return calls;
}

bool is_injected(const Message& message) {
  return std::ranges::any_of(message.extra, [](const ExtraField& field) {
    return field.name == kInjectedField && field.value.text() == "true";
  });
}

bool is_question(const Message& message) {
  const auto is_result = [](const Block& block) {
    return std::holds_alternative<ToolResultBlock>(block);
  };
  return message.role == role::kUser && !std::ranges::all_of(message.blocks, is_result) &&
         !is_injected(message);
}

bool is_incomplete_after(const Message& last) {
  return last.state == MessageState::incomplete || last.role == role::kUser ||
         last.role == role::kTool || (last.role == role::kAssistant && !tool_calls(last).empty());
}

std::string usage_to_json(const Usage& usage) {
  std::string out;
  model::append_json(out, usage, model::JsonForm::stored);
  return out;
}

Result<Usage> usage_from_json(std::string_view json) {
  return value_from_json<Usage>(model::kUsageFields, json);
}

std::string message_to_json(const Message& message) {
  std::string out;
  model::append_json(out, message, model::JsonForm::stored);
  return out;
}

Result<Message> message_from_json(std::string_view json) {
  return value_from_json<Message>(model::kMessageFields, json);
}

}  // namespace reprise
