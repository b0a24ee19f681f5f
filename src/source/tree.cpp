#include "source/tree.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace reprise::source {

namespace {

// Records that share an id differ in their times or their size, so hashing both ends suffices.
std::uint64_t hash_of_ends(std::string_view bytes) {
  constexpr std::size_t kEnd = 256;
  constexpr std::hash<std::string_view> kHash;  // fast, and never stored
  const std::size_t tail = std::min(kEnd, bytes.size());
  const std::uint64_t begin = kHash(bytes.substr(0, kEnd));
  return std::rotl(begin, 1) ^ kHash(bytes.substr(bytes.size() - tail)) ^ bytes.size();
}

}  // namespace

// The slot with the id, or the free one where it belongs.
std::size_t Tree::IdTable::slot_of(const std::vector<Node>& nodes, std::uint64_t id) const {
  const std::size_t last = slots_.size() - 1;
  std::size_t slot = id & last;
  while (slots_[slot] != kNone && nodes[slots_[slot]].id != id) {
    slot = (slot + 1) & last;
  }
  return slot;
}

std::uint32_t Tree::IdTable::find(const std::vector<Node>& nodes, std::uint64_t id) const {
  return slots_.empty() || id == 0 ? kNone : slots_[slot_of(nodes, id)];
}

void Tree::IdTable::add_last(const std::vector<Node>& nodes) {
  constexpr std::size_t kSlotsMin = 64;
  const auto add = [&](std::uint32_t index) { slots_[slot_of(nodes, nodes[index].id)] = index; };
  if (2 * ++count_ > slots_.size()) {
    const auto before = std::exchange(
        slots_, std::vector<std::uint32_t>(std::max(kSlotsMin, 2 * slots_.size()), kNone));
    for (const std::uint32_t index : before) {
      if (index != kNone) {
        add(index);
      }
    }
  }
  add(static_cast<std::uint32_t>(nodes.size() - 1));
}

std::uint32_t Tree::parent_of(const Node& node) const {
  if (node.link == Link::root) {
    return kNone;
  }
  if (node.link == Link::named) {
    if (const std::uint32_t known = by_id_.find(nodes_, node.parent); known != kNone) {
      return known;
    }
  }
  return previous_;
}

std::optional<std::uint32_t> Tree::add(const Node& node, std::string_view bytes) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  // Looked up before the node is inserted: a node cannot be its own parent, so there are no cycles.
  const std::uint32_t parent = parent_of(node);
  const std::uint64_t hash = node.id == 0 ? 0 : hash_of_ends(bytes);
  const std::uint32_t known = by_id_.find(nodes_, node.id);
  if (known != kNone && links_[known].bytes_hash == hash) {
    return std::nullopt;
  }
  nodes_.push_back(node);
  links_.push_back({.parent = parent, .bytes_hash = hash});
  if (node.id != 0 && known == kNone) {
    by_id_.add_last(nodes_);
  }
  if (node.is_result && parent != kNone && !nodes_[parent].is_result) {
    links_[index].result_before = std::exchange(links_[parent].last_result, index);
  }
  if (!node.is_sidechain) {
    previous_ = index;
  }
  return index;
}

std::optional<std::uint32_t> Tree::last_before(std::uint16_t file, std::int64_t byte) const {
  for (std::size_t i = nodes_.size(); i > 0; --i) {
    if (nodes_[i - 1].file == file && nodes_[i - 1].at < byte) {
      return static_cast<std::uint32_t>(i - 1);
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Tree::find(std::uint64_t id) const {
  return to_optional(by_id_.find(nodes_, id));
}

std::optional<std::uint32_t> Tree::leaf() const {
  if (leaf_) {
    return leaf_;
  }
  for (std::size_t i = nodes_.size(); i > 0; --i) {
    if (!nodes_[i - 1].is_sidechain) {
      return static_cast<std::uint32_t>(i - 1);
    }
  }
  return std::nullopt;
}

bool Tree::is_result_of_call(std::uint32_t at) const {
  const std::uint32_t parent = links_[at].parent;
  return !is_joined_ && nodes_[at].is_result && parent != kNone && !nodes_[parent].is_result;
}

std::vector<std::uint32_t> Tree::path_to(std::uint32_t leaf, std::uint32_t fork) const {
  std::vector<std::uint32_t> path;
  std::uint32_t child = kNone;
  for (std::uint32_t at = leaf; at != fork; at = links_[at].parent) {
    // Results of parallel calls: only one of them leads to the leaf.
    for (std::uint32_t result = links_[at].last_result; result != kNone;
         result = links_[result].result_before) {
      if (result != child) {
        path.push_back(result);
      }
    }
    if (links_[at].parent != fork || fork == kNone || !is_result_of_call(at)) {
      path.push_back(at);
    }
    child = at;
  }
  std::ranges::reverse(path);
  if (!std::ranges::is_sorted(path)) {
    std::ranges::sort(path);
  }
  return path;
}

Branch Tree::branch(std::uint32_t leaf) const {
  return branch_of(path_to(leaf));
}

Branch Tree::branch_of(std::span<const std::uint32_t> path) const {
  // (message number, node index) pairs.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> numbered;
  std::uint64_t open_group = 0;
  std::uint32_t open_message = 0;
  std::uint32_t count = 0;
  for (const std::uint32_t at : path) {
    const Node& node = nodes_[at];
    if (!node.is_message) {
      continue;
    }
    if (!node.is_result && node.group != 0 && node.group == open_group) {
      numbered.emplace_back(open_message, at);
      continue;
    }
    if (!node.is_result) {  // results may come between the pieces of an answer
      open_group = node.group;
      open_message = count;
    }
    numbered.emplace_back(count++, at);
  }
  std::ranges::stable_sort(numbered, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
  Branch branch;
  branch.nodes.reserve(numbered.size());
  branch.starts.reserve(count + std::size_t{1});
  for (const auto& [message, at] : numbered) {
    if (message == branch.starts.size()) {
      branch.starts.push_back(static_cast<std::uint32_t>(branch.nodes.size()));
    }
    branch.nodes.push_back(at);
  }
  branch.starts.push_back(static_cast<std::uint32_t>(branch.nodes.size()));
  return branch;
}

// What is known of the path to each node, from what the node adds to the path to its parent.
class Tree::Paths {
 public:
  Paths(const Tree& tree, std::uint32_t leaf, const Branch& current)
      : tree_(tree), current_(current), calls_(tree.nodes_.size()), paths_(tree.nodes_.size()) {
    note_results();
    note_used(leaf);
    note_paths(leaf);
  }

  void measure(AbandonedBranch& branch) const {
    const Path& path = paths_[branch.leaf];
    branch.size = path.size;
    branch.last_common = path.last_common;
    std::uint32_t differs = path.first_own;  // the first message node of only one of the branches
    if (path.fork == kNone) {
      differs = std::min(differs, first_used_);
    } else {
      branch.fork = path.fork;
      differs = std::min(differs, calls_[path.fork].first_used_after);
    }
    branch.shared = messages_before(differs);
    const std::uint32_t open = path.fork == kNone ? kNone : paths_[path.fork].last_answer;
    if (open != kNone) {  // one of the branches may go on with a message of both
      const std::uint32_t message = calls_[open].message;
      if (current_.message(message).back() >= differs ||
          is_same_group(open, path.first_own_answer)) {
        branch.shared = std::min(branch.shared, message);
      }
    }
  }

 private:
  struct Path {
    std::uint32_t size = 0;                  // messages, with the results of all calls
    std::uint32_t last_answer = kNone;       // the last message node that is no result
    std::uint32_t fork = kNone;              // the last node that is also on the current branch
    std::uint32_t last_common = 0;           // likewise, with the results of all calls
    std::uint32_t first_own = kNone;         // the first message node that is not
    std::uint32_t first_own_answer = kNone;  // likewise, without results
  };
  // Of a node that may have results.
  struct Call {
    std::uint32_t results = 0;               // messages
    std::uint32_t first_result = kNone;      // the first of these
    std::uint32_t last_result = 0;           // the last result
    std::uint32_t first_used_after = kNone;  // the current branch's next message node
    std::uint32_t message = 0;               // the current branch's with the node
  };

  void note_results() {
    for (std::uint32_t at = 0; at < tree_.nodes_.size(); ++at) {
      if (!tree_.is_result_of_call(at)) {
        continue;
      }
      Call& call = calls_[tree_.links_[at].parent];
      call.last_result = at;
      if (tree_.nodes_[at].is_message) {
        ++call.results;
        call.first_result = std::min(call.first_result, at);
      }
    }
  }

  void note_used(std::uint32_t leaf) {
    for (std::uint32_t at = leaf; at != kNone; at = tree_.links_[at].parent) {
      calls_[at].first_used_after = first_used_;
      if (!tree_.is_result_of_call(at)) {
        first_used_ = std::min(first_used_, first_message(at));
      }
    }
    for (std::uint32_t message = 0; message < current_.size(); ++message) {
      for (const std::uint32_t at : current_.message(message)) {
        calls_[at].message = message;
      }
    }
  }

  void note_paths(std::uint32_t leaf) {
    std::vector<bool> on_used(tree_.nodes_.size());
    for (std::uint32_t at = leaf; at != kNone; at = tree_.links_[at].parent) {
      on_used[at] = true;
    }
    for (std::uint32_t at = 0; at < tree_.nodes_.size(); ++at) {
      const std::uint32_t parent = tree_.links_[at].parent;
      Path& path = paths_[at];
      path = parent == kNone ? Path() : paths_[parent];
      if (tree_.is_result_of_call(at)) {
        continue;  // counted with the call
      }
      const Node& node = tree_.nodes_[at];
      const bool is_answer = node.is_message && !node.is_result;
      const bool is_new = node.is_message && !(is_answer && is_same_group(path.last_answer, at));
      path.size += (is_new ? 1U : 0U) + calls_[at].results;
      path.last_answer = is_answer ? at : path.last_answer;
      if (on_used[at]) {
        path.fork = at;
        path.last_common = std::max({path.last_common, at, calls_[at].last_result});
      } else {
        path.first_own = std::min(path.first_own, first_message(at));
        path.first_own_answer =
            is_answer ? std::min(path.first_own_answer, at) : path.first_own_answer;
      }
    }
  }

  // Of the node and its results.
  std::uint32_t first_message(std::uint32_t at) const {
    return tree_.nodes_[at].is_message ? at : calls_[at].first_result;
  }

  bool is_same_group(std::uint32_t a, std::uint32_t b) const {
    return a != kNone && b != kNone && tree_.nodes_[a].group != 0 &&
           tree_.nodes_[a].group == tree_.nodes_[b].group;
  }

  // The current branch's messages that begin before a node.
  std::uint32_t messages_before(std::uint32_t node) const {
    const std::span starts(current_.starts.data(), current_.size());
    const auto first = [this](std::uint32_t start) { return current_.nodes[start]; };
    return static_cast<std::uint32_t>(std::ranges::lower_bound(starts, node, {}, first) -
                                      starts.begin());
  }

  const Tree& tree_;
  const Branch& current_;
  std::vector<Call> calls_;
  std::vector<Path> paths_;
  std::uint32_t first_used_ = kNone;
};

std::vector<AbandonedBranch> Tree::abandoned_branches() const {
  std::vector<AbandonedBranch> abandoned;
  const std::optional<std::uint32_t> current_leaf = leaf();
  if (!current_leaf) {
    return abandoned;
  }
  std::vector<bool> on_path(nodes_.size());
  const std::vector<std::uint32_t> current_path = path_to(*current_leaf);
  for (const std::uint32_t at : current_path) {
    on_path[at] = true;
  }
  // From the end backwards: whether messages follow a node on some branch.
  std::vector<bool> has_more(nodes_.size());
  for (auto at = static_cast<std::uint32_t>(nodes_.size()); at-- > 0;) {
    const bool is_message = nodes_[at].is_message && !nodes_[at].is_sidechain;
    if (links_[at].parent != kNone && (is_message || has_more[at])) {
      has_more[links_[at].parent] = true;
    }
  }
  // Forwards: the first message of the branch that a node is on.
  std::vector<std::uint32_t> first(nodes_.size(), kNone);
  for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
    if (on_path[at]) {
      continue;
    }
    const std::uint32_t parent = links_[at].parent;
    const bool is_message = nodes_[at].is_message;
    first[at] = parent != kNone && first[parent] != kNone ? first[parent] : is_message ? at : kNone;
    if (is_message && !nodes_[at].is_sidechain && !has_more[at]) {
      abandoned.push_back({.leaf = at, .first = first[at]});
    }
  }
  if (!abandoned.empty()) {
    const Branch current = branch_of(current_path);
    const Paths paths(*this, *current_leaf, current);
    std::ranges::for_each(abandoned, [&](AbandonedBranch& branch) { paths.measure(branch); });
  }
  return abandoned;
}

Branch Tree::own_messages(const AbandonedBranch& of, const Branch& current) const {
  std::vector<std::uint32_t> path = path_to(of.leaf, of.fork.value_or(kNone));
  // Nodes of both branches may follow the first ones of one of them.
  const std::size_t own = path.size();
  for (std::size_t message = of.shared; of.fork && message < current.size(); ++message) {
    if (current.message(message).front() > of.last_common) {
      break;
    }
    for (const std::uint32_t at : current.message(message)) {
      const std::uint32_t on_chain = is_result_of_call(at) ? links_[at].parent : at;
      if (on_chain <= *of.fork) {
        path.push_back(at);
      }
    }
  }
  if (path.size() > own) {
    std::ranges::sort(path);
  }
  return branch_of(path);
}

}  // namespace reprise::source
