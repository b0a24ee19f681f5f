#include "cli/app/entry.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/attachment.h"
#include "model/known_time.h"
#include "reprise/message.h"

namespace reprise::cli::app {
namespace {

Entry answer_entry(Entry::Kind kind, std::string text, const Message& message) {
  return {
      .kind = kind, .text = std::move(text), .failed = message.state == MessageState::incomplete};
}

struct AnswerBlocks {
  const Message& message;
  std::vector<Entry>& out;

  void operator()(const TextBlock& block) {
    if (!trimmed(block.text).empty()) {
      out.push_back(answer_entry(Entry::Kind::answer, block.text, message));
    }
  }
  void operator()(const ThinkingBlock& block) {
    if (!trimmed(block.text).empty()) {
      out.push_back(answer_entry(Entry::Kind::thinking, block.text, message));
    }
  }
  void operator()(const ToolUseBlock& block) {
    out.push_back({.kind = Entry::Kind::tool,
                   .text = block.name,
                   .id = block.id,
                   .input = block.input.text()});
  }
  void operator()(const ToolResultBlock& block) { add_result(out, block); }
  void operator()(const ImageBlock& block) {
    out.push_back(
        {.text = cat(model::is_pdf(block) ? "a document (" : "an image (", block.media_type, ")")});
  }
  void operator()(const UnknownBlock& block) {
    out.push_back({.text = cat("a block of type '", block.type, "'")});
  }
};

}  // namespace

bool is_foldable(const Entry& entry) {
  return entry.kind == Entry::Kind::tool || (entry.kind == Entry::Kind::thinking && entry.ended);
}

std::size_t left_out(const Entry& entry) {
  std::size_t out = 0;
  for (const std::string* const text : {&entry.text, &entry.input, &entry.result}) {
    out += text->size() - std::min(text->size(), entry.shown_bytes);
  }
  return out;
}

void show_more(Entry& entry) {
  entry.shown_bytes *= 4;
  entry.changed();
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto offset = std::ssize(digits) - 3; offset > (number < 0 ? 1 : 0); offset -= 3) {
    digits.insert(static_cast<std::size_t>(offset), ",");
  }
  return digits;
}

std::string footer_text(std::string_view model, const std::optional<Usage>& usage) {
  std::string out(model);
  const auto add = [&out](std::string_view part) { out += cat(out.empty() ? "" : " · ", part); };
  if (usage && (usage->input.value > 0 || usage->output.value > 0)) {
    add(cat(grouped(usage->input.value), " in, ", grouped(usage->output.value), " out"));
  }
  if (usage && usage->cost) {
    add(cat("$", usage->cost->str()));
  }
  return out;
}

void EntryMaker::add(const Message& message) {
  const std::size_t before = entries_.size();
  const bool question = is_question(message);
  if (question) {
    const bool is_named = message.author && message.author != reader_;
    entries_.push_back({.kind = Entry::Kind::question,
                        .text = question_text(message),
                        .author = is_named ? message.author->str() : ""});
  }
  if (question || message.seq == Seq{}) {
    turn_ = Usage{};
  }
  for (const Block& block : message.blocks) {
    if (!question || !std::holds_alternative<TextBlock>(block)) {
      std::visit(AnswerBlocks{message, entries_}, block);
    } else if (const auto name = attached_name(block); name) {
      entries_.push_back({.text = cat("attached ", *name)});
    }
  }
  if (message.role == role::kAssistant) {
    add_footer(message);
  }
  for (std::size_t i = before; i < entries_.size(); ++i) {
    entries_[i].seq = message.seq;
  }
}

void EntryMaker::add_footer(const Message& message) {
  if (message.state == MessageState::incomplete) {
    entries_.push_back({.text = "this answer was interrupted; /go-on continues it"});
  }
  if (message.usage) {
    last_input_ = message.usage->input.value > 0 ? message.usage->input.value : last_input_;
    Usage of_earlier_turn;
    store::count_usage(turn_ ? *turn_ : of_earlier_turn, counted_requests_, *message.usage);
  }
  // The turn continues after tool calls, so there is no footer yet.
  const bool calls = std::ranges::any_of(message.blocks, [](const Block& block) {
    return std::holds_alternative<ToolUseBlock>(block);
  });
  if (!calls) {
    entries_.push_back(
        {.kind = Entry::Kind::footer,
         .text = footer_text(message.model, turn_),
         .at = is_known(message.created_at) ? std::optional(message.created_at) : std::nullopt});
    turn_ = Usage{};
  }
}

void add_result(std::vector<Entry>& entries, const ToolResultBlock& result) {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->kind == Entry::Kind::tool && entry->id == result.tool_use_id) {
      entry->result = result.text;
      entry->failed = result.is_error;
      entry->ended = true;
      entry->changed();
      return;
    }
  }
}

}  // namespace reprise::cli::app
