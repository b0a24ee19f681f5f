#pragma once

// The stored copies of other tools' sessions: their ids, and how much of a session they have.

#include <functional>
#include <optional>
#include <vector>

#include "reprise/source.h"

namespace reprise::imports {

inline constexpr int kForksMax = 32;  // of one session with many rewinds

// "ID:BRANCH", a fork of "ID".
bool is_branch(const SessionInfo& info);

// Whether it was imported in this state.
bool is_seen(const Session& present, const SessionInfo& info);

// The id of an imported session in this store, which may have one of version 8 from before.
Result<SessionId> id_in(Source& target, std::string_view tool, std::string_view id);

// The id of the fork with the tool's messages from this position on. Derived from the first of
// them: a different message gives a different fork.
Result<SessionId> fork_id_in(Source& target, std::string_view tool, Source& source,
                             const SessionId& foreign, Seq at);

// The stored copy with this id. If it is in the trash, and the fork with the tool's newer messages
// is not, returns that fork and sets `id` to its id.
Result<std::optional<Session>> find_untrashed(Source& store, SessionId& id);

using MessageComparison = std::function<bool(const Message& ours, const Message& theirs)>;
// The number of leading messages that are equal in a session of the store and in the tool's.
Result<Seq> count_equal(Source& store, const SessionInfo& present, Source& source,
                        const SessionId& foreign, const MessageComparison& is_equal);

// Hashes of the questions and answers, which all exports have.
Result<std::vector<std::uint64_t>> hash_texts(Source& source, const SessionId& id);

}  // namespace reprise::imports
