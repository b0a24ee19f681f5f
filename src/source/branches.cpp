#include "source/branches.h"

#include <algorithm>

#include "base/text.h"
#include "reprise/types.h"

namespace reprise::source {
namespace {

constexpr std::size_t kNameDigits = 8;

}  // namespace

std::string hex_of(std::uint64_t id) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  for (std::size_t i = 0; i < kNameDigits; ++i) {
    name += kDigits[(id >> (60 - (4 * i))) & 15U];
  }
  return name;
}

NamedBranches::NamedBranches(const Tree& tree,
                             const std::function<bool(const Node&)>& is_elsewhere) {
  const auto name_of = [&](std::uint32_t index) {
    const std::uint64_t id = tree.nodes()[index].id;
    return hex_of(id != 0 ? id : node_id(std::to_string(index)));
  };
  std::vector<AbandonedBranch> abandoned = tree.abandoned_branches();
  std::ranges::reverse(abandoned);
  for (const AbandonedBranch& branch : abandoned) {
    if (is_elsewhere && is_elsewhere(tree.nodes()[branch.leaf])) {
      continue;
    }
    std::string name = name_of(branch.first);
    if (by_name_.contains(name)) {
      name = name_of(branch.leaf);
    }
    by_name_.try_emplace(name, all_.size());
    all_.push_back({std::move(name), branch});
  }
}

const NamedBranch* NamedBranches::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : &all_[found->second];
}

Result<Session> session_of_branch(Session session, const NamedBranch& named) {
  SessionInfo& info = session.info;
  const SessionId id = info.id;
  REPRISE_ASSIGN(info.id, SessionId::parse(cat(id.str(), kBranchSeparator, named.name)));
  info.head = Seq{named.branch.size};
  info.forked_from = ForkOrigin{id, Seq{named.branch.shared}};
  session.usage = {};
  return session;
}

std::optional<BranchId> split_branch_id(const SessionId& id, std::size_t before) {
  const std::size_t mark =
      before == 0 ? std::string::npos : id.str().rfind(kBranchSeparator, before - 1);
  if (mark == std::string::npos) {
    return std::nullopt;
  }
  return BranchId{id.str().substr(0, mark), id.str().substr(mark + 1)};
}

}  // namespace reprise::source
