#include "source/tree.h"

#include <algorithm>
#include <bit>
#include <functional>

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

std::uint32_t Tree::parent_of(const Node& node) const {
  if (node.link == Link::root) {
    return kNone;
  }
  if (node.link == Link::named) {
    if (const auto known = by_id_.find(node.parent); known != by_id_.end()) {
      return known->second.place;
    }
  }
  return previous_;
}

std::optional<std::uint32_t> Tree::add(const Node& node, std::string_view bytes) {
  const auto place = static_cast<std::uint32_t>(nodes_.size());
  // Looked up before the node is inserted: a node cannot be its own parent, so there are no cycles.
  const std::uint32_t parent = parent_of(node);
  if (node.id != 0) {
    const std::uint64_t hash = hash_of_ends(bytes);
    const auto [known, is_new] = by_id_.try_emplace(node.id, Known{place, hash});
    if (!is_new && known->second.bytes_hash == hash) {
      return std::nullopt;
    }
  }
  nodes_.push_back(node);
  parents_.push_back(parent);
  if (!node.is_aside) {
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
  const auto known = by_id_.find(id);
  return known == by_id_.end() ? std::nullopt : std::optional(known->second.place);
}

std::optional<std::uint32_t> Tree::leaf() const {
  if (leaf_) {
    return leaf_;
  }
  for (std::size_t i = nodes_.size(); i > 0; --i) {
    if (!nodes_[i - 1].is_aside) {
      return static_cast<std::uint32_t>(i - 1);
    }
  }
  return std::nullopt;
}

std::vector<bool> Tree::path_to(std::uint32_t leaf) const {
  std::vector<bool> on_path(nodes_.size());
  for (std::uint32_t at = leaf; at != kNone; at = parents_[at]) {
    on_path[at] = true;
  }
  // Results of parallel calls: only one of them is on the path.
  for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
    if (nodes_[at].is_result && !on_path[at] && parents_[at] != kNone && on_path[parents_[at]] &&
        !nodes_[parents_[at]].is_result) {
      on_path[at] = true;
    }
  }
  return on_path;
}

Branch Tree::branch(std::uint32_t leaf) const {
  const std::vector<bool> on_path = path_to(leaf);
  // (message number, node index) pairs.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> placed;
  std::uint64_t open_group = 0;
  std::uint32_t open_message = 0;
  std::uint32_t count = 0;
  for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
    const Node& node = nodes_[at];
    if (!on_path[at] || !node.is_message) {
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
  const std::vector<bool> on_path = path_to(*used);
  // From the end backwards: whether messages follow a node on some branch.
  std::vector<bool> has_more(nodes_.size());
  std::vector<std::uint32_t> leaves;
  for (auto at = static_cast<std::uint32_t>(nodes_.size()); at-- > 0;) {
    const bool is_message = nodes_[at].is_message && !nodes_[at].is_aside;
    if (is_message && !has_more[at] && !on_path[at]) {
      leaves.push_back(at);
    }
    if (parents_[at] != kNone && (is_message || has_more[at])) {
      has_more[parents_[at]] = true;
    }
  }
  std::ranges::reverse(leaves);
  for (const std::uint32_t leaf : leaves) {
    std::uint32_t first = leaf;
    for (std::uint32_t at = leaf; at != kNone && !on_path[at]; at = parents_[at]) {
      first = nodes_[at].is_message ? at : first;
    }
    abandoned.push_back({leaf, first});
  }
  return abandoned;
}

}  // namespace reprise::source
