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

#include "reprise/types.h"
#include "store/document/document_format.h"

namespace reprise::store::context {

// What a file's path says of the conversation in it. It stays the same as long as the store is
// open, whatever the disk says of the folders above then.
struct Origin {
  std::filesystem::path file;
  SessionId unnamed;              // the conversation's id where the bytes say none
  std::filesystem::path project;  // the folder that the file belongs to
};
// io when the folders above cannot be looked at.
Result<Origin> origin_of(const std::filesystem::path& file);

// Bytes that are no such file become an empty document with `aside`.
Document decode(const Origin& origin, std::string_view bytes);

// unsupported when there is more than one session. Brings `encoded` up to date.
Result<std::string> encode(const Origin& origin, Document& document);

// The common beginning once, then the turns of both sides by the time of their questions, each
// turn in one piece; a last turn that both have, once. Nothing that is in `found` is left out, and
// all of `written` that was not taken back on purpose is there. `found` as it is when it follows
// from what was written, or holds another conversation.
Document merge(const Origin& origin, const Document& written, Document found);

}  // namespace reprise::store::context
