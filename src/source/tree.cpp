#include "source/tree.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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
  const auto add = [&](std::uint32_t place) { slots_[slot_of(nodes, nodes[place].id)] = place; };
  if (2 * ++used_ > slots_.size()) {
    const auto before = std::exchange(
        slots_, std::vector<std::uint32_t>(std::max(kSlotsMin, 2 * slots_.size()), kNone));
    for (const std::uint32_t place : before) {
      if (place != kNone) {
        add(place);
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
  const auto place = static_cast<std::uint32_t>(nodes_.size());
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
    links_[place].result_before = std::exchange(links_[parent].last_result, place);
  }
  if (!node.is_sidechain) {
    previous_ = place;
  }
  return place;
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
  return place(by_id_.find(nodes_, id));
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

// In the order of the nodes.
std::vector<std::uint32_t> Tree::path_to(std::uint32_t leaf) const {
  std::vector<std::uint32_t> path;
  std::uint32_t child = kNone;
  for (std::uint32_t at = leaf; at != kNone; at = links_[at].parent) {
    path.push_back(at);
    // Results of parallel calls: only one of them leads to the leaf.
    for (std::uint32_t one = links_[at].last_result; one != kNone;
         one = links_[one].result_before) {
      if (one != child) {
        path.push_back(one);
      }
    }
    child = at;
  }
  std::ranges::sort(path);
  return path;
}

Branch Tree::branch(std::uint32_t leaf) const {
  // (message number, node index) pairs.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> placed;
  std::uint64_t open_group = 0;
  std::uint32_t open_message = 0;
  std::uint32_t count = 0;
  for (const std::uint32_t at : path_to(leaf)) {
    const Node& node = nodes_[at];
    if (!node.is_message) {
      continue;
    }
    if (node.group != 0 && node.group == open_group) {
      placed.emplace_back(open_message, at);
      continue;
    }
    if (!node.is_result) {  // results may come between the pieces of an answer
      open_group = node.group;
      open_message = count;
    }
    placed.emplace_back(count++, at);
  }
  std::ranges::stable_sort(placed, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
  Branch branch;
  branch.nodes.reserve(placed.size());
  branch.starts.reserve(count + std::size_t{1});
  for (const auto& [message, at] : placed) {
    if (message == branch.starts.size()) {
      branch.starts.push_back(static_cast<std::uint32_t>(branch.nodes.size()));
    }
    branch.nodes.push_back(at);
  }
  branch.starts.push_back(static_cast<std::uint32_t>(branch.nodes.size()));
  return branch;
}

std::vector<AbandonedBranch> Tree::abandoned_branches() const {
  std::vector<AbandonedBranch> abandoned;
  const std::optional<std::uint32_t> used = leaf();
  if (!used) {
    return abandoned;
  }
  std::vector<bool> on_path(nodes_.size());
  for (const std::uint32_t at : path_to(*used)) {
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
      abandoned.push_back({at, first[at]});
    }
  }
  return abandoned;
}

}  // namespace reprise::source
