#pragma once

// A session as a tree of nodes. Each node of a file names its parent, and continuing from an
// earlier node begins a branch. The current branch is the session; the abandoned branches are its
// forks.

#include <span>
#include <vector>  // IWYU pragma: export

#include "base/encode.h"
#include "reprise/types.h"

namespace reprise::source {

// A hash of the tool's id; 0 for "".
constexpr std::uint64_t node_id(std::string_view text) {
  return text.empty() ? 0 : fnv1a(text);
}

enum class Link : std::uint8_t {
  named,     // the parent is `parent`, or the previous node if that is missing
  root,      // no parent
  previous,  // the parent is the previous node in the file
};

// Compact: a file may have a million lines, with a node each.
struct Node {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::uint64_t group = 0;  // nodes of a group on a branch form one message; 0: no group
  std::int64_t at = 0;      // offset in the file
  std::int32_t bytes = 0;
  std::uint16_t file = 0;
  Link link = Link::previous;
  bool is_message : 1 = false;    // false: only a link in the tree
  bool is_result : 1 = false;     // a tool's result: belongs to its call on every branch
  bool is_sidechain : 1 = false;  // never the end of the current branch
  bool is_injected : 1 = false;   // written by neither user nor model
  bool is_inherited : 1 = false;  // belongs to the session that this one was forked from
  std::uint32_t usage = 0;        // index of its usage, from 1; 0 for none
  std::uint32_t detail = 0;       // for the tool's use
};

// The messages of one branch, and their nodes.
struct Branch {
  std::vector<std::uint32_t> nodes;   // node indexes, message by message
  std::vector<std::uint32_t> starts;  // the start of each message in `nodes`, and the end

  std::size_t size() const { return starts.empty() ? 0 : starts.size() - 1; }
  std::span<const std::uint32_t> message(std::size_t index) const {
    return std::span(nodes).subspan(starts[index], starts[index + 1] - starts[index]);
  }
};

// An abandoned branch.
struct AbandonedBranch {
  std::uint32_t leaf = 0;    // its last message
  std::uint32_t first = 0;   // its first message that is not on the current branch
  std::uint32_t size = 0;    // the number of its messages
  std::uint32_t shared = 0;  // how many of them at its start are those of the current branch
  std::optional<std::uint32_t> fork =
      {};                         // the last node of both branches that is no tool's result
  std::uint32_t last_common = 0;  // the last node of both branches
};

class Tree {
 public:
  // Parents must be added before their children. Returns the node's index; nullopt if a node with
  // the same id and bytes was added before.
  std::optional<std::uint32_t> add(const Node& node, std::string_view bytes);
  // The next node follows this one, or is a root, as after a rewind.
  void continue_from(std::optional<std::uint32_t> index) { previous_ = index.value_or(kNone); }

  // The parent of the next node that names none.
  std::optional<std::uint32_t> end() const { return to_optional(previous_); }
  std::optional<std::uint32_t> before(std::uint32_t at) const {
    return to_optional(links_[at].parent);
  }
  // The last node of a file that begins before this byte.
  std::optional<std::uint32_t> last_before(std::uint16_t file, std::int64_t byte) const;

  std::span<const Node> nodes() const { return nodes_; }
  Node& node(std::uint32_t at) { return nodes_[at]; }
  std::optional<std::uint32_t> find(std::uint64_t id) const;

  // Makes one chain of what only looks like branches: the pieces of an answer (a group) with their
  // results, in the order of `times`, one for each node; and what follows a node that is no message
  // and names an old parent, in the order of the file. Of two results of an answer with the same
  // group, the one that is on the branch remains. Indexes of nodes may change.
  void join_answers(std::span<const Time> times);

  // The end of the current branch; nullopt for an empty tree.
  std::optional<std::uint32_t> leaf() const;
  void set_leaf(std::uint32_t index) { leaf_ = index; }
  // Takes time proportional to the branch.
  Branch branch(std::uint32_t leaf) const;
  // Takes time proportional to the tree, however many branches it has.
  std::vector<AbandonedBranch> abandoned_branches() const;
  // The messages of a branch that are not shared with the current one. Takes time proportional
  // to these.
  Branch own_messages(const AbandonedBranch& of, const Branch& current) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static std::optional<std::uint32_t> to_optional(std::uint32_t at) {
    return at == kNone ? std::nullopt : std::optional(at);
  }
  class Paths;
  class Joining;
  std::uint32_t parent_of(const Node& node) const;
  // Whether each branch with its parent includes it.
  bool is_result_of_call(std::uint32_t at) const;
  // The nodes of a branch after `fork`, or all of them, in order.
  std::vector<std::uint32_t> path_to(std::uint32_t leaf, std::uint32_t fork = kNone) const;
  // `path` in order.
  Branch branch_of(std::span<const std::uint32_t> path) const;

  struct Links {
    std::uint32_t parent = kNone;
    std::uint32_t last_result = kNone;    // among its children, if it is not a result itself
    std::uint32_t result_before = kNone;  // the parent's result before this one
    std::uint64_t bytes_hash = 0;
  };
  // The nodes with ids, each in the first free slot from the one that its id's low bits give. At
  // least half of the slots are free.
  class IdTable {
   public:
    // The first node that was added with the id; kNone if there is none.
    std::uint32_t find(const std::vector<Node>& nodes, std::uint64_t id) const;
    // Adds the last node, whose id is not in the table.
    void add_last(const std::vector<Node>& nodes);

   private:
    std::size_t slot_of(const std::vector<Node>& nodes, std::uint64_t id) const;
    std::vector<std::uint32_t> slots_;  // indexes of nodes; kNone: free
    std::size_t count_ = 0;
  };
  std::vector<Node> nodes_;
  std::vector<Links> links_;
  IdTable by_id_;
  std::uint32_t previous_ = kNone;
  std::optional<std::uint32_t> leaf_;
  bool is_joined_ = false;  // results are on the chain of each branch with their call
};

}  // namespace reprise::source
