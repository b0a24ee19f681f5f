#pragma once

// The tool calls of an answer that wait for their results.

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

// By id: an answer may have any number of calls, and a message any number of results, so none is
// looked for one by one. `Less` compares ids.
template <class Less = std::less<>>
class BasicOpenCalls {
 public:
  bool empty() const { return calls_.empty(); }
  bool has(const std::string& id) const { return places_.contains(id); }

  // Does nothing where a call has this id already.
  void add(const std::string& id, std::string sent) {
    if (places_.emplace(id, calls_.size()).second) {
      calls_.push_back({id, std::move(sent)});
    }
  }

  // Takes results out of a message that follows. A call is no longer waited for when it has its
  // result, or where its id is used for another. Whether any is waited for still.
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

  // All calls in their order; none is open afterwards.
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
  std::map<std::string, std::size_t, Less> places_;  // of those that are waited for
};

using OpenCalls = BasicOpenCalls<>;

}  // namespace reprise
