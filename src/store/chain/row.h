#pragma once

// One row of the index.

#include "store/stored_session.h"

namespace reprise::store::chain {

// corrupt, with the reason, for a row that names no conversation.
Result<StoredSession> decode_row(std::string_view json);

// Spelled for its place in the file: the first line as it stands, the others indented.
std::string encode_row(const StoredSession& stored);
// The same for a row that was read: its members in their order, their values untouched.
std::string respell_row(std::string_view json);

}  // namespace reprise::store::chain
