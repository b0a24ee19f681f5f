#include "source/topological_order.h"

namespace reprise::source {
namespace {

using Children = std::vector<std::vector<std::uint32_t>>;

void take_from(std::uint32_t root, const Children& children, std::vector<bool>& is_taken,
               std::vector<std::uint32_t>& indexes) {
  std::vector<std::uint32_t> open = {root};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (is_taken[at]) {
      continue;
    }
    is_taken[at] = true;
    indexes.push_back(at);
    open.insert(open.end(), children[at].rbegin(), children[at].rend());
  }
}

}  // namespace

NodeOrder topological_order(std::vector<NamedNode>& nodes) {
  NodeOrder order;
  Children children(nodes.size());
  std::vector<bool> is_taken(nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    order.by_id.emplace(nodes[i].id, i);
  }
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const auto parent = nodes[i].parent.empty() ? std::nullopt : order.find(nodes[i].parent);
    if (parent && *parent != i) {
      nodes[i].parent_index = *parent;
      nodes[*parent].has_children = true;
      children[*parent].push_back(i);
    }
  }
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].parent_index == kNoParent) {
      take_from(i, children, is_taken, order.indexes);
    }
  }
  // The remaining nodes form cycles. Each is cut at its first node in the file.
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (!is_taken[i]) {
      order.has_cycle = true;
      nodes[i].parent_index = kNoParent;
      take_from(i, children, is_taken, order.indexes);
    }
  }
  return order;
}

}  // namespace reprise::source
