#pragma once

// A session as a tree of nodes. Nodes follow one another in a file, each names the one before it,
// and going back to an earlier one begins a branch. The branch in use is the session; the others,
// which were left, are its forks.

#include <span>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "reprise/types.h"

namespace reprise::source {

// An id of the tool's; 0 for "".
constexpr std::uint64_t node_id(std::string_view text) {
  return text.empty() ? 0 : fnv1a(text);
}

enum class Link : std::uint8_t {
  named,     // `parent` is the node before it; the previous one when there is no such node
  root,      // none is before it
  previous,  // the one before it in the file
};

// Kept small: there is one for each line of a file that may have a million of them.
struct Node {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::uint64_t group = 0;  // nodes of one group on a branch are one message; 0: by itself
  std::int64_t at = 0;      // in the file
  std::int32_t bytes = 0;
  std::uint16_t file = 0;
  Link link = Link::previous;
  bool is_message : 1 = false;    // else it only holds the tree together
  bool is_result : 1 = false;     // of a tool: belongs to its call, wherever the branch goes on
  bool is_aside : 1 = false;      // never the end of the branch in use
  bool is_mark : 1 = false;       // injected: no person's and no model's words
  bool is_inherited : 1 = false;  // of the session that this one is a fork of
  std::uint32_t usage = 0;        // the place of its usage, from 1; 0 for none
  std::uint32_t detail = 0;       // the tool's own
};

// The nodes of one message, and the messages of one branch.
struct Branch {
  std::vector<std::uint32_t> nodes;   // places of nodes, message by message
  std::vector<std::uint32_t> starts;  // where each message begins in `nodes`, and the end

  std::size_t size() const { return starts.empty() ? 0 : starts.size() - 1; }
  std::span<const std::uint32_t> message(std::size_t index) const {
    return std::span(nodes).subspan(starts[index], starts[index + 1] - starts[index]);
  }
};

// A branch that was left.
struct LeftBranch {
  std::uint32_t leaf = 0;   // place of its last message
  std::uint32_t first = 0;  // of its first message that the branch in use does not have
};

class Tree {
 public:
  // A node is added after those that it names. A second one with the same id and bytes is none.
  // Its place; nullopt for none.
  std::optional<std::uint32_t> add(const Node& node, std::string_view bytes);
  // What follows goes on from this node, or from the beginning, as after going back.
  void go_on_from(std::optional<std::uint32_t> place) { previous_ = place.value_or(kNone); }

  // After which the next node goes on that names none.
  std::optional<std::uint32_t> end() const { return place(previous_); }
  std::optional<std::uint32_t> before(std::uint32_t at) const { return place(parents_[at]); }
  // The last one of a file that begins before this byte.
  std::optional<std::uint32_t> last_before(std::uint16_t file, std::int64_t byte) const;

  std::span<const Node> nodes() const { return nodes_; }
  Node& node(std::uint32_t at) { return nodes_[at]; }
  std::optional<std::uint32_t> find(std::uint64_t id) const;

  // Where the branch in use ends; nullopt for a tree without nodes.
  std::optional<std::uint32_t> leaf() const;
  void set_leaf(std::uint32_t place) { leaf_ = place; }
  Branch branch(std::uint32_t leaf) const;
  std::vector<LeftBranch> left_branches() const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static std::optional<std::uint32_t> place(std::uint32_t at) {
    return at == kNone ? std::nullopt : std::optional(at);
  }
  std::uint32_t parent_of(const Node& node) const;
  std::vector<bool> path_to(std::uint32_t leaf) const;

  struct Known {
    std::uint32_t place;
    std::uint64_t bytes_hash;
  };
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> parents_;
  std::unordered_map<std::uint64_t, Known> by_id_;
  std::uint32_t previous_ = kNone;
  std::optional<std::uint32_t> leaf_;
};

}  // namespace reprise::source
