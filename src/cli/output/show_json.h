#pragma once

// The document of `reprise show --json`, and what the transcript checks, too.

#include <functional>  // IWYU pragma: export

#include "export/transcript.h"     // IWYU pragma: export
#include "reprise/conversation.h"  // IWYU pragma: export

namespace reprise::cli {

// Checks that the blobs of a message are there; with Detail::full, loads truncated results from
// them. Results that cannot be read are unchanged.
void take_blobs(Source& source, Detail detail, Message& message, ReadReport& report);

// Reports a transcript that was changed by somebody else as damage.
Result<> add_signature(Source& source, const SessionId& id, ReadReport& report);

// Writes {"session","messages","todos","damage"} piece by piece, with the messages of `range`; the
// unfinished answer is one of them if it is in there. Ends early after Flow::stop.
Result<ReadReport> write_show_document(Source& source, const SessionSnapshot& snapshot,
                                       ReadRange range,
                                       const std::function<Flow(std::string_view piece)>& write);

}  // namespace reprise::cli
