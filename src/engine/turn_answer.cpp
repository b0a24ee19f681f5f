// Makes messages, tool results and the outcome of a turn.

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "engine/maker.h"
#include "engine/message_of.h"
#include "engine/record.h"
#include "engine/reply.h"
#include "engine/turn.h"

namespace reprise {

Message Turn::finished(Reply& reply, bool interrupted) {
  const bool too_long = reply.reason() == StopReason::max_tokens;
  const bool is_refused = reply.reason() == StopReason::refused && !reply.word().empty();
  Message answer = reply.take_message();
  answer.provider = provider_.name();
  answer.created_at = options_.clock.now();
  answer.state = interrupted || too_long ? MessageState::incomplete : MessageState::complete;
  if (answer.model.empty()) {
    answer.model = options_.model;
  }
  record_maker(answer, maker_at(provider_, options_.model), ladder_.form(), start_at_);
  if (is_refused) {
    mark_refused(answer);
  }
  make_countable(answer);
  return start_.incomplete.empty() ? answer : joined_with_incomplete(std::move(answer));
}

// Gives the usage an id, so that it is counted once, however often it is stored. Some servers use
// one id for many answers: those are told apart by their usage.
void Turn::make_countable(Message& answer) const {
  if (!answer.usage) {
    return;
  }
  Usage& usage = *answer.usage;
  if (usage.request_id.empty()) {
    usage.request_id = answer.response_id.empty()
                           ? make_operation_id(options_.clock, options_.entropy).str()
                           : answer.response_id;
  }
  const auto is_another = [&usage](const Usage& earlier) {
    return earlier.request_id == usage.request_id && earlier != usage;
  };
  if (std::ranges::any_of(recent_, is_another)) {
    usage.request_id += cat("/", make_operation_id(options_.clock, options_.entropy).str());
  }
}

// Merges the incomplete pieces into one message: their text, then the new blocks. Unfinished tool
// calls and thinking are not continued; they remain in the replaced messages.
Message Turn::joined_with_incomplete(Message answer) {
  if (!start_.replace_from) {
    start_.incomplete.clear();
    return answer;
  }
  std::string text;
  std::vector<Block> blocks;
  for (Message& message : start_.incomplete) {
    for (Block& block : message.blocks) {
      if (const auto* piece = std::get_if<TextBlock>(&block); piece != nullptr) {
        text += piece->text;
      }
    }
  }
  start_.incomplete.clear();
  auto next = answer.blocks.begin();
  while (next != answer.blocks.end() && !std::holds_alternative<TextBlock>(*next) &&
         !std::holds_alternative<ToolUseBlock>(*next)) {
    blocks.push_back(std::move(*next++));  // thinking precedes what it is about
  }
  if (next != answer.blocks.end() && std::holds_alternative<TextBlock>(*next)) {
    text += std::get<TextBlock>(*next++).text;
  }
  if (!text.empty()) {
    blocks.emplace_back(TextBlock{std::move(text), {}});
  }
  blocks.insert(blocks.end(), std::move_iterator(next), std::move_iterator(answer.blocks.end()));
  answer.blocks = std::move(blocks);
  return answer;
}

const Message& Turn::add_answer(bool has_next_round) {
  RecordEntry entry{.begin_answer = has_next_round,
                    .end_answer = true,
                    .replace_from = std::exchange(start_.replace_from, std::nullopt)};
  if (auto message = std::exchange(unstored_, std::nullopt);
      message) {  // guaranteed by the callers
    entry.messages.push_back(*std::move(message));
  }
  return answer_.emplace(record_.add(std::move(entry)).front());
}

const Message& Turn::store_answer(bool has_next_round) {
  const Message& answer = add_answer(has_next_round);
  if (record_.check_lost()) {
    return answer;
  }
  if (!has_next_round && answer.state == MessageState::complete && !is_refused_answer(answer)) {
    record_.add_response(answer);
  }
  if (recorder_ != nullptr) {
    recorder_->on_answer(answer);
  }
  observer_.on_message(answer);
  return answer;
}

void Turn::store_result(ToolResultBlock result) {
  if (record_.check_lost()) {
    return;
  }
  if (recorder_ != nullptr) {
    recorder_->on_tool_result(result);
  }
  observer_.on_tool_result(result);
  // Ends one answer and starts the next, so that the result is stored only while this answer is
  // running.
  const bool runs = record_.answer().has_value();
  RecordEntry entry{.begin_answer = runs, .end_answer = runs};
  entry.messages.push_back(message_of(role::kTool, {std::move(result)}, options_.clock.now()));
  const Message stored = record_.add(std::move(entry)).front();
  if (!record_.check_lost()) {
    observer_.on_message(stored);
  }
}

void Turn::run_calls(const std::vector<ToolUseBlock>& calls, bool refuse) {
  for (const ToolUseBlock& call : calls) {
    observer_.on_tool_call(call);
  }
  const auto sink = [this](const ToolUseBlock&, ToolResultBlock result) {
    store_result(std::move(result));
  };
  if (!refuse) {
    const ToolContext context{record_.session(), record_.store(), stop_};
    run_tools(options_, context, calls, sink, [this](const BlobHash& hash, std::string_view bytes) {
      record_.record_blob(hash, bytes);
    });
    return;
  }
  const std::string reason = rounds_max() < options_.tool_rounds_max
                                 ? "there are no tools: answer with what is known"
                                 : cat("the limit of ", rounds_max(),
                                       " tool rounds is reached: answer with what is known");
  observer_.on_warning(reason);
  for (const ToolUseBlock& call : calls) {
    sink(call, error_result(call, reason));
  }
}

Result<Outcome> Turn::end_without_reply(Error error) {
  if (answer_) {
    record_.add({.end_answer = true});
    return outcome(*answer_, std::move(error));
  }
  record_.end_unanswered(error.code != Code::cancelled);
  return std::unexpected(std::move(error));
}

// An answer that was displayed is no longer stored: the record saves it elsewhere, or reports how
// much was lost.
std::unexpected<Error> Turn::lost(Reply& reply) {
  if (reply.has_content()) {
    unstored_ = finished(reply, true);
    add_answer(false);
  }
  return std::unexpected(record_.lost_error());
}

Outcome Turn::outcome(const Message& answer, std::optional<Error> error) const {
  return {.answer = answer, .saved = record_.saved(), .error = std::move(error)};
}

}  // namespace reprise
