#include "source/chatgpt/chatgpt_message.h"

#include <algorithm>
#include <array>
#include <expected>
#include <iterator>

#include "base/encode.h"
#include "base/text.h"
#include "base/transient.h"
#include "model/attachment.h"
#include "source/transcript.h"

namespace reprise::source::chatgpt {
namespace {

constexpr std::string_view kName = "chatgpt";
constexpr std::string_view kProvider = "openai";
// U+E200 to U+E206 in UTF-8: the common first bytes and the range of the last byte.
constexpr std::string_view kMarkBegin = "\xEE\x88";
constexpr char kMarkFirst = '\x80';
constexpr char kMarkLast = '\x86';
constexpr std::size_t kMarkBytes = 3;
constexpr std::size_t kCitationMax = 2000;

bool is_mark_at(std::string_view text, std::size_t at) {
  return text.substr(at).starts_with(kMarkBegin) && at + 2 < text.size() &&
         text[at + 2] >= kMarkFirst && text[at + 2] <= kMarkLast;
}

// The visible text of a mark: the name of an entity, nothing for a citation.
std::string shown_of(std::string_view mark) {
  constexpr std::string_view kEntity = "entity\xEE\x88\x82";
  if (!mark.starts_with(kEntity)) {
    return "";
  }
  mark.remove_prefix(kEntity.size());
  const auto list = RawJson::parse(std::string(mark));
  std::vector<std::string> texts;
  if (list) {
    JsonView(list->text()).each([&](JsonView text) { texts.push_back(text.text()); });
  }
  return texts.size() > 1 ? texts[1] : "";
}

// Whether files of an export have names that begin so. A pointer may come from anywhere, and must
// not name a private file that lies near it.
bool is_asset_name(std::string_view beginning) {
  return (beginning.starts_with("file-") || beginning.starts_with("file_")) &&
         std::ranges::all_of(beginning,
                             [](char c) { return is_ascii_alnum(c) || c == '-' || c == '_'; });
}

// Collects the blocks of one message.
class Blocks {
 public:
  Blocks(Message& message, const Download* download) : message_(message), download_(download) {}

  void add_text(std::string_view text, Extra extra = {}) {
    if (text.empty()) {
      return;
    }
    std::string shown = message_.role == role::kUser ? std::string(text) : without_citations(text);
    if (shown != text) {
      extra.push_back({"original", RawJson::string(text)});
    }
    message_.blocks.emplace_back(TextBlock{std::move(shown), std::move(extra)});
  }

  void add_parts(JsonView parts) {
    parts.each([&](JsonView part) {
      if (part.is(json::Kind::string)) {
        add_text(part.text());
      } else if (part["content_type"].text() == "audio_transcription") {
        add_text(part["text"].text(), unknown_members(kName, part, {"text"}));
      } else if (part["content_type"].text() != "image_asset_pointer" ||
                 !add_image(part["asset_pointer"].text(), part)) {
        add_unknown(part);
      }
    });
  }

  // What the code interpreter drew.
  void add_drawings(JsonView outputs) {
    outputs.each([&](JsonView output) {
      if (output["message_type"].text() == "image") {
        add_image(output["image_url"].text(), output);
      }
    });
  }

  void add_thoughts(JsonView thoughts) {
    thoughts.each([&](JsonView thought) {
      const std::string summary = thought["summary"].text();
      const std::string content = thought["content"].text();
      message_.blocks.emplace_back(
          ThinkingBlock{cat(summary, summary.empty() || content.empty() ? "" : "\n", content), "",
                        unknown_members(kName, thought, {"summary", "content"})});
    });
  }

  void add_unknown(JsonView content) { message_.blocks.push_back(unknown_block(content)); }

  // Whether its images could be read.
  const Result<>& read() const { return read_; }

 private:
  bool add_image(std::string_view pointer, JsonView part) {
    const std::size_t slashes = pointer.find("://");
    if (download_ == nullptr || slashes == std::string_view::npos ||
        !is_asset_name(pointer.substr(slashes + 3))) {
      return false;
    }
    const auto asset = download_->asset(pointer.substr(slashes + 3));
    if (!asset && is_transient(asset.error())) {
      read_ = std::unexpected(asset.error());
    }
    const std::string bytes = asset ? asset->value_or("") : "";
    const std::string_view type = model::media_type_of(bytes);
    if (!type.starts_with("image/")) {
      return false;
    }
    ImageBlock image = image_of(type, base64_encode(bytes));
    add_extra(image.extra, kName, raw_of(part));
    message_.blocks.emplace_back(std::move(image));
    return true;
  }

  Message& message_;
  const Download* download_;
  Result<> read_;
};

std::string quote_of(JsonView content) {
  const std::string title = content["title"].text();
  const std::string url = content["url"].text();
  const std::string text = content["text"].text();
  return cat(title, title.empty() || url.empty() ? "" : " ", url,
             (title.empty() && url.empty()) || text.empty() ? "" : "\n", text);
}

// The text of content with a single text; nullopt for content with parts.
std::optional<std::string> text_of_content(JsonView content) {
  const std::string type = content["content_type"].text();
  if (type == "code" || type == "execution_output" || type == "system_error") {
    return content["text"].text();
  }
  if (type == "tether_quote" || type == "sonic_webpage") {
    return quote_of(content);
  }
  if (type == "tether_browsing_display") {
    const std::string result = content["result"].text();
    return result.empty() ? content["summary"].text() : result;
  }
  return std::nullopt;
}

Result<> add_content(JsonView content, JsonView metadata, Message& message,
                     const Download* download) {
  Blocks blocks(message, download);
  const std::string type = content["content_type"].text();
  if (const auto text = text_of_content(content)) {
    Extra extra;
    if (content["language"]) {
      add_extra(extra, "language", raw_of(content["language"]));
    }
    blocks.add_text(*text, std::move(extra));
  } else if (type == "thoughts") {
    blocks.add_thoughts(content["thoughts"]);
  } else if (type == "text" || type == "multimodal_text") {
    blocks.add_parts(content["parts"]);
  } else if (type == "user_editable_context") {
    blocks.add_text(content["user_profile"].text());
    blocks.add_text(content["user_instructions"].text());
  } else if (type == "model_editable_context") {
    blocks.add_text(content["model_set_context"].text());
  } else if (content) {
    blocks.add_unknown(content);
  }
  if (type == "execution_output") {
    blocks.add_drawings(metadata["aggregate_result"]["messages"]);
  }
  return blocks.read();
}

// Attached files that are no images, which have a part of their own.
void add_files(JsonView attachments, std::vector<Block>& blocks) {
  attachments.each([&](JsonView attachment) {
    if (!attachment["mime_type"].text().starts_with("image/")) {
      blocks.push_back(unknown_block(attachment));
    }
  });
}

// The texts of a tool's message become its result; its other blocks follow.
void make_result(Message& message, std::string_view call, bool is_error) {
  ToolResultBlock result = tool_result(std::string(call), plain_text(message), is_error);
  std::vector<Block> blocks;
  for (Block& block : message.blocks) {
    if (auto* const text = std::get_if<TextBlock>(&block); text == nullptr) {
      blocks.push_back(std::move(block));
    } else {
      std::ranges::move(text->extra, std::back_inserter(result.extra));
    }
  }
  blocks.insert(blocks.begin(), std::move(result));
  message.blocks = std::move(blocks);
}

void make_call(Message& message, JsonView json) {
  const JsonView content = json["content"];
  const auto text = text_of_content(content);
  RawJson input = text ? json_in(*text) : json_in(plain_text(message));
  message.blocks.clear();
  message.blocks.emplace_back(
      ToolUseBlock{json["id"].text(), json["recipient"].text(), std::move(input), {}});
}

bool is_cut(JsonView message) {
  const std::string status = message["status"].text();
  const std::string finish = message["metadata"]["finish_details"]["type"].text();
  return status == "in_progress" || status == "finished_partial_completion" ||
         finish == "interrupted" || finish == "max_tokens";
}

}  // namespace

std::string without_citations(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_mark_at(text, at)) {
      out += text[at++];
      continue;
    }
    const bool begins = text[at + 2] == kMarkFirst;
    at += kMarkBytes;
    const std::size_t end = begins ? text.find("\xEE\x88\x81", at) : std::string_view::npos;
    if (end != std::string_view::npos && end - at <= kCitationMax) {
      out += shown_of(text.substr(at, end - at));
      at = end + kMarkBytes;
    }
  }
  return out;
}

MessageMetadata metadata_of(JsonView message) {
  const auto [id, author, time, content, details, recipient] =
      message.members({"id", "author", "create_time", "content", "metadata", "recipient"});
  const auto [type_json, parts] = content.members({"content_type", "parts"});
  const std::string type = type_json.text();
  const std::string to = recipient.text();
  MessageMetadata metadata{.id = id.text(),
                           .role = author["role"].text(),
                           .model = details["model_slug"].text(),
                           .time = sniffed_time(time),
                           .content = content};
  const bool is_assistant = metadata.role == role::kAssistant;
  metadata.is_call = is_assistant && !to.empty() && to != "all";
  metadata.is_injected = metadata.role == role::kSystem ||
                         is_true(details["is_visually_hidden_from_conversation"]) ||
                         is_true(details["is_user_system_message"]) ||
                         type == "user_editable_context" || type == "model_editable_context";
  // An answer that was cut before its first word counts.
  metadata.has_content = content && (is_assistant || (type != "text" && type != "multimodal_text"));
  if (content && !metadata.has_content) {
    parts.each([&](JsonView part) {
      metadata.has_content = metadata.has_content || part.raw().size() > 2;  // more than ""
    });
    metadata.has_content = metadata.has_content || details["attachments"].raw().size() > 2;
  }
  return metadata;
}

std::string question_text(JsonView content) {
  std::string text;
  content["parts"].each([&](JsonView part) { text = text.empty() ? part.text() : text; });
  return text;
}

Result<Message> message_of(JsonView json, std::string_view call, const Download* download) {
  const MessageMetadata metadata = metadata_of(json);
  Message message{.role = metadata.role, .created_at = metadata.time.value_or(Time{})};
  REPRISE_TRY(add_content(metadata.content, json["metadata"], message, download));
  if (metadata.role == role::kUser) {
    add_files(json["metadata"]["attachments"], message.blocks);
  }
  if (metadata.is_call) {
    make_call(message, json);
  } else if (metadata.role == role::kTool) {
    make_result(message, call, metadata.content["content_type"].text() == "system_error");
  }
  if (metadata.is_injected) {
    mark_injected(message);
  } else if (metadata.role == role::kUser) {
    if (auto author = Author::parse(json["author"]["name"].text()); author) {
      message.author = *std::move(author);
    }
  } else if (metadata.role == role::kAssistant) {
    message.provider = kProvider;
    message.model = metadata.model;
    message.state = is_cut(json) ? MessageState::incomplete : MessageState::complete;
  }
  add_unknown_members(message.extra, kName, json, {"content"});
  return message;
}

}  // namespace reprise::source::chatgpt
