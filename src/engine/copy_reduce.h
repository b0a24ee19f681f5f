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

}  // namespace reprise::engine
