#include "reprise/message.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "model/fields.h"
#include "model/media.h"
#include "reprise/error.h"
#include "reprise/json.h"
#include "reprise/types.h"

namespace reprise {
namespace {

constexpr std::string_view kOriginal = "original_base64";

void append_optional(json::ObjectWriter& object, std::string_view name, std::string_view text) {
  if (!text.empty()) {
    object.field(name, text);
  }
}

void append_block(std::string& out, const TextBlock& block) {
  json::ObjectWriter object(out);
  object.field("type", "text");
  append_optional(object, "text", block.text);
  object.extra(block.extra).close();
}

void append_block(std::string& out, const ThinkingBlock& block) {
  json::ObjectWriter object(out);
  object.field("type", "thinking");
  append_optional(object, "text", block.text);
  append_optional(object, "signature", block.signature);
  object.extra(block.extra).close();
}

void append_block(std::string& out, const ToolUseBlock& block) {
  json::ObjectWriter object(out);
  object.field("type", "tool_use");
  append_optional(object, "id", block.id);
  append_optional(object, "name", block.name);
  if (!block.input.is_null()) {
    object.raw("input", block.input.text());
  }
  object.extra(block.extra).close();
}

void append_block(std::string& out, const ToolResultBlock& block) {
  json::ObjectWriter object(out);
  object.field("type", "tool_result");
  append_optional(object, "text", block.text);
  append_optional(object, "tool_use_id", block.tool_use_id);
  if (block.is_error) {
    object.field("is_error", true);
  }
  if (block.blob) {
    object.field("blob", block.blob->str());
  }
  object.extra(block.extra).close();
}

void append_block(std::string& out, const ImageBlock& block) {
  json::ObjectWriter object(out);
  object.field("type", model::is_pdf(block) ? "document" : "image")
      .field("media_type", block.media_type);
  if (block.blob) {
    object.field("blob", block.blob->str());
  }
  append_optional(object, "url", block.url);
  object.extra(block.extra).close();
}

void append_block(std::string& out, const UnknownBlock& block) {
  out += block.json.text();
}

// One block's fields as they are met; which type it is may come last.
struct BlockFields {
  std::string type;
  std::string text;
  std::string signature;
  std::string id;
  std::string name;
  std::string tool_use_id;
  std::string media_type;
  std::string url;
  std::string_view input;
  std::optional<BlobHash> blob;
  bool is_error = false;
  Extra extra;
};

enum class BlockType : std::uint8_t { text, thinking, tool_use, tool_result, image, unknown };

BlockType type_of(std::string_view type) {
  if (type == "text") {
    return BlockType::text;
  }
  if (type == "thinking") {
    return BlockType::thinking;
  }
  if (type == "tool_use") {
    return BlockType::tool_use;
  }
  if (type == "tool_result") {
    return BlockType::tool_result;
  }
  return type == "image" || type == "document" ? BlockType::image : BlockType::unknown;
}

// The string field of this block type with that name; null when it has none.
std::string* string_field(BlockFields& fields, BlockType type, std::string_view name) {
  const bool with_text =
      type == BlockType::text || type == BlockType::thinking || type == BlockType::tool_result;
  if (name == "text" && with_text) {
    return &fields.text;
  }
  if (name == "signature" && type == BlockType::thinking) {
    return &fields.signature;
  }
  if (name == "id" && type == BlockType::tool_use) {
    return &fields.id;
  }
  if (name == "name" && type == BlockType::tool_use) {
    return &fields.name;
  }
  if (name == "tool_use_id" && type == BlockType::tool_result) {
    return &fields.tool_use_id;
  }
  if (name == "media_type" && type == BlockType::image) {
    return &fields.media_type;
  }
  return name == "url" && type == BlockType::image ? &fields.url : nullptr;
}

// What is no field of this type, or has another JSON type than ours, is kept in `extra`.
bool read_field(json::Scanner& scanner, BlockFields& fields, BlockType type,
                std::string_view name) {
  const json::Kind kind = scanner.kind();
  if (kind == json::Kind::string) {
    if (std::string* field = string_field(fields, type, name); field != nullptr) {
      return scanner.string(*field);
    }
  }
  if (name == "type") {
    return scanner.skip();
  }
  if (name == "input" && type == BlockType::tool_use) {
    return scanner.raw(fields.input);
  }
  if (name == "is_error" && type == BlockType::tool_result && kind == json::Kind::boolean) {
    return scanner.boolean(fields.is_error);
  }
  std::string_view raw;
  if (!scanner.raw(raw)) {
    return false;
  }
  const bool may_have_blob = type == BlockType::tool_result || type == BlockType::image;
  if (name == "blob" && may_have_blob && raw.size() == 66) {
    if (auto hash = BlobHash::parse(raw.substr(1, 64)); hash) {
      fields.blob = *std::move(hash);
      return true;
    }
  }
  fields.extra.push_back({std::string(name), json::take(raw)});
  return true;
}

Block block_of(BlockFields fields, BlockType type, std::string_view raw) {
  switch (type) {
    case BlockType::text:
      return TextBlock{std::move(fields.text), std::move(fields.extra)};
    case BlockType::thinking:
      return ThinkingBlock{std::move(fields.text), std::move(fields.signature),
                           std::move(fields.extra)};
    case BlockType::tool_use:
      return ToolUseBlock{std::move(fields.id), std::move(fields.name),
                          fields.input.empty() ? RawJson() : json::take(fields.input),
                          std::move(fields.extra)};
    case BlockType::tool_result:
      return ToolResultBlock{std::move(fields.tool_use_id), std::move(fields.text), fields.is_error,
                             std::move(fields.blob), std::move(fields.extra)};
    case BlockType::image:
      if ((fields.blob || !fields.url.empty()) &&
          (fields.type == "document") == (fields.media_type == model::kPdf)) {
        return ImageBlock{std::move(fields.media_type), std::move(fields.blob),
                          std::move(fields.url), std::move(fields.extra)};
      }
      break;  // another vendor's picture or document
    case BlockType::unknown:
      break;
  }
  return UnknownBlock{std::move(fields.type), json::take(raw)};
}

// The type of the object at the beginning of `rest`, the first one if there are several. Ours begin
// with it; in others it is looked up.
std::string type_at(std::string_view rest) {
  constexpr std::string_view kFirst = R"({"type":")";
  if (rest.starts_with(kFirst)) {
    const std::string_view value = rest.substr(kFirst.size());
    const std::size_t end = value.find_first_of("\"\\");
    if (end != std::string_view::npos && value[end] == '"' &&
        utf8::is_valid(value.substr(0, end))) {
      return std::string(value.substr(0, end));
    }
  }
  std::string type;
  bool is_known = false;
  json::Scanner scanner(rest);
  scanner.object([&](std::string_view name) {
    if (name != "type" || std::exchange(is_known, true) || scanner.kind() != json::Kind::string) {
      return scanner.skip();
    }
    return scanner.string(type);
  });
  return type;
}

// Most blocks are plain text as we write it, and need no look at each name. False, with the scanner
// where it was, for all others.
bool read_plain_text(json::Scanner& scanner, std::vector<Block>& blocks) {
  constexpr std::string_view kText = R"({"type":"text","text":)";
  if (!scanner.rest().starts_with(kText)) {
    return false;
  }
  const json::Scanner before = scanner;
  auto& block = std::get<TextBlock>(blocks.emplace_back(TextBlock()));
  if (scanner.word(kText) && scanner.string(block.text) && scanner.rest().starts_with('}')) {
    return scanner.word("}");
  }
  scanner = before;
  blocks.pop_back();
  return false;
}

bool read_block(json::Scanner& scanner, std::vector<Block>& blocks) {
  if (read_plain_text(scanner, blocks)) {
    return true;
  }
  const json::Kind kind = scanner.kind();
  const std::string_view rest = scanner.rest();
  const std::size_t start = scanner.position();
  BlockFields fields;
  BlockType type = BlockType::unknown;
  if (kind == json::Kind::object) {
    fields.type = type_at(rest);
    type = type_of(fields.type);
  }
  const bool whole =
      type == BlockType::unknown ? scanner.skip() : scanner.object([&](std::string_view name) {
        return read_field(scanner, fields, type, name);
      });
  if (!whole) {
    return false;
  }
  blocks.push_back(block_of(std::move(fields), type, rest.substr(0, scanner.position() - start)));
  return true;
}

bool read_blocks(json::Scanner& scanner, std::vector<Block>& blocks) {
  switch (scanner.kind()) {
    case json::Kind::null:
      return scanner.null();
    case json::Kind::string: {
      TextBlock block;
      if (!scanner.string(block.text)) {
        return false;
      }
      blocks.emplace_back(std::move(block));
      return true;
    }
    default:
      return scanner.array([&] { return read_block(scanner, blocks); });
  }
}

bool read_usage(json::Scanner& scanner, Usage& usage) {
  return scanner.object([&](std::string_view name) {
    const std::pair<std::string_view, TokenCount*> counts[] = {
        {"input_tokens", &usage.input},
        {"output_tokens", &usage.output},
        {"reasoning_tokens", &usage.reasoning},
        {"cached_tokens", &usage.cached},
        {"cache_written_tokens", &usage.cache_written},
    };
    for (const auto& [key, count] : counts) {
      if (key == name) {
        return model::read_or_keep(scanner, name, count->value, usage.extra);
      }
    }
    if (name == "price_source") {
      return model::read_or_keep(scanner, name, usage.price_source, usage.extra);
    }
    if (name == "request_id") {
      return model::read_or_keep(scanner, name, usage.request_id, usage.extra);
    }
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    if (name == "cost") {
      usage.cost = Money::parse(raw);
    }
    if (name != "cost" || (!usage.cost && raw != "null")) {
      usage.extra.push_back({std::string(name), json::take(raw)});
    }
    return true;
  });
}

bool read_message_field(json::Scanner& scanner, Message& message, std::string_view name) {
  const json::Kind kind = scanner.kind();
  if (name == "seq") {
    return model::read_or_keep(scanner, name, message.seq.value, message.extra);
  }
  const std::pair<std::string_view, std::string*> texts[] = {
      {"role", &message.role},
      {"provider", &message.provider},
      {"model", &message.model},
      {"response_id", &message.response_id},
  };
  for (const auto& [key, text] : texts) {
    if (key == name) {
      return model::read_or_keep(scanner, name, *text, message.extra);
    }
  }
  if (name == "blocks") {
    return read_blocks(scanner, message.blocks);
  }
  if (name == "usage" && kind == json::Kind::object) {
    return read_usage(scanner, message.usage.emplace());
  }
  std::string_view raw;
  if (!scanner.raw(raw)) {
    return false;
  }
  if (name == "state" && (raw == R"("complete")" || raw == R"("incomplete")")) {
    message.state = raw == R"("complete")" ? MessageState::complete : MessageState::incomplete;
    return true;
  }
  if (name == "created_at" && kind == json::Kind::string) {
    if (const auto time = parse_time(raw.substr(1, raw.size() - 2)); time) {
      message.created_at = *time;
      return true;
    }
  }
  message.extra.push_back({std::string(name), json::take(raw)});
  return true;
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

bool is_question(const Message& message) {
  const auto is_result = [](const Block& block) {
    return std::holds_alternative<ToolResultBlock>(block);
  };
  return message.role == role::kUser && !std::ranges::all_of(message.blocks, is_result);
}

std::string blocks_to_json(const std::vector<Block>& blocks) {
  std::string out;
  json::ArrayWriter array(out);
  for (const Block& block : blocks) {
    array.item();
    std::visit([&out](const auto& one) { append_block(out, one); }, block);
  }
  array.close();
  return out;
}

Result<std::vector<Block>> blocks_from_json(std::string_view json) {
  json::Scanner scanner(json);
  std::vector<Block> blocks;
  if (!read_blocks(scanner, blocks) || !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  return blocks;
}

std::string usage_to_json(const Usage& usage) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("input_tokens", usage.input.value)
      .field("output_tokens", usage.output.value)
      .field("reasoning_tokens", usage.reasoning.value)
      .field("cached_tokens", usage.cached.value);
  if (usage.cache_written.value != 0) {
    object.field("cache_written_tokens", usage.cache_written.value);
  }
  if (usage.cost) {
    object.raw("cost", usage.cost->str());
  } else {
    object.null("cost");
  }
  append_optional(object, "price_source", usage.price_source);
  append_optional(object, "request_id", usage.request_id);
  object.extra(usage.extra).close();
  return out;
}

Result<Usage> usage_from_json(std::string_view json) {
  json::Scanner scanner(json);
  Usage usage;
  if (!read_usage(scanner, usage) || !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  return usage;
}

std::string message_to_json(const Message& message) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("seq", message.seq.value)
      .field("role", message.role)
      .field("state", message.state == MessageState::complete ? "complete" : "incomplete")
      .field("created_at", format_time(message.created_at));
  append_optional(object, "provider", message.provider);
  append_optional(object, "model", message.model);
  append_optional(object, "response_id", message.response_id);
  if (message.usage) {
    object.raw("usage", usage_to_json(*message.usage));
  }
  object.raw("blocks", blocks_to_json(message.blocks));
  object.extra(message.extra).close();
  return out;
}

Result<Message> message_from_json(std::string_view json) {
  json::Scanner scanner(json);
  Message message;
  const auto member = [&](std::string_view name) {
    return read_message_field(scanner, message, name);
  };
  if (!scanner.object(member) || !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  return message;
}

}  // namespace reprise
