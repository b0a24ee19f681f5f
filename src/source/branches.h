#pragma once

// The abandoned branches of a tree as sessions: forks of the session on the current branch.

#include "reprise/session.h"
#include "source/tree.h"

namespace reprise::source {

inline constexpr char kBranchSeparator = ':';

// The first 8 hex digits of a node id or another hash.
std::string hex_of(std::uint64_t id);

// The id of the fork is "ID:NAME".
struct NamedBranch {
  std::string name;
  AbandonedBranch branch;
};

// Abandoned branches, each named after its first message. If several start with the same message,
// the newest gets that name and the others are named after their leaves.
std::vector<NamedBranch> named_branches(const Tree& tree);

// The fork for an abandoned branch: `whole` with its own id, length and origin, and without usage.
Result<Session> session_of_branch(const Session& whole, const Tree& tree, const NamedBranch& named);

// The parts of "ID:NAME"; nullopt for an id without a name.
struct BranchId {
  std::string session;
  std::string name;
};
std::optional<BranchId> split_branch_id(const SessionId& id);

}  // namespace reprise::source
