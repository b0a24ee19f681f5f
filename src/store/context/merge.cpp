// Merges two versions of one conversation: ours, and that of a program that replaced it without our
// lock.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "store/context/codec.h"
#include "store/context/entry.h"
#include "store/context/members.h"
#include "store/document/document_format.h"
#include "store/document/one_file.h"
#include "store/stored_session.h"

namespace reprise::store::context {
namespace {

using Messages = std::vector<SharedMessage>;

// Compares what other programs preserve when they copy a message. The text alone is not enough: the
// same question may be asked twice.
bool is_same(const SharedMessage& a, const SharedMessage& b) {
  return a->role == b->role &&
         truncate_to_milliseconds(a->created_at) == truncate_to_milliseconds(b->created_at) &&
         plain_text(*a) == plain_text(*b);
}

// The latest operation, which is also in every later version of ours.
const OperationId* last_operation(const StoredSession& stored) {
  const auto last = std::ranges::max_element(
      stored.operations, {}, [](const auto& operation) { return operation.second.number; });
  return last == stored.operations.end() ? nullptr : &last->first;
}

bool follows_from(const StoredSession& found, const StoredSession& written) {
  const OperationId* const last = last_operation(written);
  return last != nullptr && found.operations.contains(*last);
}

// False for another conversation that was started meanwhile.
bool is_same_session(const Origin& origin, const Session& found, const Session& written) {
  return found.info.id == written.info.id || found.info.id == origin.unnamed;
}

// The turns of one side, in order. Messages before its first question end a turn that both sides
// have started.
struct Turns {
  Messages end_of_first;
  std::vector<Messages> turns;
};

Turns turns_of(Messages::const_iterator from, Messages::const_iterator to) {
  Turns turns;
  for (; from != to; ++from) {
    if ((*from)->role == role::kUser) {
      turns.turns.emplace_back();
    }
    (turns.turns.empty() ? turns.end_of_first : turns.turns.back()).push_back(*from);
  }
  return turns;
}

bool is_same_turn(const Messages& a, const Messages& b) {
  return std::ranges::equal(a, b, is_same);
}

// Preserves the order within each side even if its clock went backwards.
Messages by_time(const Turns& ours, const Turns& theirs) {
  Messages merged = ours.end_of_first;
  std::ranges::copy(theirs.end_of_first, std::back_inserter(merged));
  auto a = ours.turns.begin();
  auto b = theirs.turns.begin();
  while (a != ours.turns.end() || b != theirs.turns.end()) {
    const bool is_ours =
        b == theirs.turns.end() ||
        (a != ours.turns.end() && a->front()->created_at <= b->front()->created_at);
    std::ranges::copy(is_ours ? *a++ : *b++, std::back_inserter(merged));
  }
  return merged;
}

class Merge {
 public:
  Merge(const FileSession& ours, Document found)
      : ours_(ours), found_(std::move(found)), theirs_(found_.sessions.front()) {}

  Document run() {
    const Messages& our_log = ours_.stored.log->own;
    const Messages& their_log = theirs_.stored.log->own;
    const auto [our_end, their_end] = std::ranges::mismatch(our_log, their_log, is_same);
    Turns ours = turns_of(our_end, our_log.end());
    remove_replaced(ours);
    if (ours.end_of_first.empty() && ours.turns.empty()) {
      return std::move(found_);
    }
    const Turns theirs = turns_of(their_end, their_log.end());
    if (!ours.turns.empty() && !theirs.turns.empty() &&
        is_same_turn(ours.turns.back(), theirs.turns.back())) {
      ours.turns.pop_back();
    }
    const auto common = static_cast<std::size_t>(their_end - their_log.begin());
    combine(common, by_time(ours, theirs));
    return std::move(found_);
  }

 private:
  // Messages replaced in our version were removed on purpose.
  void remove_replaced(Turns& turns) const {
    const auto was_replaced = [this](const SharedMessage& message) {
      return std::ranges::any_of(theirs_.stored.replaced,
                                 [&](const SharedMessage& old) { return is_same(old, message); });
    };
    std::erase_if(turns.end_of_first, was_replaced);
    for (Messages& turn : turns.turns) {
      std::erase_if(turn, was_replaced);
    }
    std::erase_if(turns.turns, [](const Messages& turn) { return turn.empty(); });
  }

  void combine(std::size_t common, const Messages& tail) {
    const Messages theirs = theirs_.stored.log->own;
    StoredSession merged = ours_.stored;
    merge_session(merged);
    merged.log = std::make_shared<Log>();
    merged.log->own.assign(theirs.begin(), theirs.begin() + static_cast<std::ptrdiff_t>(common));
    for (const SharedMessage& message : tail) {
      Message numbered = *message;
      numbered.seq = Seq{merged.log->size()};
      if (std::ranges::find(theirs, message) != theirs.end()) {
        count_usage(merged, numbered);
      }
      merged.log->own.push_back(std::make_shared<const Message>(std::move(numbered)));
    }
    merged.session.info.head = Seq{merged.log->size()};
    move_raw_entries(theirs, common, tail);
    subtract_turns(theirs, common);
    theirs_.encoded.truncate(static_cast<std::int64_t>(common));
    theirs_.stored = std::move(merged);
  }

  // The settings and unknown members come from theirs, everything else from ours.
  void merge_session(StoredSession& merged) const {
    const Session& theirs = theirs_.stored.session;
    Session& session = merged.session;
    session.system_prompt = theirs.system_prompt;
    session.extra = theirs.extra;
    session.info.updated_at = std::max(session.info.updated_at, theirs.info.updated_at);
    merge_operations(merged, theirs_.stored);
  }

  void move_raw_entries(const Messages& theirs, std::size_t common, const Messages& tail) {
    for (RawEntry& entry : theirs_.raw_entries) {
      const auto index = static_cast<std::size_t>(entry.before);
      if (index >= theirs.size()) {
        entry.before = static_cast<std::int64_t>(common + tail.size());
      } else if (index > common) {
        const auto position = std::ranges::find(tail, theirs[index]);
        entry.before = static_cast<std::int64_t>(common) + std::distance(tail.begin(), position);
      }
    }
    std::ranges::stable_sort(theirs_.raw_entries, {}, &RawEntry::before);
  }

  // Their turns are already counted, but all turns after the common beginning are counted when
  // written.
  void subtract_turns(const Messages& theirs, std::size_t common) {
    const auto counted =
        std::count_if(theirs.begin() + static_cast<std::ptrdiff_t>(common), theirs.end(),
                      [](const SharedMessage& message) { return is_answer(*message); });
    context::subtract_turns(found_.extra, counted);
  }

  const FileSession& ours_;
  Document found_;
  FileSession& theirs_;
};

}  // namespace

Document merge(const Origin& origin, const Document& written, Document found) {
  if (written.sessions.empty() || found.sessions.empty()) {
    return found;
  }
  const FileSession& ours = written.sessions.front();
  const StoredSession& theirs = found.sessions.front().stored;
  if (!is_same_session(origin, theirs.session, ours.stored.session) ||
      follows_from(theirs, ours.stored)) {
    return found;
  }
  return Merge(ours, std::move(found)).run();
}

}  // namespace reprise::store::context
