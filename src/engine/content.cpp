#include "engine/content.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "engine/blobs.h"

namespace reprise {
namespace {

bool has_images(const Message& message) {
  return std::ranges::any_of(
      message.blocks, [](const Block& block) { return std::holds_alternative<ImageBlock>(block); });
}

// What has no type in another program is the value of a block of the type "unknown".
std::string_view unwrapped(const RawJson& json) {
  const JsonView block(json.text());
  return block["type"].raw() == R"("unknown")" && block["value"] ? block["value"].raw()
                                                                 : std::string_view(json.text());
}

// The blocks without extra fields, which other versions spell differently, and with adjacent texts
// as one.
std::vector<Block> essence_of(const std::vector<Block>& blocks) {
  std::vector<Block> out;
  for (const Block& block : blocks) {
    const auto* const text = std::get_if<TextBlock>(&block);
    auto* const before = out.empty() ? nullptr : std::get_if<TextBlock>(&out.back());
    if (text != nullptr && before != nullptr) {
      before->text += text->text;
      continue;
    }
    out.push_back(block);
    std::visit(
        []<class Kind>(Kind& one) {
          if constexpr (std::is_same_v<Kind, UnknownBlock>) {
            one = {"", json::take(unwrapped(one.json))};
          } else {
            one.extra.clear();
          }
        },
        out.back());
  }
  return out;
}

std::string content_with(const Message& message, std::vector<Block> blocks) {
  for (Block& block : blocks) {
    auto* const image = std::get_if<ImageBlock>(&block);
    const auto bytes = image == nullptr ? std::nullopt : embedded_image(*image);
    if (!bytes) {
      continue;
    }
    if (const auto hash = sha256(*bytes)) {  // else it is compared as it is
      refer_to_blob(*image, *hash);
    }
  }
  return cat(message.role, " ", blocks_to_json(blocks));
}

// Whether these are the first blocks of an answer that goes on.
bool is_beginning(const std::vector<Block>& blocks, const std::vector<Block>& whole) {
  if (blocks.empty() || blocks.size() > whole.size()) {
    return blocks.empty();
  }
  const std::size_t last = blocks.size() - 1;
  const auto* const text = std::get_if<TextBlock>(&blocks[last]);
  const auto* const longer = std::get_if<TextBlock>(&whole[last]);
  return std::equal(blocks.begin(), blocks.end() - 1, whole.begin()) &&
         (text != nullptr && longer != nullptr ? longer->text.starts_with(text->text)
                                               : blocks[last] == whole[last]);
}

}  // namespace

std::string content_of(const Message& message) {
  return content_with(message, essence_of(message.blocks));
}

std::string older_content_of(const Message& message) {
  return content_with(message, message.blocks);
}

bool has_same_content(const Message& message, const Message& other) {
  if (message.role != other.role) {
    return false;
  }
  return message.blocks == other.blocks || essence_of(message.blocks) == essence_of(other.blocks) ||
         (has_images(message) && content_of(message) == content_of(other));
}

bool has_grown(const Message& stored, const Message& answer) {
  if (stored.role != role::kAssistant || answer.role != role::kAssistant) {
    return false;
  }
  const bool has_started = stored.created_at != Time{} && stored.created_at == answer.created_at &&
                           is_beginning(essence_of(stored.blocks), essence_of(answer.blocks));
  return has_started || (stored.state == MessageState::incomplete &&
                         plain_text(answer).starts_with(plain_text(stored)));
}

}  // namespace reprise
