#pragma once

// The abandoned branches of a tree as sessions: forks of the session on the current branch.

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "reprise/error.h"    // IWYU pragma: export
#include "reprise/session.h"  // IWYU pragma: export
#include "source/tree.h"      // IWYU pragma: export

namespace reprise::source {

inline constexpr char kBranchSeparator = ':';

// The first 8 hex digits of a node id or another hash.
std::string hex_of(std::uint64_t id);

// The id of the fork is "ID:NAME".
struct NamedBranch {
  std::string name;
  AbandonedBranch branch;
};

// The abandoned branches of a tree, newest first, each named after its first message. If several
// start with the same message, the newest gets that name and the others are named after their
// leaves.
class NamedBranches {
 public:
  NamedBranches() = default;
  explicit NamedBranches(const Tree& tree) : NamedBranches(tree, {}) {}
  // Without those of other sessions, by their last node.
  NamedBranches(const Tree& tree, const std::function<bool(const Node&)>& is_elsewhere);

  std::span<const NamedBranch> all() const { return all_; }
  // Null if there is none.
  const NamedBranch* find(std::string_view name) const;

 private:
  std::vector<NamedBranch> all_;
  std::unordered_map<std::string, std::size_t> by_name_;  // the first one
};

// The fork for an abandoned branch: the whole session with its own id, length and origin, and
// without usage.
Result<Session> session_of_branch(Session session, const NamedBranch& named);

// The messages of the current branch, or of an abandoned one.
class BranchMessages {
 public:
  // `current` is the current branch, which must outlive this; `named` is null for its messages.
  BranchMessages(const Tree& tree, const Branch& current, const NamedBranch* named)
      : current_(current),
        shared_(named == nullptr ? current.size() : named->branch.shared),
        own_(named == nullptr ? Branch() : tree.own_messages(named->branch, current)) {}

  std::size_t size() const { return shared_ + own_.size(); }
  std::span<const std::uint32_t> message(std::size_t index) const {
    return index < shared_ ? current_.message(index) : own_.message(index - shared_);
  }

 private:
  const Branch& current_;
  std::size_t shared_;
  Branch own_;
};

// The parts of "ID:NAME", separated by the last colon before this byte; nullopt for an id without a
// name.
struct BranchId {
  std::string session;
  std::string name;
};
std::optional<BranchId> split_branch_id(const SessionId& id,
                                        std::size_t before = std::string::npos);

}  // namespace reprise::source
