#pragma once

// Reduces sessions and messages to what a store can hold, and copies what a session has beside
// messages.

#include <set>

#include "reprise/store.h"

namespace reprise::engine {

// Descriptions of what was lost.
using Losses = std::set<std::string>;

// An archived session becomes a closed one: it is archived as the last step, if possible.
Session reduce(Session session, const SourceCapabilities& capabilities, Losses& losses);
Message reduce(Message message, const SourceCapabilities& capabilities, Losses& losses);
// As a store with these capabilities holds it, to compare.
Message reduced(Message message, const SourceCapabilities& capabilities);

// Stores blobs in the message itself, at most `bytes_max` bytes in the form that is stored (base64
// for images); returns how many. Other blobs, and those that are missing or damaged, are losses.
Result<std::int64_t> put_blobs_inline(Message& message, BlobReader* blobs, std::int64_t bytes_max,
                                      Losses& losses);

struct CopyTarget {
  const SourceCapabilities& capabilities;
  bool is_ahead;  // it has messages that the source lacks
};
// Reports what the target could not store, and what was changed since the first copy, so that no
// loss goes unnoticed.
void compare(const Session& source, const Session& existing, const CopyTarget& target,
             Losses& losses);

struct CopiedIds {
  const SessionId& source;
  const SessionId& target;
};
Result<> copy_todos(Source& source, Store& target, const CopiedIds& ids, Losses& losses);
Result<> copy_artefacts(Source& source, Store& target, const CopiedIds& ids, Losses& losses);

// Copies replaced messages, after those in the source's artefact. A repeated call appends new ones.
// Messages that cannot be copied are losses; unreadable ones are damage.
struct CopyNotes {
  Losses& losses;
  Losses& damage;
};
Result<> copy_replaced(Source& source, Store& target, const CopiedIds& ids, const CopyNotes& notes);

}  // namespace reprise::engine
