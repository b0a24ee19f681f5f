#pragma once

// The tool calls of an answer that have no result yet.

#include <algorithm>
#include <cstddef>
#include <map>

#include "reprise/message.h"

namespace reprise {

struct OpenCall {
  std::string id;    // as recorded
  std::string sent;  // as the provider gets it
  std::optional<ToolResultBlock> result = std::nullopt;
};

// Indexed by id, since an answer may have many calls, and a message many results. `Less` compares
// ids.
template <class Less = std::less<>>
class BasicOpenCalls {
 public:
  bool empty() const { return calls_.empty(); }
  bool has(const std::string& id) const { return places_.contains(id); }

  // Does nothing if there is a call with this id.
  void add(const std::string& id, std::string sent) {
    if (places_.emplace(id, calls_.size()).second) {
      calls_.push_back({id, std::move(sent)});
    }
  }

  // Moves results out of a later message. A call is closed when it has its result, or when its id
  // is used for another call. Returns whether calls are still open.
  bool take_results(Message& message) {
    if (message.role == role::kAssistant && message.state == MessageState::complete) {
      for (const Block& block : message.blocks) {
        if (const auto* const call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
          places_.erase(call->id);
        }
      }
    }
    std::vector<Block>& blocks = message.blocks;
    const auto is_left = [this](Block& block) { return !take_result(block); };
    blocks.erase(std::stable_partition(blocks.begin(), blocks.end(), is_left), blocks.end());
    return !places_.empty();
  }

  // All calls in order; clears the list.
  std::vector<OpenCall> close() {
    places_.clear();
    return std::exchange(calls_, {});
  }

 private:
  bool take_result(Block& block) {
    auto* const result = std::get_if<ToolResultBlock>(&block);
    const auto place = result != nullptr ? places_.find(result->tool_use_id) : places_.end();
    if (place == places_.end()) {
      return false;
    }
    calls_[place->second].result = std::move(*result);
    places_.erase(place);
    return true;
  }

  std::vector<OpenCall> calls_;
  std::map<std::string, std::size_t, Less> places_;  // of the open ones
};

using OpenCalls = BasicOpenCalls<>;

}  // namespace reprise
