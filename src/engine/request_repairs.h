#pragma once

// What a request view repairs: tool calls that have no result yet, and the counts of all repairs,
// which are reported once per request.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reprise/message.h"

namespace reprise {

enum class RequestRepair : std::uint8_t {
  system_message,  // the prompt is sent separately
  unknown_role,
  foreign_thinking,
  foreign_block,
  unfinished_call,  // of an interrupted answer
  unanswered_call,  // got an error result
  orphan_result,    // without its call, or a duplicate
  renamed_call,     // an id or a name that providers reject
  wrapped_input,    // not a JSON object
  unusable_image,
  unreadable_blob,
  first_answer,  // an answer without a preceding question
  damaged_message,
  refused_question,  // asked again, or abandoned
  refused_turn,      // the model refused to answer
};
inline constexpr std::size_t kRequestRepairKinds = 15;

class RequestRepairs {
 public:
  void count(RequestRepair kind, std::int64_t times = 1) {
    counts_.at(static_cast<std::size_t>(kind)) += times;
  }
  std::int64_t of(RequestRepair kind) const { return counts_.at(static_cast<std::size_t>(kind)); }
  // One line for each kind that occurred: "2 tool calls without a result: sent with an error
  // result".
  std::vector<std::string> lines() const;

 private:
  std::array<std::int64_t, kRequestRepairKinds> counts_{};
};

// A tool call of an answer that has no result yet.
struct OpenCall {
  std::string id;    // as recorded
  std::string sent;  // as the provider gets it
  std::optional<ToolResultBlock> result = std::nullopt;
};

// Indexed by id, since an answer may have many calls, and a message many results. Calls with one id
// get their results in order. `Less` compares ids.
template <class Less = std::less<>>
class BasicOpenCalls {
 public:
  bool empty() const { return calls_.empty(); }

  void add(const std::string& id, std::string sent) {
    indexes_.emplace(id, calls_.size());  // after equal ones
    calls_.push_back({id, std::move(sent)});
  }

  // Moves results out of a later message. A call is closed when it has its result, or when its id
  // is used for another call. Returns whether calls are still open.
  bool extract_results(Message& message) {
    if (message.role == role::kAssistant && message.state == MessageState::complete) {
      for (const ToolUseBlock* const call : tool_calls(message)) {
        indexes_.erase(call->id);
      }
    }
    std::vector<Block>& blocks = message.blocks;
    const auto is_remaining = [this](Block& block) { return !extract_result(block); };
    blocks.erase(std::stable_partition(blocks.begin(), blocks.end(), is_remaining), blocks.end());
    return !indexes_.empty();
  }

  // All calls in order; clears the list.
  std::vector<OpenCall> close() {
    indexes_.clear();
    return std::exchange(calls_, {});
  }

 private:
  bool extract_result(Block& block) {
    auto* const result = std::get_if<ToolResultBlock>(&block);
    const auto index =
        result != nullptr ? indexes_.lower_bound(result->tool_use_id) : indexes_.end();
    if (index == indexes_.end() || index->first != result->tool_use_id) {
      return false;
    }
    calls_[index->second].result = std::move(*result);
    indexes_.erase(index);
    return true;
  }

  std::vector<OpenCall> calls_;
  std::multimap<std::string, std::size_t, Less> indexes_;  // of the open ones
};

using OpenCalls = BasicOpenCalls<>;

}  // namespace reprise
