#pragma once

// The stored copies of other tools' sessions: their ids, and how much of a session they have.

#include <optional>
#include <span>
#include <vector>

#include "reprise/source.h"

namespace reprise::imports {

inline constexpr int kForksMax = 1'000;  // of one session with many rewinds

// "ID:BRANCH", a fork of "ID".
bool is_branch(const SessionInfo& info);

// Whether it was imported in this state.
bool is_seen(const Session& present, const SessionInfo& info);

// The id of an imported session in this store, which may have one of version 8 from before.
Result<SessionId> id_in(Source& target, std::string_view tool, std::string_view id);

// A session of a tool, and the store that it is imported into.
struct ForeignSession {
  Source& store;
  std::string_view tool;
  const SessionId& id;  // in the tool
};
// Where the tool's messages differ from those of a stored copy.
struct Difference {
  SessionId copy;
  Seq at;
  Message message;  // the tool's, as the store holds it
};
struct ChosenFork {
  SessionId id;
  std::optional<Session> present;  // nullopt: it is to be created
};
// The fork with the tool's messages from there on, among those that were not tried: one that has
// the same message there, or its beginning. `noted` is Origin::fork. Its id is derived from the
// place and the message's content, so that equal messages give the same fork, whenever they were
// written; earlier versions derived it from the message's time. nullopt if there are too many.
Result<std::optional<ChosenFork>> choose_fork(const ForeignSession& foreign,
                                              const Difference& difference,
                                              std::span<const SessionId> tried,
                                              std::string_view noted);

// The stored copy with this id. If it is in the trash, and the fork with the tool's newer messages
// is not, returns that fork and sets `id` to its id.
Result<std::optional<Session>> find_untrashed(Source& store, SessionId& id);

// The number of leading messages with the same content in a session of the store and in the tool's.
// An error if the store cannot read all of its own.
Result<Seq> count_equal(Source& store, const SessionInfo& present, Source& source,
                        const SessionId& foreign);

// Hashes of the questions and answers, which all exports have.
Result<std::vector<std::uint64_t>> hash_texts(Source& source, const SessionId& id);

}  // namespace reprise::imports
