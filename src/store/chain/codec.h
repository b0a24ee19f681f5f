#pragma once

// An index of conversations whose words are kept by their provider (docs/formats/chain.md):
// {"conversations":[{"id","title","mode"[,"draftPath"],"responseIds","createdAt","updatedAt"}]}.
//
//  (1) A row that was not changed is written back as it stood, and so is what is no good row.
//  (2) The ids and times of a row are what its own members say, whatever Reprise noted beside them:
//      another program may have written since.

#include <filesystem>

#include "reprise/error.h"
#include "store/document/document_format.h"
#include "store/stored_session.h"

namespace reprise::store::chain {

// Who has the words of a row that says nothing about it.
inline constexpr std::string_view kProvider = "openai-responses";

// Bytes that are no such file become an empty document with `aside`. `file` is for messages.
Document decode(const std::filesystem::path& file, std::string_view bytes);

std::string encode(Document& document);

// corrupt, with the reason, for a row that names no conversation.
Result<StoredSession> decode_row(std::string_view json);

// Spelled for its place in the file: the first line as it stands, the others indented.
std::string encode_row(const StoredSession& stored);
// The same for a row that was read: its members in their order, their values untouched.
std::string respell_row(std::string_view json);

}  // namespace reprise::store::chain
