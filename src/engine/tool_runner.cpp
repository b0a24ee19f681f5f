// Runs the tool calls of one answer: checked, approved, then up to kToolsAtOnce in parallel.

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/blobs.h"
#include "engine/reply.h"
#include "engine/turn.h"
#include "reprise/conversation.h"
#include "reprise/store.h"

namespace reprise {
namespace {

std::string known_tools(const ToolRegistry* tools) {
  const std::string names = tools == nullptr ? "" : joined(tools->specs(), &ToolSpec::name);
  return names.empty() ? "there are no tools" : cat("the tools are: ", names);
}

// Why the call is rejected; nullopt if it may run.
std::optional<std::string> refusal(const ConversationOptions& options, const ToolUseBlock& call) {
  if (options.tools == nullptr || options.tools->find(call.name) == nullptr) {
    return cat("unknown tool \"", call.name, "\"; ", known_tools(options.tools));
  }
  if (!is_object(call.input)) {  // what is shown to the user is what runs
    return cat("the input of ", call.name, " is not a JSON object");
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

Result<ToolOutput> run_tool(const Tool& tool, const ToolContext& context, const RawJson& input) {
  try {
    return tool.run(context, input);
  } catch (const std::exception& exception) {  // tools are foreign code
    return fail(Code::io, cat(tool.spec.name, " failed: ", exception.what()));
  } catch (...) {
    return fail(Code::io, cat(tool.spec.name, " failed with an exception of an unknown type"));
  }
}

// Runs calls in parallel and passes their outputs to the caller's thread.
//  (1) A tool that is still running stop_timeout after the stop request is abandoned: the caller
//      gets an error instead of its output, and its thread is detached. Such a thread owns
//      everything it uses.
//  (2) The store is used by tools and by the caller's thread, but never by an abandoned thread.
class Pool {
 public:
  Pool(const ToolRegistry& tools, const ToolContext& context,
       const std::vector<const ToolUseBlock*>& calls)
      : state_(std::make_shared<State>(context)) {
    for (const ToolUseBlock* const call : calls) {
      state_->calls.push_back({call, *tools.find(call->name), call->input});
    }
    const std::size_t count = std::min(kToolsAtOnce, calls.size());
    state_->workers = count;
    threads_.reserve(count);
    while (threads_.size() < count && add_thread()) {
    }
    if (threads_.empty()) {
      work(*state_, 0);
      state_->workers = 0;
    } else if (threads_.size() < count) {
      const std::lock_guard lock(state_->mutex);
      state_->workers -= count - threads_.size();
    }
  }
  ~Pool() {
    {
      const std::lock_guard lock(state_->mutex);
      state_->next = state_->calls.size();
    }
    for (std::size_t worker = 0; worker < threads_.size(); ++worker) {
      std::thread& thread = threads_.at(worker);
      abandoned_.contains(worker) ? thread.detach() : thread.join();
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  struct Finished {
    const ToolUseBlock* call;
    Result<ToolOutput> output;
  };
  // The next output; nullopt after the last one.
  std::optional<Finished> wait() {
    State& state = *state_;
    std::unique_lock lock(state.mutex);
    const auto is_ready = [&state] { return !state.done.empty() || state.workers == 0; };
    if (!state.ready.wait(lock, state.context_stop, is_ready)) {
      const Clock::time_point stopped_at = stopped_at_.value_or(Clock::now());
      stopped_at_ = stopped_at;
      while (!is_ready()) {
        if (auto unresponsive = find_unresponsive(stopped_at); unresponsive) {
          return unresponsive;
        }
        state.ready.wait_for(lock, kPollInterval, is_ready);
      }
    }
    if (state.done.empty()) {
      return std::nullopt;
    }
    Finished first = std::move(state.done.front());
    state.done.pop_front();
    return first;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPollInterval{20};

  struct Call {
    const ToolUseBlock* use;  // for the caller's thread only
    Tool tool;
    RawJson input;
    std::size_t worker = 0;  // that runs it
    bool is_running = false;
    bool is_abandoned = false;
  };
  struct State {
    explicit State(const ToolContext& context)
        : session(context.session), store(context.store), context_stop(context.stop) {}
    const Session session;
    Store* const store;
    const std::stop_token context_stop;
    std::mutex mutex;
    std::condition_variable_any ready;
    std::deque<Call> calls;   // guarded by mutex, like the following members
    std::size_t next = 0;     // the next call to start
    std::size_t workers = 0;  // threads that have not ended
    std::deque<Finished> done;
  };

  // False if the system allows no more threads.
  bool add_thread() {
    try {
      threads_.emplace_back([state = state_, worker = threads_.size()] { work(*state, worker); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  static void work(State& state, std::size_t worker) {
    const ToolContext context{state.session, state.store, state.context_stop};
    std::unique_lock lock(state.mutex);
    while (state.next != state.calls.size() && !state.context_stop.stop_requested()) {
      Call& call = state.calls.at(state.next++);
      call.worker = worker;
      call.is_running = true;
      lock.unlock();
      auto output = run_tool(call.tool, context, call.input);
      lock.lock();
      if (call.is_abandoned) {
        return;  // no one waits for this thread any more
      }
      call.is_running = false;
      state.done.push_back({call.use, std::move(output)});
      state.ready.notify_all();
    }
    --state.workers;
    state.ready.notify_all();
  }

  // Call with the mutex held, after the stop request.
  std::optional<Finished> find_unresponsive(Clock::time_point stopped_at) {
    for (Call& call : state_->calls) {
      const auto limit = call.tool.stop_timeout;
      if (!call.is_running || call.is_abandoned || !limit || Clock::now() < stopped_at + *limit) {
        continue;
      }
      call.is_abandoned = true;
      abandoned_.insert(call.worker);
      --state_->workers;
      return Finished{
          call.use, fail(Code::timeout,
                         cat(call.tool.spec.name, " did not stop within ", limit->count(), " ms"))};
    }
    return std::nullopt;
  }

  std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
  std::optional<Clock::time_point> stopped_at_;
  std::set<std::size_t> abandoned_;  // workers
};

ToolResultBlock result_of(const ToolContext& context, const ToolUseBlock& call,
                          const Result<ToolOutput>& output, const BlobSink& on_blob) {
  if (!output) {
    return error_result(call, output.error().message);
  }
  ToolResultBlock result = tool_result_block(context.store, call.id, output->text, on_blob);
  result.is_error = output->is_error;
  return result;
}

}  // namespace

ToolResultBlock error_result(const ToolUseBlock& call, std::string_view text) {
  return {call.id, utf8::sanitize(text), true, {}, {}};
}

void run_tools(const ConversationOptions& options, const ToolContext& context,
               const std::vector<ToolUseBlock>& calls, const ToolResultSink& sink,
               const BlobSink& on_blob) {
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
  Pool pool(*options.tools, context, allowed);
  while (const auto done = pool.wait()) {
    ToolResultBlock result = result_of(context, *done->call, done->output, on_blob);
    if (options.hooks.after) {
      options.hooks.after(*done->call, result);
    }
    sink(*done->call, std::move(result));
  }
}

}  // namespace reprise
