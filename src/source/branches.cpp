#include "source/branches.h"

#include <algorithm>

#include "base/text.h"

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

std::vector<NamedBranch> named_branches(const Tree& tree) {
  const auto name_of = [&](std::uint32_t place) {
    const std::uint64_t id = tree.nodes()[place].id;
    return hex_of(id != 0 ? id : node_id(std::to_string(place)));
  };
  std::vector<NamedBranch> named;
  std::vector<AbandonedBranch> abandoned = tree.abandoned_branches();
  std::ranges::reverse(abandoned);
  for (const AbandonedBranch& branch : abandoned) {
    std::string name = name_of(branch.first);
    const bool is_taken = std::ranges::find(named, name, &NamedBranch::name) != named.end();
    named.push_back({is_taken ? name_of(branch.leaf) : std::move(name), branch});
  }
  return named;
}

Result<Session> session_of_branch(const Session& whole, const Tree& tree,
                                  const NamedBranch& named) {
  Session session = whole;
  SessionInfo& info = session.info;
  REPRISE_ASSIGN(info.id, SessionId::parse(cat(whole.info.id.str(), kBranchSeparator, named.name)));
  const Branch branch = tree.branch(named.branch.leaf);
  const Branch used = tree.branch(tree.leaf().value_or(0));
  std::size_t shared = 0;
  while (shared < std::min(branch.size(), used.size()) &&
         std::ranges::equal(used.message(shared), branch.message(shared))) {
    ++shared;
  }
  info.head = Seq{static_cast<std::int64_t>(branch.size())};
  info.forked_from = ForkOrigin{whole.info.id, Seq{static_cast<std::int64_t>(shared)}};
  session.usage = {};
  return session;
}

std::optional<BranchId> split_branch_id(const SessionId& id) {
  const std::size_t mark = id.str().rfind(kBranchSeparator);
  if (mark == std::string::npos) {
    return std::nullopt;
  }
  return BranchId{id.str().substr(0, mark), id.str().substr(mark + 1)};
}

}  // namespace reprise::source
