#include "engine/content.h"

#include <algorithm>
#include <variant>

#include "base/encode.h"
#include "base/text.h"
#include "engine/blobs.h"

namespace reprise {
namespace {

bool has_images(const Message& message) {
  return std::ranges::any_of(
      message.blocks, [](const Block& block) { return std::holds_alternative<ImageBlock>(block); });
}

}  // namespace

std::string content_of(const Message& message) {
  std::vector<Block> blocks = message.blocks;
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

bool has_same_content(const Message& message, const Message& other) {
  if (message.role != other.role || message.blocks.size() != other.blocks.size()) {
    return false;
  }
  return message.blocks == other.blocks ||
         (has_images(message) && content_of(message) == content_of(other));
}

bool has_grown(const Message& stored, const Message& answer) {
  if (stored.role != role::kAssistant || answer.role != role::kAssistant) {
    return false;
  }
  const bool has_started =
      stored.created_at != Time{} && stored.created_at == answer.created_at &&
      answer.blocks.size() >= stored.blocks.size() &&
      std::equal(stored.blocks.begin(), stored.blocks.end(), answer.blocks.begin());
  return has_started || (stored.state == MessageState::incomplete &&
                         plain_text(answer).starts_with(plain_text(stored)));
}

}  // namespace reprise
