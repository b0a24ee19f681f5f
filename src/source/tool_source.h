#pragma once

// The source over a tool that keeps its sessions as rows of a database or parts of documents. A
// tool's folder says what is there; finding, branches, paging and delivering is the same for all.

#include "base/json_view.h"
#include "reprise/capabilities.h"
#include "source/tree.h"

namespace reprise::source {

// One session, its messages as a tree whose nodes are places that only the tool understands.
// Messages are made when they are read, one at a time.
struct OpenSession {
  Session session;  // its head, and where `usages` has any its usage, follow from the tree
  Tree tree = {};
  std::vector<Usage> usages = {};  // Node::usage is a place in it, from 1
  std::vector<Todo> todos = {};
  ReadReport report = {};
  // The message of these nodes; its seq is set by the caller.
  std::function<Result<Message>(std::span<const Node> nodes)> message = {};
};

// A message that stands in a text which lives as long as the session, and its JSON again.
Node node_in(std::string_view text, JsonView message);
JsonView json_at(std::string_view text, const Node& node);
// Counts the messages of the branch in use, and of each request the usage once.
void count_messages(OpenSession& session);

struct Listed {
  SessionInfo info;
  bool is_child = false;  // of a sub-agent: listed with the branches only
};

// Called by one thread at a time.
class Tool {
 public:
  virtual ~Tool() = default;
  // All sessions, in any order. What cannot be read is damage.
  virtual Result<std::vector<Listed>> list(ReadReport& report) = 0;
  // Null: there is no such session.
  virtual Result<std::shared_ptr<const OpenSession>> open(const SessionId& id) = 0;
  // Changes when the session, or all of the place, may have changed since it was opened.
  virtual std::string state_of(const SessionId& id) = 0;
};

std::unique_ptr<Source> make_tool_source(std::unique_ptr<Tool> tool);

}  // namespace reprise::source
