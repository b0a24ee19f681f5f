#pragma once

// An index of conversations whose text is stored by their provider (docs/formats/chain.md):
// {"conversations":[{"id","title","mode"[,"draftPath"],"responseIds","createdAt","updatedAt"}]}.
//
//  (1) Unchanged rows are written back byte for byte, and so are invalid rows.
//  (2) A row's own members decide its ids and times, whatever is in its member "reprise", since
//      another program may have written the row since.

#include <filesystem>

#include "reprise/error.h"
#include "store/document/document_format.h"
#include "store/stored_session.h"

namespace reprise::store::chain {

// The provider of a row that does not name one.
inline constexpr std::string_view kProvider = "openai-responses";

// Bytes of another format yield an empty document with `unreadable` set. `file` is for messages.
Document decode(const std::filesystem::path& file, std::string_view bytes);

std::string encode(Document& document);

// corrupt, with the reason, for a row without a conversation id.
Result<StoredSession> decode_row(std::string_view json);

// Formatted for its position in the file: the first line is not indented, the others are.
std::string encode_row(const StoredSession& stored);
// The same for a row that was read: the order of its members and their values are unchanged.
std::string format_row(std::string_view json);

// Whether the file exists and is an index of conversations. False for a damaged file.
Result<bool> is_chain_file(const std::filesystem::path& file);

}  // namespace reprise::store::chain
