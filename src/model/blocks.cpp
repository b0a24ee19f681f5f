// JSON of blocks.

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "model/attachment.h"
#include "model/json_fields.h"
#include "reprise/message.h"

namespace reprise {
namespace model {
namespace {

// The fields of one block in any order; its type may come last.
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
  std::uint32_t read = 0;  // bits of those in kBlockFields
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

// The string field of this block type with that name; null if it has none.
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

// Fields that this type does not have, or with an unexpected JSON type, are stored in `extra`.
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

// The members of one block, with the extra fields last.
class BlockMembers {
 public:
  BlockMembers(std::string& out, JsonForm form, std::string_view type)
      : object_(out), form_(form), type_(type_of(type)) {
    add("type", type);
  }

  // An empty one is omitted in stored JSON.
  BlockMembers& text(std::string_view name, std::string_view value) {
    return form_ == JsonForm::output || !value.empty() ? add(name, value) : *this;
  }
  BlockMembers& text_if_any(std::string_view name, std::string_view value) {
    return value.empty() ? *this : add(name, value);
  }
  template <class Value>
  BlockMembers& add(std::string_view name, const Value& value) {
    object_.field(name, value);
    written_.at(count_++) = name;
    return *this;
  }
  // Puts `ordered` into the order of writing instead, if there is one.
  void close(const Extra& extra, Extra* ordered) {
    if (ordered != nullptr) {
      order_extra(*ordered, member());
    } else if (!extra.empty()) {
      append_extra(object_, extra, member());
    }
    object_.close();
  }

 private:
  IsMember member() const {
    return [this](std::string_view name, const RawJson& value) {
      if (std::ranges::find(written_, name) != written_.end()) {
        return true;
      }
      BlockFields unused;
      json::Scanner scanner(value.text());
      return read_field(scanner, unused, type_, name) && unused.extra.empty();
    };
  }

  static constexpr std::size_t kMembersMax = 6;
  json::ObjectWriter object_;
  JsonForm form_;
  BlockType type_;
  std::array<std::string_view, kMembersMax> written_;
  std::size_t count_ = 0;
};

struct BlockWriter {
  std::string& out;
  JsonForm form;
  Extra* ordered = nullptr;  // of the block

  void operator()(const TextBlock& block) const {
    BlockMembers(out, form, "text").text("text", block.text).close(block.extra, ordered);
  }
  void operator()(const ThinkingBlock& block) const {
    BlockMembers(out, form, "thinking")
        .text("text", block.text)
        .text_if_any("signature", block.signature)
        .close(block.extra, ordered);
  }
  void operator()(const ToolUseBlock& block) const {
    BlockMembers members(out, form, "tool_use");
    members.text("id", block.id).text("name", block.name);
    if (form == JsonForm::output || !block.input.is_null()) {
      members.add("input", block.input);
    }
    members.close(block.extra, ordered);
  }
  void operator()(const ToolResultBlock& block) const {
    BlockMembers members(out, form, "tool_result");
    if (form == JsonForm::output) {
      members.add("tool_use_id", block.tool_use_id).add("text", block.text);
    } else {
      members.text("text", block.text).text("tool_use_id", block.tool_use_id);
    }
    if (form == JsonForm::output || block.is_error) {
      members.add("is_error", block.is_error);
    }
    if (block.blob) {
      members.add("blob", block.blob->str());
    }
    members.close(block.extra, ordered);
  }
  void operator()(const ImageBlock& block) const {
    BlockMembers members(out, form, is_pdf(block) ? "document" : "image");
    members.add("media_type", block.media_type);
    if (block.blob) {
      members.add("blob", block.blob->str());
    }
    members.text_if_any("url", block.url).close(block.extra, ordered);
  }
  void operator()(const UnknownBlock& block) const { out += block.json.text(); }
};

// The second of two with one name is stored in `extra`, too.
bool read_member(json::Scanner& scanner, BlockFields& fields, BlockType type,
                 std::string_view name) {
  const auto* const known = std::ranges::find(kBlockFields, name);
  const std::uint32_t bit =
      known == std::end(kBlockFields) ? 0 : 1U << (known - std::begin(kBlockFields));
  if ((fields.read & bit) != 0 || name == kOthers) {
    return add_extra(scanner, name, fields.extra);
  }
  const std::size_t before = fields.extra.size();
  const bool is_read = read_field(scanner, fields, type, name);
  fields.read |= fields.extra.size() == before ? bit : 0;
  return is_read;
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
          (fields.type == "document") == (fields.media_type == kPdf)) {
        return ImageBlock{std::move(fields.media_type), std::move(fields.blob),
                          std::move(fields.url), std::move(fields.extra)};
      }
      break;  // another vendor's picture or document
    case BlockType::unknown:
      break;
  }
  return UnknownBlock{std::move(fields.type), json::take(raw)};
}

// The type of the object at the start of `rest`, the first one if there are several. Reprise writes
// it first; otherwise it is searched.
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

// Fast path for text blocks as Reprise writes them. Returns false, with the scanner where it was,
// for all others.
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

void order_extra_of(Block& block) {
  Extra* const extra = std::visit(
      [](auto& any) -> Extra* {
        if constexpr (requires { any.extra; }) {
          return &any.extra;
        } else {
          return nullptr;
        }
      },
      block);
  if (extra != nullptr && extra->size() > 1) {
    std::string unused;
    std::visit(BlockWriter{unused, JsonForm::stored, extra}, block);
  }
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
        return read_member(scanner, fields, type, name);
      });
  if (!whole) {
    return false;
  }
  blocks.push_back(block_of(std::move(fields), type, rest.substr(0, scanner.position() - start)));
  order_extra_of(blocks.back());
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

}  // namespace

void append_json(std::string& out, const std::vector<Block>& blocks, JsonForm form) {
  json::ArrayWriter array(out);
  for (const Block& block : blocks) {
    array.item();
    std::visit(BlockWriter{out, form}, block);
  }
  array.close();
}

bool read_field(json::Scanner& scanner, std::string_view /*name*/, std::vector<Block>& out,
                Extra& /*extra*/) {
  return read_blocks(scanner, out);
}

}  // namespace model

std::string blocks_to_json(const std::vector<Block>& blocks) {
  std::string out;
  model::append_json(out, blocks, model::JsonForm::stored);
  return out;
}

Result<std::vector<Block>> blocks_from_json(std::string_view json) {
  json::Scanner scanner(json);
  std::vector<Block> blocks;
  if (!model::read_blocks(scanner, blocks) || !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  return blocks;
}

}  // namespace reprise
