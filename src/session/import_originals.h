#pragma once

// The files of an imported session, byte for byte, so that it can go back as it was.

#include "reprise/store.h"

namespace reprise {

// Puts those of `foreign` beside `id`, as artefacts (engine/origin.h); what is there already is not
// written again. Nothing where the source has no files or the store no artefacts.
Result<> import_originals(Source& source, const SessionId& foreign, Store& target,
                          const SessionId& id);

}  // namespace reprise
