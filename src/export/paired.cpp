#include "export/paired.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/content.h"
#include "model/known_time.h"

namespace reprise::exporting {
namespace {

constexpr std::string_view kNoResult = "(interrupted before there was a result)";

bool is_call(const Block& block) {
  return std::holds_alternative<ToolUseBlock>(block);
}

bool is_result(const Block& block) {
  return std::holds_alternative<ToolResultBlock>(block);
}

bool has_call(const Message& message, std::string_view id) {
  return std::ranges::any_of(message.blocks, [id](const Block& block) {
    const auto* call = std::get_if<ToolUseBlock>(&block);
    return call != nullptr && call->id == id;
  });
}

}  // namespace

Result<> PairedWriter::message(const Message& message) {
  const bool has_calls = std::ranges::any_of(message.blocks, is_call);
  Message without_results = message;
  std::erase_if(without_results.blocks, is_result);
  const bool is_only_results = without_results.blocks.empty() && !message.blocks.empty();
  if (has_calls) {
    REPRISE_TRY(flush());
    pending_ = std::move(without_results);
    take_results(message);
    return {};
  }
  take_results(message);
  if (is_only_results) {
    return has_all_results() ? flush() : Result<>();
  }
  if (without_results.role == role::kAssistant) {
    REPRISE_TRY(flush());
    return answer(without_results, {});
  }
  following_.push_back(std::move(without_results));
  return has_all_results() ? flush() : Result<>();
}

bool PairedWriter::has_all_results() const {
  return !pending_ ||
         std::cmp_equal(results_.size(), std::ranges::count_if(pending_->blocks, is_call));
}

void PairedWriter::take_results(const Message& message) {
  for (const Block& block : message.blocks) {
    const auto* result = std::get_if<ToolResultBlock>(&block);
    if (result == nullptr) {
      continue;
    }
    if (pending_ && has_call(*pending_, result->tool_use_id)) {
      results_.insert_or_assign(result->tool_use_id, CallResult{*result, message.created_at});
    } else {
      job_.losses.emplace("results of calls that do not exist");
    }
  }
}

Result<> PairedWriter::flush() {
  if (const std::optional<Message> message = std::exchange(pending_, std::nullopt)) {
    REPRISE_TRY(answer(*message, std::exchange(results_, {})));
  }
  for (const Message& message : std::exchange(following_, {})) {
    REPRISE_TRY(other(message));
  }
  return {};
}

Result<PairedWriter::Outcome> PairedWriter::outcome(const CallResults& results,
                                                    const ToolUseBlock& call, Time question_at) {
  const auto found = results.find(call.id);
  if (found == results.end()) {
    return Outcome{.text = std::string(kNoResult), .is_error = true, .at = question_at};
  }
  const CallResult& result = found->second;
  REPRISE_ASSIGN(std::string text, full_text(job_, result.block));
  return Outcome{.text = std::move(text),
                 .is_error = result.block.is_error,
                 .at = is_known(result.at) ? result.at : question_at};
}

Result<> PairedWriter::each_outcome(const Message& answer, const CallResults& results,
                                    const OutcomeSink& write) {
  for (const Block& block : answer.blocks) {
    if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
      REPRISE_ASSIGN(const Outcome result, outcome(results, *call, answer.created_at));
      REPRISE_TRY(write(*call, result));
    }
  }
  return {};
}

}  // namespace reprise::exporting
