#include "engine/request_view.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/blobs.h"
#include "engine/history.h"
#include "engine/message_of.h"
#include "engine/reply.h"
#include "engine/request_repairs.h"
#include "engine/session_notes.h"
#include "model/attachment.h"
#include "reprise/provider.h"

namespace reprise {
namespace {

constexpr std::size_t kCallIdBytesMax = 64;
constexpr std::string_view kDidNotComplete = "the tool call did not complete";
constexpr std::string_view kNoOutput = "(no output)";
constexpr std::string_view kEarlierLeftOut = "(earlier messages are left out)";

bool is_blank(std::string_view text) {
  return trimmed(text).empty();
}

bool is_word_byte(char c) {
  return is_ascii_alnum(c) || c == '_' || c == '-';
}

bool is_acceptable_word(std::string_view text) {
  return !text.empty() && text.size() <= kCallIdBytesMax && std::ranges::all_of(text, is_word_byte);
}

std::string acceptable_word(std::string_view text, std::string_view default_word) {
  std::string out(text.substr(0, kCallIdBytesMax));
  std::ranges::replace_if(out, [](char c) { return !is_word_byte(c); }, '_');
  return out.empty() ? std::string(default_word) : out;
}

// Thinking alone is not a message. Blocks of a provider's own tools are: they are continued after a
// pause.
bool has_sendable_content(const std::vector<Block>& blocks) {
  return std::ranges::any_of(blocks, [](const Block& block) {
    const auto* const raw = std::get_if<UnknownBlock>(&block);
    return raw != nullptr ? raw->type.starts_with("server_tool_use")
                          : !std::holds_alternative<ThinkingBlock>(block);
  });
}

// "a-model-20250929" and "a-model-latest" are aliases of "a-model".
std::string_view without_version(std::string_view model) {
  constexpr std::string_view kLatest = "-latest";
  constexpr std::size_t kDate = 9;  // "-20250929"
  if (model.ends_with(kLatest)) {
    return model.substr(0, model.size() - kLatest.size());
  }
  if (model.size() <= kDate) {
    return model;
  }
  const std::string_view tail = model.substr(model.size() - kDate);
  const bool has_date = tail.starts_with('-') && std::ranges::all_of(tail.substr(1), [](char c) {
                          return c >= '0' && c <= '9';
                        });
  return has_date ? model.substr(0, model.size() - kDate) : model;
}

std::string media_name(const ImageBlock& image) {
  return model::is_pdf(image) ? cat("the PDF ", model::file_name(image)) : "an image";
}

void append(std::vector<Block>& to, std::vector<Block> blocks) {
  std::ranges::move(blocks, std::back_inserter(to));
}

void add_text(std::vector<Block>& blocks, std::string text) {
  if (!is_blank(text)) {
    blocks.emplace_back(TextBlock{std::move(text), {}});
  }
}

}  // namespace

RequestView::RequestView(const Provider& provider, ViewOptions options)
    : provider_(provider), options_(std::move(options)), reader_(options_.slice) {
  seed_open_calls();
}

// Ids that the provider assigned itself need not be renamed.
void RequestView::seed_open_calls() {
  for (const std::string& id : options_.open_calls) {
    ids_.insert(std::hash<std::string>{}(id));
    open_calls_.add(id, id);
  }
}

Result<> RequestView::rewind() {
  reader_.rewind();
  repairs_ = {};
  pushed_back_.reset();
  open_calls_ = {};
  ids_.clear();
  images_ = 0;
  pdfs_ = 0;
  first_ = true;
  seed_open_calls();
  return {};
}

RequestRepairs RequestView::repairs() const {
  RequestRepairs all = repairs_;
  all.count(RequestRepair::damaged_message, reader_.damaged());
  return all;
}

Result<std::optional<Message>> RequestView::next() {
  Message out = message_of(role::kUser, results_of_open_calls());
  while (auto piece = pushed_back_ ? std::exchange(pushed_back_, std::nullopt) : next_piece()) {
    if (first_ && piece->assistant && out.blocks.empty()) {
      repairs_.count(RequestRepair::first_answer);
      pushed_back_ = std::move(piece);
      add_text(out.blocks, std::string(kEarlierLeftOut));
      break;
    }
    if (out.blocks.empty()) {
      out.role = piece->assistant ? role::kAssistant : role::kUser;
    } else if (piece->assistant != (out.role == role::kAssistant)) {
      pushed_back_ = std::move(piece);
      break;
    }
    append(out.blocks, std::move(piece->blocks));
    out.state = piece->incomplete ? MessageState::incomplete : MessageState::complete;
    if (!piece->calls.empty()) {
      open_calls_ = std::move(piece->calls);
      break;  // their results must follow immediately
    }
  }
  if (out.blocks.empty()) {
    return std::optional<Message>();
  }
  first_ = false;
  if (out.role == role::kAssistant) {
    out.provider = provider_.name();  // other providers' thinking has been left out
  }
  return std::optional<Message>(std::move(out));
}

// The next message with content that a provider accepts.
std::optional<RequestView::Piece> RequestView::next_piece() {
  while (auto message = reader_.take()) {
    const bool assistant = message->role == role::kAssistant;
    if (message->role == role::kSystem || message->role == "developer") {
      repairs_.count(RequestRepair::system_message);
      continue;
    }
    if (!assistant && message->role != role::kUser && message->role != role::kTool) {
      repairs_.count(RequestRepair::unknown_role);
      continue;
    }
    if (is_omitted(*message)) {
      repairs_.count(RequestRepair::refused_question);
      continue;
    }
    Piece piece =
        assistant ? assistant_piece(*std::move(message)) : user_piece(*std::move(message));
    if (has_sendable_content(piece.blocks)) {
      return piece;
    }
  }
  return std::nullopt;
}

// A refused question that was asked again or abandoned.
bool RequestView::is_omitted(const Message& message) {
  const Message* const next = is_question(message) ? reader_.peek(0) : nullptr;
  return next != nullptr && is_abandoned(message, *next, options_.slice.refused);
}

RequestView::Piece RequestView::assistant_piece(Message message) {
  Piece piece{.assistant = true};
  const bool is_complete = message.state == MessageState::complete;
  piece.incomplete = !is_complete;
  for (Block& block : message.blocks) {
    if (auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
      add_text(piece.blocks, std::move(text->text));
    } else if (auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
      if (is_complete) {
        add_call(piece, *call);
      } else {
        repairs_.count(RequestRepair::unfinished_call);
      }
    } else if (std::holds_alternative<ToolResultBlock>(block)) {
      repairs_.count(RequestRepair::orphan_result);
    } else if (std::holds_alternative<ImageBlock>(block)) {
      repairs_.count(RequestRepair::unusable_image);  // no provider accepts one in an answer
    } else if (is_complete) {
      add_thinking(piece, std::move(block), message);
    }
  }
  return piece;
}

RequestView::Piece RequestView::user_piece(Message message) {
  Piece piece;
  for (Block& block : message.blocks) {
    if (auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
      add_text(piece.blocks, std::move(text->text));
    } else if (auto* image = std::get_if<ImageBlock>(&block); image != nullptr) {
      add_image(piece, std::move(*image));
    } else if (std::holds_alternative<ToolResultBlock>(block)) {
      repairs_.count(RequestRepair::orphan_result);  // results with a call have been removed before
    } else {
      repairs_.count(RequestRepair::foreign_block);
    }
  }
  return piece;
}

bool RequestView::accepts(const Block& block, const Message& from) const {
  const auto is_its_model = [&from](const std::string& model) {
    return without_version(model) == without_version(from.model);
  };
  return !from.provider.empty() && provider_.accepts_thinking_from(from.provider) &&
         (!provider_.is_bound_to_model(block) ||
          std::ranges::any_of(options_.models, is_its_model));
}

void RequestView::add_thinking(Piece& piece, Block block, const Message& from) {
  const bool raw = std::holds_alternative<UnknownBlock>(block);
  if (!accepts(block, from)) {
    repairs_.count(raw ? RequestRepair::foreign_block : RequestRepair::foreign_thinking);
    return;
  }
  if (auto* thinking = std::get_if<ThinkingBlock>(&block); thinking != nullptr) {
    if (thinking->text.empty() && thinking->signature.empty()) {
      return;
    }
    thinking->extra.clear();
  }
  piece.blocks.push_back(std::move(block));
}

void RequestView::add_call(Piece& piece, const ToolUseBlock& call) {
  if (piece.calls.has(call.id)) {
    repairs_.count(RequestRepair::repeated_call);
    return;
  }
  const std::string sent = acceptable_id(call.id);
  if (sent != call.id || !is_acceptable_word(call.name)) {
    repairs_.count(RequestRepair::renamed_call);
  }
  RawJson input = input_object(call.input);
  if (input != call.input && !call.input.is_null()) {
    repairs_.count(RequestRepair::wrapped_input);
  }
  piece.calls.add(call.id, sent);
  piece.blocks.emplace_back(
      ToolUseBlock{sent, acceptable_word(call.name, "unnamed"), std::move(input), {}});
}

// Some models restart the numbering of calls in each answer; providers require distinct ids.
std::string RequestView::acceptable_id(const std::string& id) {
  std::string sent = acceptable_word(id, "call");
  for (std::size_t i = ids_.size(); !ids_.insert(std::hash<std::string>{}(sent)).second; ++i) {
    const std::string tail = cat("_", i);
    sent = cat(acceptable_word(id, "call").substr(0, kCallIdBytesMax - tail.size()), tail);
  }
  return sent;
}

void RequestView::add_image(Piece& piece, ImageBlock image) {
  ++(model::is_pdf(image) ? pdfs_ : images_);
  if (options_.omits_images) {
    add_text(piece.blocks, cat("(", media_name(image), " that this model does not take)"));
    return;
  }
  if (image.blob) {
    auto url = image_data_url(options_.slice.store, *image.blob, image.media_type);
    if (!url) {
      repairs_.count(RequestRepair::unreadable_blob);
      add_text(piece.blocks,
               cat("(", media_name(image), " could not be read: ", url.error().message, ")"));
      return;
    }
    const auto type_end = url->find(';');
    std::erase_if(image.extra, [](const ExtraField& field) { return field.name != "name"; });
    piece.blocks.emplace_back(
        ImageBlock{url->substr(5, type_end - 5), {}, *std::move(url), std::move(image.extra)});
    return;
  }
  const std::string& url = image.url;
  if (!url.starts_with("data:image/") && !url.starts_with("data:application/pdf;") &&
      !url.starts_with("https://") && !url.starts_with("http://")) {
    repairs_.count(RequestRepair::unusable_image);
    return;
  }
  std::erase_if(image.extra, [](const ExtraField& field) { return field.name != "name"; });
  piece.blocks.emplace_back(std::move(image));
}

// The look-ahead is bounded.
std::vector<Block> RequestView::results_of_open_calls() {
  bool is_waiting = !open_calls_.empty();
  for (std::size_t ahead = 0; is_waiting; ++ahead) {
    Message* const message = reader_.peek(ahead);
    is_waiting = message != nullptr && open_calls_.extract_results(*message);
  }
  std::vector<Block> results;
  for (OpenCall& call : open_calls_.close()) {
    if (call.result) {
      results.emplace_back(acceptable_result(*std::move(call.result), call.sent));
    } else {
      repairs_.count(RequestRepair::unanswered_call);
      results.emplace_back(
          ToolResultBlock{std::move(call.sent), std::string(kDidNotComplete), true, {}, {}});
    }
  }
  return results;
}

ToolResultBlock RequestView::acceptable_result(ToolResultBlock result, const std::string& id) {
  if (result.blob) {
    if (auto bytes = read_blob(options_.slice.store, *result.blob, kResultBytesMax); bytes) {
      result.text = utf8::sanitize(*bytes);
    } else {
      repairs_.count(RequestRepair::unreadable_blob);
    }
  }
  if (result.text.size() > kResultBytesMax) {
    result.text = text_prefix(result.text, kResultBytesMax);
  }
  if (is_blank(result.text)) {
    result.text = kNoOutput;
  }
  return {id, std::move(result.text), result.is_error, {}, {}};
}

}  // namespace reprise
