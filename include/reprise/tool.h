#pragma once

// Tools that a model may call, and their approval.

#include <map>  // IWYU pragma: export

#include "reprise/provider.h"  // IWYU pragma: export
#include "reprise/session.h"   // IWYU pragma: export

namespace reprise {

class Store;

// The context of a tool call.
struct ToolContext {
  const Session& session;
  Store* store;  // null when the conversation is not stored
  std::stop_token stop;
};

struct ToolOutput {
  std::string text;  // any bytes; sanitized before a model sees them
  bool is_error = false;
};

// `input` is valid JSON. May be called from several threads at once (parallel calls). The model
// receives errors and exceptions as error results.
using ToolFunction =
    std::function<Result<ToolOutput>(const ToolContext& context, const RawJson& input)>;

struct Tool {
  ToolSpec spec;
  ToolFunction run;
  // How long it may run after its turn was stopped. Then the turn ends without it: its thread is
  // detached, with a copy of `run` and of the session, and must not use the store any more.
  // nullopt: the turn waits for it, as tools need that use the store, whose calls have a timeout.
  std::optional<std::chrono::milliseconds> stop_timeout = std::chrono::milliseconds(5'000);
};

// A table of tools by name. Not thread-safe while tools are added.
class ToolRegistry {
 public:
  // conflict for a duplicate name; invalid_argument for a name outside [A-Za-z0-9_-]{1,64} or
  // parameters that are not a JSON object.
  Result<> add(Tool tool);
  const Tool* find(std::string_view name) const;
  std::vector<ToolSpec> specs() const;  // sorted by name
  bool empty() const { return tools_.empty(); }

 private:
  std::map<std::string, Tool, std::less<>> tools_;
};

enum class Approval : std::uint8_t { allow, deny };
// Called before each call, one at a time; the default allows it. An exception ends the turn.
using Approver = std::function<Approval(const ToolUseBlock& call)>;

// Called around each call, one at a time. An error from `before` rejects the call. An exception
// ends the turn.
struct ToolHooks {
  std::function<Result<>(const ToolUseBlock& call)> before;
  std::function<void(const ToolUseBlock& call, const ToolResultBlock& result)> after;
};

// read_file, list_dir (confined to the session's working_dir), todo_write and recall (both need a
// store).
void add_builtin_tools(ToolRegistry& registry);

}  // namespace reprise
