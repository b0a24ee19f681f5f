#pragma once

// A message and its blocks, as plain values with a lossless JSON form.
//
// Text is valid UTF-8. Bytes that are not enter through `text_block()`, which keeps the original
// beside the readable form, so nothing that was accepted is lost.

#include <variant>  // IWYU pragma: export

#include "reprise/json.h"   // IWYU pragma: export
#include "reprise/types.h"  // IWYU pragma: export

namespace reprise {

struct TextBlock {
  std::string text;
  Extra extra;
  friend bool operator==(const TextBlock&, const TextBlock&) = default;
};

// What a model thought. `signature` proves it to the provider it came from (Message::provider),
// with some providers to the model alone (Message::model); to any other one the block is not sent.
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
  std::string text;  // the beginning only, when `blob` has the whole
  bool is_error = false;
  std::optional<BlobHash> blob;
  Extra extra;
  friend bool operator==(const ToolResultBlock&, const ToolResultBlock&) = default;
};

// An image, or a document: with the media type application/pdf it is a PDF, whose file name, where
// it has one, is the extra field "name".
struct ImageBlock {
  std::string media_type;  // "image/png", "application/pdf"
  std::optional<BlobHash> blob;
  std::string url;  // when there is no blob
  Extra extra;
  friend bool operator==(const ImageBlock&, const ImageBlock&) = default;
};

// A block of a type this version does not know: the whole object as it was.
struct UnknownBlock {
  std::string type;  // "" when it had none
  RawJson json;
  friend bool operator==(const UnknownBlock&, const UnknownBlock&) = default;
};

using Block =
    std::variant<TextBlock, ThinkingBlock, ToolUseBlock, ToolResultBlock, ImageBlock, UnknownBlock>;

// A text block from any bytes. What is not UTF-8 shows as U+FFFD, and the extra field
// "original_base64" then keeps the bytes as they came.
TextBlock text_block(std::string_view bytes);

// What one request to a provider used. `request_id` names the request: the same id is counted
// once however often it is stored.
struct Usage {
  TokenCount input = {};
  TokenCount output = {};
  TokenCount reasoning = {};
  TokenCount cached = {};         // of the input, read from the provider's cache
  TokenCount cache_written = {};  // of the input, put into it
  std::optional<Money> cost = {};
  std::string price_source =
      {};  // where the cost came from: "provider", "config"; "" without a cost
  std::string request_id = {};
  Extra extra = {};
  friend bool operator==(const Usage&, const Usage&) = default;
};

enum class MessageState : std::uint8_t {
  complete,
  incomplete,  // an answer that was cut: the text that came, to be continued or left
};

// Roles in use. Any other string is kept as it is.
namespace role {
inline constexpr std::string_view kUser = "user";
inline constexpr std::string_view kAssistant = "assistant";
inline constexpr std::string_view kSystem = "system";
inline constexpr std::string_view kTool = "tool";
}  // namespace role

struct Message {
  Seq seq = {};  // given by the store; ignored by append
  std::string role = {};
  std::vector<Block> blocks = {};
  Time created_at = {};
  std::optional<Author> author = {};  // who asked, where that is known; no provider is sent it
  std::string provider = {};          // who answered; "" for what a person or tool said
  std::string model = {};
  std::string response_id = {};  // the provider's id of this answer, to continue from
  std::optional<Usage> usage = {};
  MessageState state = MessageState::complete;
  Extra extra = {};
  friend bool operator==(const Message&, const Message&) = default;
};

// The texts of the text blocks, joined with a blank line.
std::string plain_text(const Message& message);

// The extra field, true, of a message that no person and no model wrote: what a program put between
// them, under the role of one.
inline constexpr std::string_view kInjectedField = "injected";
bool is_injected(const Message& message);

// Whether it begins a turn: a user message with more than the results of tools, and not injected.
// What a person says beside results in one message is a question, too.
bool is_question(const Message& message);

// Whether a session that ends with this message was cut: the answer is incomplete or missing.
bool is_cut_after(const Message& last);

// The JSON form of a message's blocks: an array of objects with the keys in the order type, text,
// id, name, input, tool_use_id, is_error, empty ones left out, then the extra fields.
std::string blocks_to_json(const std::vector<Block>& blocks);

// Its inverse. Also accepts null, a plain string (one text block) and objects of unknown types.
// corrupt when it is no such JSON.
Result<std::vector<Block>> blocks_from_json(std::string_view json);

// One JSON object; message_from_json(message_to_json(m)) == m, unknown fields in `extra`.
std::string message_to_json(const Message& message);
Result<Message> message_from_json(std::string_view json);

std::string usage_to_json(const Usage& usage);
Result<Usage> usage_from_json(std::string_view json);

}  // namespace reprise
