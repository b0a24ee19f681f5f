#pragma once

// Sorts the nodes of a tree that are stored in any order.

#include <cstdint>   // IWYU pragma: export
#include <optional>  // IWYU pragma: export
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>  // IWYU pragma: export

namespace reprise::source {

inline constexpr std::uint32_t kNoParent = UINT32_MAX;

struct NamedNode {
  std::string id;
  std::string parent;                      // "" for a root
  std::uint32_t parent_index = kNoParent;  // set by topological_order()
  bool has_children = false;               // set by topological_order()
};

struct NodeOrder {
  std::vector<std::uint32_t> indexes;  // all node indexes, parents before children
  bool has_cycle = false;              // there was a cycle, of which one node became a root
  std::unordered_map<std::string, std::uint32_t> by_id;

  std::optional<std::uint32_t> find(std::string_view id) const {
    const auto found = by_id.find(std::string(id));
    return found == by_id.end() ? std::nullopt : std::optional(found->second);
  }
};

// A node whose parent is missing is a root. If several nodes have an id, the first is the parent.
NodeOrder topological_order(std::vector<NamedNode>& nodes);

}  // namespace reprise::source
