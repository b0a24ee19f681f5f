#include "engine/tool_runner.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/blobs.h"
#include "engine/tool_input.h"
#include "reprise/conversation.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/tool.h"

namespace reprise {
namespace {

std::string known_tools(const ToolRegistry* tools) {
  std::string names;
  if (tools != nullptr) {
    for (const auto& spec : tools->specs()) {
      names += cat(names.empty() ? "" : ", ", spec.name);
    }
  }
  return names.empty() ? "there are no tools" : cat("the tools are: ", names);
}

// Why the call may not run; nullopt when it may.
std::optional<std::string> refusal(const ConversationOptions& options, const ToolUseBlock& call) {
  if (options.tools == nullptr || options.tools->find(call.name) == nullptr) {
    return cat("no tool is called \"", call.name, "\"; ", known_tools(options.tools));
  }
  if (!runnable_input(call.input)) {
    return cat("the input of ", call.name, " is no JSON object");
  }
  if (options.approver && options.approver(call) == Approval::deny) {
    return cat("the call of ", call.name, " was denied");
  }
  if (options.hooks.before) {
    if (const auto allowed = options.hooks.before(call); !allowed) {
      return allowed.error().message;
    }
  }
  return std::nullopt;
}

ToolResultBlock run_one(const Tool& tool, const ToolContext& context, const ToolUseBlock& call) {
  Result<ToolOutput> output = fail(Code::io, "");
  try {
    output = tool.run(context, input_object(call.input));
  } catch (const std::exception& problem) {  // a tool is somebody else's code
    output = fail(Code::io, cat(call.name, " failed: ", problem.what()));
  }
  if (!output) {
    return error_result(call, output.error().message);
  }
  ToolResultBlock result = tool_result_block(context.store, call.id, output->text);
  result.is_error = output->is_error;
  return result;
}

// The calls that run side by side, and their results on the way to the caller's thread.
class Pool {
 public:
  Pool(const ToolRegistry& tools, const ToolContext& context,
       std::vector<const ToolUseBlock*> calls)
      : tools_(tools), context_(context), calls_(std::move(calls)) {
    const std::size_t count = std::min(kToolsAtOnce, calls_.size());
    running_ = count;
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }

  struct Done {
    const ToolUseBlock* call;
    ToolResultBlock result;
  };
  // The next result; nullopt when there will be none any more.
  std::optional<Done> wait() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !done_.empty() || running_ == 0; });
    if (done_.empty()) {
      return std::nullopt;
    }
    Done first = std::move(done_.front());
    done_.pop_front();
    return first;
  }

 private:
  void work() {
    while (const ToolUseBlock* call = next_call()) {
      auto result = run_one(*tools_.find(call->name), context_, *call);
      const std::lock_guard lock(mutex_);
      done_.push_back({call, std::move(result)});
      ready_.notify_one();
    }
    const std::lock_guard lock(mutex_);
    --running_;
    ready_.notify_one();
  }

  const ToolUseBlock* next_call() {
    const std::lock_guard lock(mutex_);
    if (next_ == calls_.size() || context_.stop.stop_requested()) {
      return nullptr;
    }
    return calls_.at(next_++);
  }

  const ToolRegistry& tools_;
  const ToolContext& context_;
  std::vector<const ToolUseBlock*> calls_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::size_t next_ = 0;     // guarded by mutex_, like what follows
  std::size_t running_ = 0;  // threads that have not ended
  std::deque<Done> done_;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace

ToolResultBlock error_result(const ToolUseBlock& call, std::string_view text) {
  return {call.id, utf8::sanitize(text), true, {}, {}};
}

void run_tools(const ConversationOptions& options, const ToolContext& context,
               const std::vector<ToolUseBlock>& calls, const ToolResultSink& sink) {
  std::vector<const ToolUseBlock*> allowed;
  for (const ToolUseBlock& call : calls) {
    if (context.stop.stop_requested()) {
      return;
    }
    if (auto reason = refusal(options, call); reason) {
      sink(call, error_result(call, *std::move(reason)));
    } else {
      allowed.push_back(&call);
    }
  }
  if (allowed.empty()) {
    return;
  }
  Pool pool(*options.tools, context, std::move(allowed));
  while (auto done = pool.wait()) {
    if (options.hooks.after) {
      options.hooks.after(*done->call, done->result);
    }
    sink(*done->call, std::move(done->result));
  }
}

}  // namespace reprise
