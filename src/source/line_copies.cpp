#include "source/line_copies.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/transient.h"
#include "reprise/error.h"
#include "reprise/types.h"

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
  const std::optional<Time> own_time = continuation(tool, copy, other);
  const std::optional<Time> other_time = continuation(tool, other, copy);
  if (!own_time || !other_time) {
    return !own_time && (other_time || copy.nodes.size() < other.nodes.size());
  }
  return *own_time > *other_time;
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

// Reads all of them as a whole, and leaves out those that are damaged. Of two sessions, the one
// without messages of its own was copied; if both have some, the fork is the one that continued
// first, since the other one's would have been copied, too.
Result<LineCopies> find_line_copies(const JsonlTool& tool, std::vector<Located> sessions) {
  LineCopies found;
  std::vector<Copy> copies;
  copies.reserve(sessions.size());
  for (Located& located : sessions) {
    auto copy = read_copy(tool, located);
    if (!copy && is_transient(copy.error())) {
      return std::unexpected(std::move(copy).error());
    }
    if (copy) {
      copies.push_back(*std::move(copy));
      found.sessions.push_back(std::move(located));
    }
  }
  const std::vector<std::size_t> order = by_age(tool, copies);
  found.copied_from.resize(found.sessions.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::size_t shared_max = 0;
    for (const std::size_t older : std::span(order).first(i)) {
      const std::size_t shared = count_shared(copies[order[i]], copies[older]);
      if (shared > shared_max) {
        shared_max = shared;
        found.copied_from[order[i]] = CopiedFrom{found.sessions[older].id, copies[older].ids};
      }
    }
  }
  return found;
}

}  // namespace

void CopyIndex::note_first_message(const Located& located, std::uint64_t first_message) {
  if (first_message != 0) {
    const std::lock_guard lock(mutex_);
    first_messages_[located.id.str()] = first_message;
  }
}

void CopyIndex::note_listing() {
  const std::lock_guard lock(mutex_);
  ++listing_;
}

CopyIndex::Key CopyIndex::key_of(const Located& located, std::uint64_t first_message) {
  return {first_message, located.parts.front().file.parent_path().native()};
}

Result<std::uint64_t> CopyIndex::first_message_of(const Located& located) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = first_messages_.find(located.id.str()); found != first_messages_.end()) {
      return found->second;
    }
  }
  return callbacks_.read_first_message(located);
}

Result<std::vector<Located>> CopyIndex::copies_of(const Located& located) {
  if (!tool_.forks_by_copying() || located.is_child) {
    return std::vector<Located>();
  }
  REPRISE_TRY(update());
  {
    const std::lock_guard lock(mutex_);
    if (copies_.empty()) {
      return std::vector<Located>();
    }
  }
  REPRISE_ASSIGN(const std::uint64_t first_message, first_message_of(located));
  const Key key = key_of(located, first_message);
  const std::lock_guard lock(mutex_);
  const auto found = copies_.find(key);
  return found == copies_.end() ? std::vector<Located>() : found->second;
}

// Once for each listing.
Result<> CopyIndex::update() {
  std::int64_t listing = 0;
  {
    const std::lock_guard lock(mutex_);
    if (indexed_listing_ == listing_) {
      return {};
    }
    listing = listing_;
  }
  std::vector<Located> unread;
  std::unordered_map<std::uint64_t, int> sessions;  // by their first message
  bool has_copies = false;
  const auto count = [&](std::uint64_t first_message) {
    has_copies = (first_message != 0 && ++sessions[first_message] > 1) || has_copies;
  };
  callbacks_.each([&](const Located& located) {
    const std::uint64_t first_message = noted_first_message(located);
    count(first_message);
    if (first_message == 0 && !located.is_child) {
      unread.push_back(located);
    }
  });
  for (const Located& located : unread) {
    const auto first_message = callbacks_.read_first_message(located);  // notes it
    if (!first_message && is_transient(first_message.error())) {
      return std::unexpected(first_message.error());
    }
    count(first_message.value_or(0));  // who reads that session is told why it cannot be read
  }
  std::map<Key, std::vector<Located>> copies;
  if (has_copies) {
    callbacks_.each([&](const Located& located) {
      const std::uint64_t first_message = noted_first_message(located);
      if (first_message != 0 && sessions[first_message] > 1) {
        copies[key_of(located, first_message)].push_back(located);
      }
    });
  }
  std::erase_if(copies, [](const auto& entry) { return entry.second.size() == 1; });
  const std::lock_guard lock(mutex_);
  copies_ = std::move(copies);
  indexed_listing_ = listing;
  return {};
}

// 0 for a sub-agent, and if it was not read.
std::uint64_t CopyIndex::noted_first_message(const Located& located) {
  const std::lock_guard lock(mutex_);
  const auto found = first_messages_.find(located.id.str());
  return located.is_child || found == first_messages_.end() ? 0 : found->second;
}

Result<std::optional<CopiedFrom>> CopyIndex::find_copied_from(const Located& located) {
  REPRISE_ASSIGN(std::vector<Located> sessions, copies_of(located));
  if (sessions.empty()) {
    return std::nullopt;
  }
  const std::string state = state_of(sessions).revision();
  REPRISE_ASSIGN(const std::uint64_t first_message, first_message_of(located));
  const Key key = key_of(located, first_message);
  std::shared_ptr<const LineCopies> found;
  {
    const std::lock_guard lock(mutex_);
    const auto known = known_copies_.find(key);
    found = known != known_copies_.end() && known->second.first == state ? known->second.second
                                                                         : nullptr;
  }
  if (!found) {
    REPRISE_ASSIGN(LineCopies copies, find_line_copies(tool_, std::move(sessions)));
    found = std::make_shared<const LineCopies>(std::move(copies));
    const std::lock_guard lock(mutex_);
    known_copies_[key] = {state, found};
  }
  const auto copy = std::ranges::find(found->sessions, located.id, &Located::id);
  return copy == found->sessions.end()
             ? std::nullopt
             : found->copied_from[static_cast<std::size_t>(copy - found->sessions.begin())];
}

HeadState CopyIndex::state_of(const std::vector<Located>& copies) {
  HeadState state;
  for (const Located& copy : copies) {
    state.add_file(copy.parts.front().file);
  }
  return state;
}

}  // namespace reprise::source
