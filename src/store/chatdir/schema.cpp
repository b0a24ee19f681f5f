#include <algorithm>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "reprise/message.h"
#include "store/chatdir/line.h"

namespace reprise::store::chatdir {
namespace {

constexpr std::string_view kToolName = "toolName";
constexpr std::string_view kOutput = "output";
constexpr std::string_view kUnknownTool = "unknown";  // for a result without its call

template <class Kind>
bool is(const Block& block) {
  return std::holds_alternative<Kind>(block);
}

json::Kind kind_of(std::string_view json) {
  return json::Scanner(json).kind();
}

bool is_text(const RawJson* field) {
  return field != nullptr && kind_of(field->text()) == json::Kind::string;
}

bool is_text_member(std::string_view object, std::string_view name) {
  return kind_of(json::find_member(object, name)) == json::Kind::string;
}

bool is_accepted_output(std::string_view json) {
  if (kind_of(json) != json::Kind::object) {
    return false;
  }
  const std::string_view type = json::find_member(json, "type");
  const std::string_view value = json::find_member(json, "value");
  if (type == R"("text")" || type == R"("error-text")") {
    return kind_of(value) == json::Kind::string;
  }
  if (type == R"("content")") {
    return kind_of(value) == json::Kind::array;
  }
  return (type == R"("json")" || type == R"("error-json")") && !value.empty();
}

bool is_accepted_result(const ToolResultBlock& block) {
  const RawJson* const output = json::find_field(block.extra, kOutput);
  const bool is_written = output == nullptr && json::find_field(block.extra, "result") == nullptr;
  return is_text(json::find_field(block.extra, kToolName)) &&
         (is_written || (output != nullptr && is_accepted_output(output->text())));
}

bool is_file(const Block& block) {
  const auto* const unknown = std::get_if<UnknownBlock>(&block);
  return unknown != nullptr && unknown->type == "file" &&
         is_text_member(unknown->json.text(), "data") &&
         is_text_member(unknown->json.text(), "mediaType");
}

bool is_accepted_in_user(const Block& block) {
  const auto* const image = std::get_if<ImageBlock>(&block);
  return is<TextBlock>(block) || is_file(block) || (image != nullptr && !image->url.empty());
}

bool is_accepted_in_assistant(const Block& block) {
  const auto* const result = std::get_if<ToolResultBlock>(&block);
  return is<TextBlock>(block) || is<ThinkingBlock>(block) || is<ToolUseBlock>(block) ||
         is_file(block) || (result != nullptr && is_accepted_result(*result));
}

bool is_accepted_in_tool(const Block& block) {
  const auto* const result = std::get_if<ToolResultBlock>(&block);
  return result != nullptr && is_accepted_result(*result);
}

bool is_plain_text(const std::vector<Block>& blocks) {
  const auto* const text = blocks.size() == 1 ? std::get_if<TextBlock>(&blocks.front()) : nullptr;
  return text != nullptr && text->extra.empty();
}

bool is_accepted(const Message& message) {
  if (message.role == role::kSystem) {
    return is_plain_text(message.blocks);
  }
  if (message.role == role::kUser) {
    return std::ranges::all_of(message.blocks, is_accepted_in_user);
  }
  if (message.role == role::kAssistant) {
    return std::ranges::all_of(message.blocks, is_accepted_in_assistant);
  }
  return message.role == role::kTool && std::ranges::all_of(message.blocks, is_accepted_in_tool);
}

// Results get the role of the tool, because otherwise a model would refuse the preceding calls.
std::string accepted_role(const Message& message) {
  if (message.role == role::kSystem || message.role == role::kAssistant) {
    return message.role;
  }
  if (message.role == "developer") {
    return std::string(role::kSystem);
  }
  const bool has_results = std::ranges::any_of(message.blocks, is<ToolResultBlock>);
  return std::string(has_results ? role::kTool : role::kUser);
}

ToolResultBlock accepted_result(ToolResultBlock block, const ToolNames& names) {
  if (const RawJson* const output = json::find_field(block.extra, kOutput);
      output != nullptr && !is_accepted_output(output->text())) {
    std::erase_if(block.extra, [](const ExtraField& field) { return field.name == kOutput; });
  }
  if (!is_text(json::find_field(block.extra, kToolName))) {
    std::erase_if(block.extra, [](const ExtraField& field) { return field.name == kToolName; });
    const auto found = names.find(block.tool_use_id);
    const std::string_view name = found == names.end() ? kUnknownTool : found->second;
    block.extra.push_back({std::string(kToolName), json::take(json::quoted(name))});
  }
  return block;
}

// The original represents an image in an answer as a file.
UnknownBlock as_file(const ImageBlock& image) {
  return {"file", json::take(json::object_of("type", "file", "data", image.url, "mediaType",
                                             image.media_type))};
}

std::vector<Block> accepted_blocks(const Message& message, std::string_view role,
                                   const ToolNames& names) {
  if (role == role::kSystem) {
    return {TextBlock{plain_text(message), {}}};
  }
  std::vector<Block> blocks;
  for (const Block& block : message.blocks) {
    const auto* const result = std::get_if<ToolResultBlock>(&block);
    const auto* const image = std::get_if<ImageBlock>(&block);
    if (result != nullptr && role != role::kUser) {
      blocks.emplace_back(accepted_result(*result, names));
    } else if (image != nullptr && !image->url.empty() && role == role::kAssistant) {
      blocks.emplace_back(as_file(*image));
    } else if ((role == role::kUser && is_accepted_in_user(block)) ||
               (role == role::kAssistant && is_accepted_in_assistant(block))) {
      blocks.push_back(block);
    }
  }
  return blocks;
}

}  // namespace

std::optional<Message> accepted_form(const Message& message, const ToolNames& names) {
  if (is_accepted(message)) {
    return std::nullopt;
  }
  Message form;
  form.role = accepted_role(message);
  form.blocks = accepted_blocks(message, form.role, names);
  form.extra = message.extra;
  return form;
}

bool lacks_tool_names(const Message& message) {
  bool has_results = false;
  for (const Block& block : message.blocks) {
    if (const auto* const result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
      has_results = true;
      if (json::find_field(result->extra, kToolName) != nullptr) {
        return false;
      }
    }
  }
  return has_results;
}

void drop_tool_names(Message& message) {
  for (Block& block : message.blocks) {
    if (auto* const result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
      std::erase_if(result->extra, [](const ExtraField& field) { return field.name == kToolName; });
    }
  }
}

void add_tool_names(ToolNames& names, const Message& message) {
  for (const ToolUseBlock* const call : tool_calls(message)) {
    names[call->id] = call->name;
  }
}

}  // namespace reprise::store::chatdir
