#include "store/sessions/content.h"

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "store/document/sidecar.h"
#include "store/sessions/spelling.h"

namespace reprise::store::sessions {
namespace {

constexpr std::string_view kBetween = "\n\n";
// Members of the sidecar.
constexpr std::string_view kTexts = "texts";      // the lengths of the texts, in bytes
constexpr std::string_view kContent = "content";  // its hash

// The block's part of the content; null if it has none.
template <class AnyBlock>
auto text_in(AnyBlock& block) {
  if (auto* const text = std::get_if<TextBlock>(&block); text != nullptr) {
    return &text->text;
  }
  auto* const result = std::get_if<ToolResultBlock>(&block);
  return result == nullptr ? nullptr : &result->text;
}

std::string hash_of(std::string_view content) {
  return cat(fnv1a(content));
}

// Gives the blocks their parts of the content; false if the lengths are not those.
bool set_texts(std::vector<Block>& blocks, std::string_view lengths, std::string_view content) {
  std::vector<std::int64_t> sizes;
  json::Scanner scanner(lengths);
  if (!scanner.array([&] { return scanner.integer(sizes.emplace_back()); })) {
    return false;
  }
  auto size = sizes.begin();
  std::size_t at = 0;
  for (Block& block : blocks) {
    std::string* const text = text_in(block);
    if (text == nullptr) {
      continue;
    }
    at += at == 0 ? 0 : kBetween.size();
    if (size == sizes.end() || *size < 0 || at > content.size()) {
      return false;
    }
    *text = content.substr(at, static_cast<std::size_t>(*size));
    at += static_cast<std::size_t>(*size++);
  }
  return size == sizes.end() && at == content.size();
}

}  // namespace

std::string content_of(const Message& message) {
  std::string out;
  for (const Block& block : message.blocks) {
    if (const std::string* const text = text_in(block); text != nullptr) {
      out += out.empty() ? "" : kBetween;
      out += *text;
    }
  }
  return out;
}

std::vector<Block> blocks_of(std::string content) {
  if (content.empty()) {
    return {};
  }
  return {TextBlock{std::move(content), {}}};
}

std::string entry_sidecar(const Message& message, const Message& native) {
  if (message.blocks == native.blocks) {
    return message_sidecar(message, native);
  }
  Message others = message;
  std::string lengths;
  json::ArrayWriter array(lengths);
  for (Block& block : others.blocks) {
    if (std::string* const text = text_in(block); text != nullptr) {
      array.item();
      lengths += std::to_string(text->size());
      text->clear();
    }
  }
  array.close();
  std::string sidecar = message_sidecar(others, native);
  sidecar.pop_back();
  return cat(sidecar, ",\"", kTexts, "\":", lengths, ",\"", kContent, "\":\"",
             hash_of(plain_text(native)), "\"}");
}

Result<> add_entry_sidecar(Message& native, std::string_view sidecar) {
  const std::string_view lengths = json::find_member(sidecar, kTexts);
  if (lengths.empty()) {
    return add_message_sidecar(native, sidecar);
  }
  const std::string content = plain_text(native);
  std::vector<Block> blocks = std::move(native.blocks);
  native.blocks.clear();
  REPRISE_TRY(add_message_sidecar(native, sidecar));
  const bool is_same = json::find_member(sidecar, kContent) == quoted_string(hash_of(content));
  REPRISE_ASSIGN(Message others, message_from_json(sidecar));
  if (is_same && !set_texts(others.blocks, lengths, content)) {
    return fail(Code::corrupt, "its texts are not those of the content");
  }
  native.blocks = is_same ? std::move(others.blocks) : std::move(blocks);
  return {};
}

}  // namespace reprise::store::sessions
