#pragma once

// Converts a context file (docs/formats/context.md) to a document and back: the settings of a
// connection, one conversation, and metadata about both, as one JSON object.
//
//  (1) What was read is written back byte for byte: unknown members, entries that are not messages,
//      the spelling of numbers. Only changes are encoded anew, and missing members are added.
//  (2) `total_turns` counts all answers ever given. It grows with each answer and is not corrected.
//  (3) A session's provider, model and config are its own: the file's settings, which are in
//      `Document::extra`, do not change. The system prompt is the file's.

#include <filesystem>

#include "reprise/types.h"
#include "store/document/document_format.h"

namespace reprise::store::context {

// What the path of a file determines about its conversation. Computed once when the store is
// opened, so that later changes to parent folders have no effect.
struct Origin {
  std::filesystem::path file;
  SessionId unnamed;              // the conversation's id if the file does not contain one
  std::filesystem::path project;  // the folder that the file belongs to
};
// io if the parent folders cannot be read.
Result<Origin> origin_of(const std::filesystem::path& file);

// Bytes of another format yield an empty document with `unreadable` set.
Document decode(const Origin& origin, std::string_view bytes);

// unsupported for more than one session. Updates `encoded`.
Result<std::string> encode(const Origin& origin, Document& document);

// Merges two versions of a conversation: their common beginning, then the turns of both ordered by
// the time of their questions, with no turn split, and a last turn that both have only once. All of
// `found` is in the result, and all of `written` that was not replaced on purpose. Returns `found`
// unchanged if it continues `written`, or holds another conversation.
Document merge(const Origin& origin, const Document& written, Document found);

// Whether the file exists and has the members of a context file. False for a damaged file.
Result<bool> is_context_file(const std::filesystem::path& file);

}  // namespace reprise::store::context
