#pragma once

// A message and its blocks, as plain values with a lossless JSON form.
//
// Text is valid UTF-8. Other bytes enter through `text_block()`, which preserves the original
// beside the readable form, so that nothing is lost.

#include <variant>  // IWYU pragma: export

#include "reprise/types.h"  // IWYU pragma: export

namespace reprise {

struct TextBlock {
  std::string text;
  Extra extra;
  friend bool operator==(const TextBlock&, const TextBlock&) = default;
};

// The reasoning of a model. `signature` authenticates it to the provider it came from
// (Message::provider), with some providers only to the same model (Message::model); the block is
// sent to no other one.
struct ThinkingBlock {
  std::string text;
  std::string signature;
  Extra extra;
  friend bool operator==(const ThinkingBlock&, const ThinkingBlock&) = default;
};

struct ToolUseBlock {
  std::string id;
  std::string name;
  RawJson input;  // as the model wrote it; a JSON string when that was not valid JSON
  Extra extra;
  friend bool operator==(const ToolUseBlock&, const ToolUseBlock&) = default;
};

struct ToolResultBlock {
  std::string tool_use_id;
  std::string text;  // only the beginning, if `blob` has all of it
  bool is_error = false;
  std::optional<BlobHash> blob;
  Extra extra;
  friend bool operator==(const ToolResultBlock&, const ToolResultBlock&) = default;
};

// An image, or a PDF with the media type application/pdf; the extra field "name" is the PDF's file
// name, if it has one.
struct ImageBlock {
  std::string media_type;  // "image/png", "application/pdf"
  std::optional<BlobHash> blob;
  std::string url;  // if there is no blob
  Extra extra;
  friend bool operator==(const ImageBlock&, const ImageBlock&) = default;
};

// A block of a type that this version does not know: the unchanged object.
struct UnknownBlock {
  std::string type;  // "" when it had none
  RawJson json;
  friend bool operator==(const UnknownBlock&, const UnknownBlock&) = default;
};

using Block =
    std::variant<TextBlock, ThinkingBlock, ToolUseBlock, ToolResultBlock, ImageBlock, UnknownBlock>;

// Makes a text block from arbitrary bytes. Invalid UTF-8 is replaced by U+FFFD, and the extra field
// "original_base64" then preserves the bytes.
TextBlock text_block(std::string_view bytes);

enum class MessageState : std::uint8_t {
  complete,
  incomplete,  // an interrupted answer: the text that arrived
};

// Roles in use. Any other string is preserved.
namespace role {
inline constexpr std::string_view kUser = "user";
inline constexpr std::string_view kAssistant = "assistant";
inline constexpr std::string_view kSystem = "system";
inline constexpr std::string_view kTool = "tool";
}  // namespace role

struct Message {
  Seq seq = {};  // assigned by the store; ignored by append
  std::string role = {};
  std::vector<Block> blocks = {};
  Time created_at = {};
  std::optional<Author> author = {};  // who asked, if known; not sent to providers
  std::string provider = {};          // who answered; "" for messages of a person or a tool
  std::string model = {};
  std::string response_id = {};  // the provider's id of this answer, to continue from
  std::optional<Usage> usage = {};
  MessageState state = MessageState::complete;
  Extra extra = {};
  friend bool operator==(const Message&, const Message&) = default;
};

// The texts of the text blocks, joined by blank lines.
std::string plain_text(const Message& message);

// The tool calls among its blocks, in order; valid as long as the blocks.
std::vector<const ToolUseBlock*> tool_calls(const Message& message);

// The extra field (true) of a message that neither a person nor a model wrote: a program inserted
// it, under the role of one of them.
inline constexpr std::string_view kInjectedField = "injected";
bool is_injected(const Message& message);

// Whether it starts a turn: a user message, not injected, that has more than tool results. A
// message with tool results and text is a question, too.
bool is_question(const Message& message);

// Whether a session was interrupted whose last message, apart from injected ones, is this one: the
// answer is incomplete or missing.
bool is_incomplete_after(const Message& last);

// The JSON form of a message's blocks: an array of objects with the keys in the order type, id,
// name, input, tool_use_id, text, signature, is_error, media_type, blob, url, as far as a block has
// them, then the extra fields.
std::string blocks_to_json(const std::vector<Block>& blocks);

// The inverse. Also accepts null, a plain string (one text block) and objects of unknown types.
// corrupt for anything else.
Result<std::vector<Block>> blocks_from_json(std::string_view json);

// One JSON object; message_from_json(message_to_json(m)) == m, unknown fields in `extra`.
std::string message_to_json(const Message& message);
Result<Message> message_from_json(std::string_view json);

}  // namespace reprise
