#pragma once

// What a format cannot say. A message or session is first written in the format's own members;
// what a reader of those alone would not see is written as one member more, named kSidecar.
// Programs that do not know the member leave it alone or drop it; the words are in the format's
// own.
//
//   encode: native members of m;  sidecar = message_sidecar(m, decode(native members))
//   decode: m = decode(native members);  add_message_sidecar(m, sidecar)

#include "store/stored_session.h"

namespace reprise::store {

inline constexpr std::string_view kSidecar = "reprise";

// A JSON object of the fields in which `native` differs, its seq left out; "" when there is none.
std::string message_sidecar(const Message& message, const Message& native);
// Its inverse. Where the text in `native` is not the one the sidecar was made for, another program
// has changed it: then `native` keeps its blocks. corrupt when the sidecar cannot be read.
Result<> add_message_sidecar(Message& native, std::string_view sidecar);

// The same for a session's fields, and what no format has: operations (the newest kOperationsMax),
// the beginning of the running answer, replaced messages, the state before the trash. Its id, head
// and todos are left out; `usage` in `native` is what a reader would sum up.
std::string session_sidecar(const StoredSession& stored, const Session& native);
Result<> add_session_sidecar(StoredSession& native, std::string_view sidecar);
inline constexpr std::size_t kOperationsMax = 100;

}  // namespace reprise::store
