#pragma once

// The nodes of a tree that stand in any order.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace reprise::source {

inline constexpr std::uint32_t kNoParent = UINT32_MAX;

struct NamedNode {
  std::string id;
  std::string parent;               // "" for a root
  std::uint32_t place = kNoParent;  // of the parent; set by parents_first()
  bool has_children = false;        // likewise
};

struct NodeOrder {
  std::vector<std::uint32_t> places;  // of all nodes, parents before their children
  bool has_circle = false;            // nodes that were their own ancestors: one became a root
  std::unordered_map<std::string, std::uint32_t> by_id;

  std::optional<std::uint32_t> find(std::string_view id) const {
    const auto found = by_id.find(std::string(id));
    return found == by_id.end() ? std::nullopt : std::optional(found->second);
  }
};

// A parent that is not there makes a root. Of several nodes with one id the first is the parent.
NodeOrder parents_first(std::vector<NamedNode>& nodes);

}  // namespace reprise::source
