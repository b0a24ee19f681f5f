#pragma once

// Sidecars hold what a format cannot represent. A message or session is first written with the
// format's own members; whatever a reader would not get back from those is in one additional
// member, named kSidecar. Programs that do not know the member preserve or drop it; the text is in
// the format's own members.
//
//   encode: native members of m;  sidecar = message_sidecar(m, decode(native members))
//   decode: m = decode(native members);  add_message_sidecar(m, sidecar)

#include "store/stored_session.h"

namespace reprise::store {

inline constexpr std::string_view kSidecar = "reprise";

// A JSON object of the fields in which `native` differs, without its seq; "" if there are none.
std::string message_sidecar(const Message& message, const Message& native);
// Its inverse. If the text of `native` is not the one for which the sidecar was made, another
// program has changed it: then `native` keeps its blocks. corrupt if the sidecar cannot be read.
Result<> add_message_sidecar(Message& native, std::string_view sidecar);

// The same for a session's fields, and what no format has: operations (the latest kOperationsMax),
// the start of the running answer, replaced messages, the state before the trash. Its id, head and
// todos are omitted; `usage` in `native` is the sum that a reader would compute.
std::string session_sidecar(const StoredSession& stored, const Session& native);
Result<> add_session_sidecar(StoredSession& native, std::string_view sidecar);
inline constexpr std::size_t kOperationsMax = 100;

}  // namespace reprise::store
