#pragma once

// What is left of a session or a message in a store that cannot hold everything.

#include <set>

#include "reprise/store.h"

namespace reprise::engine {

// What was left out, in words; each once.
using Losses = std::set<std::string>;

// A session that is archived becomes a closed one: to archive it comes last, where that can be
// done.
Session reduce(Session session, const SourceCapabilities& holds, Losses& losses);
Message reduce(Message message, const SourceCapabilities& holds, Losses& losses);

// Of step 0.
inline constexpr std::string_view kReplacedArtefact = "replaced.jsonl";

// How many the source keeps aside and does not hand out as artefacts.
Result<std::int64_t> count_replaced(Source& source, const SessionId& id);

// These, behind those that the source has as the artefact. Done again, it adds what has come since.
// What stays behind is a loss; what cannot be read is damage.
Result<> copy_replaced(Source& source, Store& target, const SessionId& id, Losses& losses,
                       Losses& damage);

}  // namespace reprise::engine
