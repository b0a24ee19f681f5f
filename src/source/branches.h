#pragma once

// The branches of a tree that were left, as sessions: forks of the one that is in use.

#include "reprise/session.h"
#include "source/tree.h"

namespace reprise::source {

inline constexpr char kBranchSeparator = ':';

// The first 8 hex digits of a node's id, or of any other hash.
std::string hex_of(std::uint64_t id);

// "ID:NAME" is the id of the fork.
struct NamedBranch {
  std::string name;
  LeftBranch branch;
};

// Each left branch under the name of the message that it begins with; where several begin with the
// same one, the newest has it, and the others are named by their ends.
std::vector<NamedBranch> named_branches(const Tree& tree);

// The fork that a left branch is: `whole` with another id, length and origin, and without usage.
Result<Session> session_of_branch(const Session& whole, const Tree& tree, const NamedBranch& named);

// "ID:NAME" in its parts; nullopt for an id without a name.
struct BranchId {
  std::string session;
  std::string name;
};
std::optional<BranchId> split_branch_id(const SessionId& id);

}  // namespace reprise::source
