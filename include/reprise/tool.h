#pragma once

// Tools a model may call, and who may stop it.

#include <map>  // IWYU pragma: export

#include "reprise/provider.h"  // IWYU pragma: export
#include "reprise/store.h"     // IWYU pragma: export

namespace reprise {

// Where a tool runs.
struct ToolContext {
  const Session& session;
  Store* store;  // null when the conversation is not stored
  std::stop_token stop;
};

struct ToolOutput {
  std::string text;  // any bytes; made readable before a model sees them
  bool is_error = false;
};

// `input` is valid JSON. May be called from several threads at once (parallel calls). An Error, or
// what it throws, is given to the model as an error result.
using ToolFunction =
    std::function<Result<ToolOutput>(const ToolContext& context, const RawJson& input)>;

struct Tool {
  ToolSpec spec;
  ToolFunction run;
  // How long it may go on after its turn was stopped. Then the turn ends without it: its thread is
  // left to itself, on a copy of `run` and of the session, and must not use the store any more.
  std::chrono::milliseconds stop_timeout{5'000};
};

// A table of tools by name. Not thread-safe while it is being filled.
class ToolRegistry {
 public:
  // conflict when the name is taken; invalid_argument for a name outside [A-Za-z0-9_-]{1,64} or
  // parameters that are no JSON object.
  Result<> add(Tool tool);
  const Tool* find(std::string_view name) const;
  std::vector<ToolSpec> specs() const;  // by name
  bool empty() const { return tools_.empty(); }

 private:
  std::map<std::string, Tool, std::less<>> tools_;
};

enum class Approval : std::uint8_t { allow, deny };
// Asked before each call, one at a time; the default allows. What it throws ends the turn.
using Approver = std::function<Approval(const ToolUseBlock& call)>;

// Called around each call, one at a time. An error from `before` refuses the call. What they throw
// ends the turn.
struct ToolHooks {
  std::function<Result<>(const ToolUseBlock& call)> before;
  std::function<void(const ToolUseBlock& call, const ToolResultBlock& result)> after;
};

// read_file, list_dir (confined to the session's working_dir), todo_write and recall (both need a
// store).
void add_builtin_tools(ToolRegistry& registry);

}  // namespace reprise
