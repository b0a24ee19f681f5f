#pragma once

// A context file (docs/formats/context.md) to a document and back: the settings of a connection,
// one conversation, and notes about both, as one JSON object.
//
//  (1) What was read is written back as it stood: unknown members, entries that are no messages,
//      the spelling of numbers. Only what changed is spelled anew, and what was missing is added.
//  (2) `total_turns` counts what was ever answered. It grows with each answer and is not corrected.
//  (3) A session's provider, model and config are its own: the file's settings, which are in
//      `Document::extra`, stay as they are. The system prompt is the file's.

#include <filesystem>
#include <string>
#include <string_view>

#include "reprise/error.h"
#include "reprise/types.h"
#include "store/file/session_files.h"

namespace reprise::store::context {

// The id of the conversation in a file that does not say one.
Result<SessionId> id_of_path(const std::filesystem::path& file);

// Bytes that are no such file become an empty document with `aside`. `file` gives the session what
// the bytes do not say: an id that stays the same, and its folder.
Result<Document> decode(const std::filesystem::path& file, std::string_view bytes);

// unsupported when there is more than one session. Brings `encoded` up to date.
Result<std::string> encode(const std::filesystem::path& file, Document& document);

}  // namespace reprise::store::context
