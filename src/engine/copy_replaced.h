#pragma once

// Messages of a session that gave way to others, in a copy of it: where the target has artefacts
// they are the one that chat directories give them, one message a line.

#include "engine/copy_reduce.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"

namespace reprise::engine {

// Of step 0.
inline constexpr std::string_view kReplacedArtefact = "replaced.jsonl";

// How many the source keeps aside and does not hand out as artefacts.
Result<std::int64_t> count_replaced(Source& source, const SessionId& id);

// These, behind those that the source has as the artefact. Done again, it adds what has come since.
// What stays behind is a loss; true: some is damaged.
Result<bool> copy_replaced(Source& source, Store& target, const SessionId& id, Losses& losses);

}  // namespace reprise::engine
