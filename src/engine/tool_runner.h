#pragma once

// Runs the tool calls of one answer: checked, approved, then up to kToolsAtOnce side by side.

#include "reprise/conversation.h"

namespace reprise {

inline constexpr std::size_t kToolsAtOnce = 8;

// Called with each result as it comes, in the thread that called run_tools().
using ToolResultSink = std::function<void(const ToolUseBlock& call, ToolResultBlock result)>;

// Every call gets one result, but for those not begun when the context's stop came. Returns when
// all that have begun have ended: a tool that may take long watches the stop token.
void run_tools(const ConversationOptions& options, const ToolContext& context,
               const std::vector<ToolUseBlock>& calls, const ToolResultSink& sink);

// The result of a call that is refused.
ToolResultBlock error_result(const ToolUseBlock& call, std::string_view text);

}  // namespace reprise
