#pragma once

// Reduces sessions and messages to what a store can hold.

#include <set>

#include "reprise/store.h"

namespace reprise::engine {

// Descriptions of what was lost.
using Losses = std::set<std::string>;

// An archived session becomes a closed one: it is archived as the last step, if possible.
Session reduce(Session session, const SourceCapabilities& capabilities, Losses& losses);
Message reduce(Message message, const SourceCapabilities& capabilities, Losses& losses);

// An artefact of step 0.
inline constexpr std::string_view kReplacedArtefact = "replaced.jsonl";

// The number of replaced messages that the source does not return as artefacts.
Result<std::int64_t> count_replaced(Source& source, const SessionId& id);

// Copies replaced messages, after those in the source's artefact. A repeated call appends new ones.
// Messages that cannot be copied are losses; unreadable ones are damage.
Result<> copy_replaced(Source& source, Store& target, const SessionId& id, Losses& losses,
                       Losses& damage);

}  // namespace reprise::engine
