#pragma once

// The source for a tool that stores sessions as database rows or parts of documents. The tool's
// folder parses them; finding, branches, paging and delivery are shared.

#include "base/json_view.h"
#include "reprise/capabilities.h"  // IWYU pragma: export
#include "source/tree.h"

namespace reprise::source {

// One session, with its messages as a tree whose nodes have positions that only the tool
// understands. Messages are built on demand, one at a time.
struct OpenSession {
  Session session;        // head, and usage if there are `usages`, are set from the tree
  bool is_child = false;  // a sub-agent's
  Tree tree = {};
  // Indexed by Node::usage, from 1; count_messages() sets request ids that the tool has not. The
  // source sets the usage of each message from these.
  std::vector<Usage> usages = {};
  Result<std::vector<Todo>> todos = std::vector<Todo>();
  ReadReport report = {};
  // The message of these nodes; the caller sets its seq.
  std::function<Result<Message>(std::span<const Node> nodes)> message = {};
};

// A node for a message in a text that lives as long as the session; reads it back as JSON.
Node node_in(std::string_view text, JsonView message);
JsonView json_at(std::string_view text, const Node& node);
// Sets the session's head and its usage, counting each request once, from the current branch.
void count_messages(OpenSession& session);

// Without a title and a question: the first words of anyone. After count_messages().
void complete_title(OpenSession& session);

struct Listed {
  SessionInfo info;
  bool is_child = false;  // a sub-agent's: listed only with branches or children
};

// Calls are serialised by the source.
class Tool {
 public:
  virtual ~Tool() = default;
  // All sessions, in any order. Reports unreadable ones as damage.
  virtual Result<std::vector<Listed>> list(ReadReport& report) = 0;
  // Null if there is no such session.
  virtual Result<std::shared_ptr<const OpenSession>> open(const SessionId& id) = 0;
  // Changes when the session, or anything at the location, may have changed since it was opened.
  virtual std::string state_of(const SessionId& id) = 0;
};

std::unique_ptr<Source> make_tool_source(std::unique_ptr<Tool> tool);

}  // namespace reprise::source
