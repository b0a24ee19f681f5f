// The content of a message as spelled in chats: `content` is a string, or an array of parts (text,
// reasoning, tool-call, tool-result, image). Unknown parts are preserved.

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/message.h"
#include "store/chatdir/line.h"

namespace reprise::store::chatdir {
namespace {

constexpr std::string_view kErrorPrefix = "error-";

// Appends the extra fields whose names the part itself does not use.
void append_extra(json::ObjectWriter& part, const Extra& extra,
                  std::initializer_list<std::string_view> known) {
  for (const ExtraField& field : extra) {
    if (std::ranges::find(known, field.name) == known.end()) {
      part.raw(field.name, field.value.text());
    }
  }
}

void append_blob(json::ObjectWriter& part, const std::optional<BlobHash>& blob) {
  if (blob) {
    part.field("blob", blob->str());
  }
}

void append_part(std::string& out, const TextBlock& block) {
  json::ObjectWriter part(out);
  part.field("type", "text").field("text", block.text);
  append_extra(part, block.extra, {"type", "text"});
  part.close();
}

void append_part(std::string& out, const ThinkingBlock& block) {
  json::ObjectWriter part(out);
  part.field("type", "reasoning").field("text", block.text);
  if (!block.signature.empty()) {
    part.field("signature", block.signature);
  }
  append_extra(part, block.extra, {"type", "text", "signature"});
  part.close();
}

void append_part(std::string& out, const ToolUseBlock& block) {
  json::ObjectWriter part(out);
  part.field("type", "tool-call")
      .field("toolCallId", block.id)
      .field("toolName", block.name)
      .raw("input", block.input.text());
  append_extra(part, block.extra, {"type", "toolCallId", "toolName", "input"});
  part.close();
}

// An output that is not text is preserved in the extra fields.
void append_part(std::string& out, const ToolResultBlock& block) {
  json::ObjectWriter part(out);
  part.field("type", "tool-result").field("toolCallId", block.tool_use_id);
  if (json::find_field(block.extra, "output") == nullptr) {
    part.raw("output",
             json::object_of("type", block.is_error ? "error-text" : "text", "value", block.text));
  }
  append_blob(part, block.blob);
  append_extra(part, block.extra, {"type", "toolCallId", "blob"});
  part.close();
}

void append_part(std::string& out, const ImageBlock& block) {
  json::ObjectWriter part(out);
  part.field("type", "image").field("image", block.url).field("mediaType", block.media_type);
  append_blob(part, block.blob);
  append_extra(part, block.extra, {"type", "image", "mediaType", "blob"});
  part.close();
}

void append_part(std::string& out, const UnknownBlock& block) {
  out += block.json.text();
}

// The members of one part as raw JSON; the take functions remove them.
class Members {
 public:
  bool read(json::Scanner& scanner) {
    return scanner.object([&](std::string_view name) {
      std::string_view raw;
      if (!scanner.raw(raw)) {
        return false;
      }
      members_.emplace_back(name, raw);
      return true;
    });
  }

  // Removes and returns the value if it is a string.
  std::optional<std::string> take_text(std::string_view name) {
    const auto found = find(name);
    if (found == members_.end() || !found->second.starts_with('"')) {
      return std::nullopt;
    }
    auto text = decoded(found->second);
    members_.erase(found);
    return text;
  }

  std::string take_text_or_empty(std::string_view name) {
    return take_text(name).value_or(std::string());
  }

  std::optional<RawJson> take_raw(std::string_view name) {
    const auto found = find(name);
    if (found == members_.end()) {
      return std::nullopt;
    }
    RawJson json = json::take(found->second);
    members_.erase(found);
    return json;
  }

  std::optional<BlobHash> take_blob() {
    const auto found = find("blob");
    if (found == members_.end() || found->second.size() < 2) {
      return std::nullopt;
    }
    auto hash = BlobHash::parse(found->second.substr(1, found->second.size() - 2));
    if (!hash) {
      return std::nullopt;
    }
    members_.erase(found);
    return *std::move(hash);
  }

  std::string_view raw(std::string_view name) const {
    const auto found = std::ranges::find(members_, name, &Member::first);
    return found == members_.end() ? std::string_view() : found->second;
  }

  // The remaining members.
  Extra extra() const {
    Extra extra;
    extra.reserve(members_.size());
    for (const auto& [name, raw] : members_) {
      extra.push_back({name, json::take(raw)});
    }
    return extra;
  }

  std::string decoded(std::string_view raw) {
    std::string text;
    json::Scanner scanner(raw);
    if (!scanner.string(text)) {
      return {};
    }
    lossy_ = lossy_ || scanner.lossy();
    return text;
  }

  bool lossy() const { return lossy_; }

 private:
  using Member = std::pair<std::string, std::string_view>;

  // The last member of that name, which takes precedence.
  std::vector<Member>::iterator find(std::string_view name) {
    for (auto at = members_.end(); at != members_.begin();) {
      --at;
      if (at->first == name) {
        return at;
      }
    }
    return members_.end();
  }

  std::vector<Member> members_;
  bool lossy_ = false;
};

Block tool_call(Members& members) {
  ToolUseBlock block;
  block.id = members.take_text_or_empty("toolCallId");
  block.name = members.take_text_or_empty("toolName");
  auto input = members.take_raw("input");
  if (!input) {
    input = members.take_raw("args");  // the name in older versions
  }
  block.input = input.value_or(RawJson());
  block.extra = members.extra();
  return block;
}

// The text of an output for display, or its JSON unchanged.
std::string readable(Members& members, std::string_view raw) {
  return raw.starts_with('"') ? members.decoded(raw) : std::string(raw);
}

Block tool_result(Members& members) {
  ToolResultBlock block;
  block.tool_use_id = members.take_text_or_empty("toolCallId");
  block.blob = members.take_blob();
  const std::string_view output = members.raw("output");
  json::Scanner scanner(output);
  if (scanner.kind() == json::Kind::object) {
    Members inner;
    inner.read(scanner);
    const std::string type = inner.take_text_or_empty("type");
    block.is_error = type.starts_with(kErrorPrefix);
    block.text = readable(members, inner.raw("value"));
    const bool plain = inner.raw("value").starts_with('"') && inner.extra().size() == 1 &&
                       (type == "text" || type == "error-text");
    if (plain) {
      members.take_raw("output");
    }
  } else {
    block.text = readable(members, output.empty() ? members.raw("result") : output);
    block.is_error = members.raw("isError") == "true";
  }
  block.extra = members.extra();
  return block;
}

// An image is referenced by its URL; bytes in the part itself become a data URL.
Block image(Members& members) {
  ImageBlock block;
  block.media_type = members.take_text_or_empty("mediaType");
  block.blob = members.take_blob();
  block.url = members.take_text_or_empty("image");
  const bool is_address = block.url.empty() || block.url.find(':') < block.url.find_first_of("/+=");
  if (!is_address) {
    block.url.insert(0, cat("data:", block.media_type, ";base64,"));
  }
  block.extra = members.extra();
  return block;
}

Block block_of(Members& members, std::string_view raw) {
  const std::string_view type_raw = members.raw("type");
  const bool has_text = members.raw("text").starts_with('"');
  if (type_raw == R"("text")" && has_text) {
    members.take_raw("type");
    TextBlock block{members.take_text_or_empty("text"), {}};
    block.extra = members.extra();
    return block;
  }
  if (type_raw == R"("reasoning")" && has_text) {
    members.take_raw("type");
    ThinkingBlock block{
        members.take_text_or_empty("text"), members.take_text_or_empty("signature"), {}};
    block.extra = members.extra();
    return block;
  }
  const bool is_image = type_raw == R"("image")" && members.raw("image").starts_with('"');
  if (is_image || type_raw == R"("tool-call")" || type_raw == R"("tool-result")") {
    members.take_raw("type");
    return is_image                       ? image(members)
           : type_raw == R"("tool-call")" ? tool_call(members)
                                          : tool_result(members);
  }
  return UnknownBlock{type_raw.starts_with('"') ? members.decoded(type_raw) : std::string(),
                      json::take(raw)};
}

bool read_part(json::Scanner& scanner, std::vector<Block>& blocks, bool& lossy) {
  std::string_view raw;
  if (scanner.kind() != json::Kind::object) {
    if (!scanner.raw(raw)) {
      return false;
    }
    blocks.emplace_back(UnknownBlock{{}, json::take(raw)});
    return true;
  }
  const std::string_view remaining = scanner.rest();
  const std::size_t start = scanner.position();
  Members members;
  if (!members.read(scanner)) {
    return false;
  }
  blocks.push_back(block_of(members, remaining.substr(0, scanner.position() - start)));
  lossy = lossy || members.lossy();
  return true;
}

}  // namespace

void append_content(std::string& out, const std::vector<Block>& blocks) {
  if (blocks.size() == 1) {
    if (const auto* const text = std::get_if<TextBlock>(&blocks.front());
        text != nullptr && text->extra.empty()) {
      json::append_string(out, text->text);
      return;
    }
  }
  json::ArrayWriter array(out);
  for (const Block& block : blocks) {
    array.item();
    std::visit([&out](const auto& part) { append_part(out, part); }, block);
  }
  array.close();
}

bool read_content(json::Scanner& scanner, std::vector<Block>& blocks, bool& lossy) {
  if (scanner.kind() == json::Kind::string) {
    TextBlock& block = std::get<TextBlock>(blocks.emplace_back(TextBlock{}));
    return scanner.string(block.text);  // the scanner records whether it was lossy
  }
  return scanner.array([&] { return read_part(scanner, blocks, lossy); });
}

}  // namespace reprise::store::chatdir
