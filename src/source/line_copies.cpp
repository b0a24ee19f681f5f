#include "source/line_copies.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace reprise::source {
namespace {

struct Copy {
  Transcript transcript;
  std::vector<std::uint32_t> nodes;  // of the current branch
  std::shared_ptr<const NodeIds> ids;
};

Result<Copy> read_copy(const JsonlTool& tool, const Located& located) {
  REPRISE_ASSIGN(Transcript transcript, read_index(tool, located));
  const auto leaf = transcript.tree.leaf();
  Copy copy{.transcript = std::move(transcript), .nodes = {}, .ids = {}};
  if (leaf) {
    copy.nodes = copy.transcript.tree.branch(*leaf).nodes;
  }
  NodeIds ids;
  for (const std::uint32_t node : copy.nodes) {
    if (const std::uint64_t id = copy.transcript.tree.nodes()[node].id; id != 0) {
      ids.insert(id);
    }
  }
  copy.ids = std::make_shared<const NodeIds>(std::move(ids));
  return copy;
}

// The number of messages at the beginning that another one has, too.
std::size_t count_shared(const Copy& copy, const Copy& other) {
  const auto end = std::ranges::find_if(copy.nodes, [&](std::uint32_t node) {
    return !other.ids->contains(copy.transcript.tree.nodes()[node].id);
  });
  return static_cast<std::size_t>(end - copy.nodes.begin());
}

// When it continued with messages that another one does not have; nullopt if it has none.
std::optional<Time> continuation(const JsonlTool& tool, const Copy& copy, const Copy& other) {
  const std::size_t shared = count_shared(copy, other);
  return shared == copy.nodes.size()
             ? std::nullopt
             : std::optional(time_of_message(tool, copy.transcript, copy.nodes[shared]));
}

bool is_older(const JsonlTool& tool, const Copy& copy, const Copy& other) {
  const std::optional<Time> own = continuation(tool, copy, other);
  const std::optional<Time> others = continuation(tool, other, copy);
  if (!own || !others) {
    return !own && (others || copy.nodes.size() < other.nodes.size());
  }
  return *own > *others;
}

// The numbers of the copies, the oldest first. All pairs count, in case the times contradict each
// other.
std::vector<std::size_t> by_age(const JsonlTool& tool, const std::vector<Copy>& copies) {
  std::vector<std::ptrdiff_t> younger(copies.size());
  for (std::size_t i = 0; i < copies.size(); ++i) {
    younger[i] = std::ranges::count_if(
        copies, [&](const Copy& other) { return is_older(tool, copies[i], other); });
  }
  std::vector<std::size_t> order(copies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return younger[i]; });
  return order;
}

}  // namespace

LineCopies find_line_copies(const JsonlTool& tool, std::vector<Located> sessions) {
  LineCopies found;
  std::vector<Copy> copies;
  copies.reserve(sessions.size());
  for (Located& located : sessions) {
    if (auto copy = read_copy(tool, located)) {
      copies.push_back(*std::move(copy));
      found.sessions.push_back(std::move(located));
    }
  }
  const std::vector<std::size_t> order = by_age(tool, copies);
  found.copied_from.resize(found.sessions.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::size_t most = 0;
    for (const std::size_t older : std::span(order).first(i)) {
      const std::size_t shared = count_shared(copies[order[i]], copies[older]);
      if (shared > most) {
        most = shared;
        found.copied_from[order[i]] = CopiedFrom{found.sessions[older].id, copies[older].ids};
      }
    }
  }
  return found;
}

}  // namespace reprise::source
