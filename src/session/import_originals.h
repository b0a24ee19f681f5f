#pragma once

// Stores the original files of an imported session, so that it can be exported unchanged.

#include "reprise/store.h"

namespace reprise {

// Stores the files of `foreign` as artefacts of `id` (engine/origin.h), unless they are stored
// already. Does nothing if the source has no files or the store has no artefacts.
Result<> import_originals(Source& source, const SessionId& foreign, Store& target,
                          const SessionId& id);

}  // namespace reprise
