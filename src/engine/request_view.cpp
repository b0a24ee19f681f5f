#include "engine/request_view.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "base/encode.h"
#include "base/json_view.h"
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

constexpr std::size_t kToolNameBytesMax = 64;
constexpr std::size_t kMappedIdBytes = 9;
constexpr std::string_view kStopped = "(the turn was stopped here, before an answer)";
constexpr std::string_view kDidNotComplete = "the tool call did not complete";
constexpr std::string_view kNoOutput = "(no output)";
constexpr std::string_view kEarlierLeftOut = "(earlier messages are left out)";

bool is_blank(std::string_view text) {
  return trimmed(text).empty();
}

bool is_word_byte(char c) {
  return is_ascii_alnum(c) || c == '_' || c == '-';
}

std::string acceptable_word(std::string_view text, std::string_view default_word) {
  std::string out(text.substr(0, kToolNameBytesMax));
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

std::string media_name(const ImageBlock& image) {
  return model::is_pdf(image) ? cat("the PDF ", model::file_name(image)) : "an image";
}

// Nine letters and digits: the strictest rule for call ids, which every server accepts.
std::string nine_letters(std::uint64_t number) {
  constexpr std::string_view kLetters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string out(kMappedIdBytes, '0');
  for (char& letter : out) {
    letter = kLetters[number % kLetters.size()];
    number /= kLetters.size();
  }
  return out;
}

std::uint64_t hash_of(std::initializer_list<std::string_view> texts) {
  std::uint64_t hash = kFnvOffset;
  for (const std::string_view text : texts) {
    hash = fnv1a(std::string_view("\0", 1), fnv1a(text, hash));
  }
  return hash;
}

bool is_strict_id(std::string_view id) {
  return id.size() == kMappedIdBytes && std::ranges::all_of(id, is_ascii_alnum);
}

// Kimi's newer models are trained on ids that they write themselves as "functions.NAME:N".
bool names_functions(std::string_view model) {
  std::string name = ascii_lower(model);
  std::ranges::replace(name, '_', '-');
  return name.contains("kimi-k2");
}

// The id of a call that the server makes and answers itself; "" for other blocks.
std::string own_call_id(const Block& block) {
  const auto* const raw = std::get_if<UnknownBlock>(&block);
  const bool is_call =
      raw != nullptr && (raw->type == "server_tool_use" || raw->type == "mcp_tool_use");
  return is_call ? JsonView(raw->json.text())["id"].text() : "";
}

bool is_result_of(const Block& block, std::string_view id) {
  const auto* const raw = std::get_if<UnknownBlock>(&block);
  return raw != nullptr && JsonView(raw->json.text())["tool_use_id"].text() == id;
}

// In chat/completions these are members of the message, wherever they stand.
bool is_member_block(const Block& block) {
  const auto* const raw = std::get_if<UnknownBlock>(&block);
  return raw != nullptr && (raw->type == "reasoning_details" || raw->type == "message_members");
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
  queue_.clear();
  carried_results_.clear();
  open_calls_ = {};
  ids_.clear();
  names_.clear();
  sent_ = {};
  is_this_turn_ = false;
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
  if (queue_.empty()) {
    auto message = next_message();
    if (!message) {
      return std::optional<Message>();
    }
    queue_.push_front(*std::move(message));
  }
  Message out = std::move(queue_.front());
  queue_.pop_front();
  if (out.role == role::kAssistant) {
    out.provider = provider_.name();  // others' opaque parts have been left out
  }
  return std::optional<Message>(std::move(out));
}

std::optional<RequestView::Piece> RequestView::take_piece() {
  return pushed_back_ ? std::exchange(pushed_back_, std::nullopt) : next_piece();
}

// Whether a piece cannot be in the same message. A question after results is counted, and an answer
// comes between them if the form says so.
bool RequestView::is_separate(const Piece& piece, const Message& message, bool has_results) {
  if (piece.assistant != (message.role == role::kAssistant)) {
    return true;
  }
  if (!has_results || piece.assistant) {
    return false;
  }
  ++sent_.questions_after_results;
  if (options_.form.answers_results) {
    queue_.push_back(message_of(role::kAssistant, {TextBlock{std::string(kStopped), {}}}));
  }
  return options_.form.answers_results;
}

std::optional<Message> RequestView::next_message() {
  Message out =
      message_of(role::kUser, carried_results_.empty() ? results_of_open_calls()
                                                       : std::exchange(carried_results_, {}));
  const bool has_results = !out.blocks.empty();
  if (first_ && options_.form.prompt_in_question) {
    add_text(out.blocks, options_.prompt);
  }
  const std::size_t head = out.blocks.size();
  while (auto piece = take_piece()) {
    const bool begins = first_ && !has_results && out.blocks.size() == head;
    if (begins && piece->assistant) {
      repairs_.count(RequestRepair::first_answer);
      add_text(out.blocks, std::string(kEarlierLeftOut));
    }
    if (out.blocks.empty()) {
      out.role = piece->assistant ? role::kAssistant : role::kUser;
    }
    if (is_separate(*piece, out, has_results)) {
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
    return std::nullopt;
  }
  first_ = false;
  if (out.role != role::kAssistant) {
    return out;
  }
  end_answer(out);
  const auto calls = tool_calls(out).size();
  sent_.parallel_calls += calls > 1 ? 1 : 0;
  if (calls > 1 && options_.form.single_calls) {
    queue_one_by_one(std::move(out));
    out = std::move(queue_.front());
    queue_.pop_front();
  }
  return out;
}

// Nothing opaque ends an answer; a call of the server's own tool has its result, unless the answer
// is to be continued.
void RequestView::end_answer(Message& answer) {
  std::vector<Block>& blocks = answer.blocks;
  if (pushed_back_ || reader_.peek(0) != nullptr) {
    std::erase_if(blocks, [&](const Block& block) {
      const std::string id = own_call_id(block);
      const bool is_open = !id.empty() && std::ranges::none_of(blocks, [&id](const Block& other) {
        return is_result_of(other, id);
      });
      if (is_open) {
        repairs_.count(RequestRepair::unanswered_call);
      }
      return is_open;
    });
  }
  while (!blocks.empty() && is_reasoning(blocks.back()) && !is_member_block(blocks.back())) {
    blocks.pop_back();
  }
  if (!has_sendable_content(blocks)) {
    add_text(blocks, std::string(kStopped));
  }
}

// Each call in an answer of its own, directly followed by its result.
void RequestView::queue_one_by_one(Message answer) {
  std::vector<Block> results = results_of_open_calls();
  auto result = results.begin();
  Message next = message_of(role::kAssistant, {});
  next.state = answer.state;
  for (Block& block : answer.blocks) {
    const bool is_call = std::holds_alternative<ToolUseBlock>(block);
    if (is_call && !tool_calls(next).empty() && result != results.end()) {
      queue_.push_back(std::exchange(next, message_of(role::kAssistant, {})));
      queue_.push_back(message_of(role::kUser, {std::move(*result++)}));
    }
    next.blocks.push_back(std::move(block));
  }
  queue_.push_back(std::move(next));
  carried_results_.assign(std::move_iterator(result), std::move_iterator(results.end()));
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
    if (omits_refused_turn(*message)) {
      repairs_.count(RequestRepair::refused_turn);
      continue;
    }
    is_this_turn_ = is_this_turn_ || (is_question(*message) && options_.question &&
                                      message->created_at == *options_.question);
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

// Skips the rest of a turn that the model refused, if another question follows it.
bool RequestView::omits_refused_turn(const Message& question) {
  if (!is_plain_question(question)) {
    return false;
  }
  std::size_t messages = 0;
  bool is_refused = false;
  const Message* next = reader_.peek(0);
  for (; next != nullptr && !is_question(*next); next = reader_.peek(++messages)) {
    is_refused = is_refused_answer(*next) || (is_refused && next->role != role::kAssistant);
  }
  if (next == nullptr || !is_refused) {
    return false;
  }
  for (; messages > 0; --messages) {
    reader_.take();
  }
  return true;
}

RequestView::Piece RequestView::assistant_piece(Message message) {
  Piece piece{.assistant = true};
  const auto maker = maker_of(message);
  const Source from{message, maker && is_same(*maker, options_.target)};
  const bool is_complete = message.state == MessageState::complete;
  piece.incomplete = !is_complete;
  for (Block& block : message.blocks) {
    if (auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
      add_text(piece.blocks, std::move(text->text));
    } else if (auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
      if (is_complete) {
        add_call(piece, *call, from);
      } else {
        repairs_.count(RequestRepair::unfinished_call);
      }
    } else if (std::holds_alternative<ToolResultBlock>(block)) {
      repairs_.count(RequestRepair::orphan_result);
    } else if (std::holds_alternative<ImageBlock>(block)) {
      repairs_.count(RequestRepair::unusable_image);  // no provider accepts one in an answer
    } else if (is_complete) {
      add_opaque(piece, std::move(block), from);
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
    } else if (auto* result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
      if (const auto call = names_.find(result->tool_use_id); call != names_.end()) {
        read_result(*result);
        add_text(piece.blocks, cat("(result of ", call->second, ": ", result->text, ")"));
        continue;
      }
      repairs_.count(RequestRepair::orphan_result);  // results with a call have been removed before
    } else {
      repairs_.count(RequestRepair::foreign_block);
    }
  }
  return piece;
}

bool RequestView::accepts(const Block& block, const Source& from) const {
  const auto* const thinking = std::get_if<ThinkingBlock>(&block);
  if (options_.form.fills_reasoning && thinking != nullptr && !thinking->text.empty()) {
    return from.message.provider == provider_.name();
  }
  return from.is_own && !options_.form.omits_opaque;
}

void RequestView::add_opaque(Piece& piece, Block block, const Source& from) {
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
  ++sent_.opaque;
  piece.blocks.push_back(std::move(block));
}

void RequestView::add_call(Piece& piece, const ToolUseBlock& call, const Source& from) {
  const std::string name = acceptable_word(call.name, "unnamed");
  RawJson input = input_object(call.input);
  if (input != call.input && !call.input.is_null()) {
    repairs_.count(RequestRepair::wrapped_input);
  }
  ++sent_.calls;
  if (options_.form.tools_as_text) {
    names_[call.id] = name;
    add_text(piece.blocks, cat("(called ", name, " with ", input.text(), ")"));
    return;
  }
  const std::string sent = sent_id(call, from);
  if (sent != call.id || name != call.name) {
    repairs_.count(RequestRepair::renamed_call);
  }
  sent_.loose_ids += is_strict_id(sent) ? 0 : 1;
  piece.calls.add(call.id, sent);
  const bool keeps_members = from.is_own && !options_.form.omits_opaque && !call.extra.empty();
  sent_.opaque += keeps_members ? 1 : 0;
  piece.blocks.emplace_back(
      ToolUseBlock{sent, name, std::move(input), keeps_members ? call.extra : Extra()});
}

std::string RequestView::sent_id(const ToolUseBlock& call, const Source& from) {
  if (from.is_own && !options_.form.strict_ids && !call.id.empty()) {
    return call.id;
  }
  if (names_functions(options_.target.model) && !options_.form.strict_ids) {
    return cat("functions.", acceptable_word(call.name, "unnamed"), ":", sent_.calls - 1);
  }
  return mapped_id(call.id, from.message);
}

// Some models restart the numbering of calls in each answer, so the answer's time is part of it.
std::string RequestView::mapped_id(std::string_view id, const Message& from) {
  const std::string time = format_time(from.created_at);
  for (int times = 0;; ++times) {
    std::string mapped = nine_letters(hash_of({id, time, cat(times)}));
    if (ids_.insert(std::hash<std::string>{}(mapped)).second) {
      return mapped;
    }
  }
}

void RequestView::add_image(Piece& piece, ImageBlock image) {
  if (!is_this_turn_) {
    ++(model::is_pdf(image) ? sent_.pdfs : sent_.images);
  }
  if (options_.form.omits_media && !is_this_turn_) {
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

void RequestView::read_result(ToolResultBlock& result) {
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
}

ToolResultBlock RequestView::acceptable_result(ToolResultBlock result, const std::string& id) {
  read_result(result);
  if (is_blank(result.text)) {
    result.text = kNoOutput;
  }
  return {id, std::move(result.text), result.is_error, {}, {}};
}

}  // namespace reprise
