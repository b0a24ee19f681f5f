#pragma once

// Sidecars hold what a format cannot represent. A message or session is first written with the
// format's own members; whatever a reader would not get back from those is in one additional
// member, named kSidecar. Programs that do not know the member preserve or drop it; the text is in
// the format's own members.
//
//   encode: native members of m;  sidecar = message_sidecar(m, decode(native members))
//   decode: m = decode(native members);  add_message_sidecar(m, sidecar)

#include <string_view>

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

// The format json: a JSON document that can be read line by line.
//
//   {"format":"reprise","version":1,
//   "session":{"id":"…","title":"…",…},
//   "todos":[…],
//   "messages":[
//   {…},
//   {…}
//   ],
//   "artefacts":[
//   {"step":1,"name":"request.json","base64":"…"}
//   ],
//   "blobs":[
//   {"hash":"…","base64":"…"}
//   ]}
//
// A session's members are those of its sidecar, a message is that of message_to_json(). A file
// without the last line is truncated.
inline constexpr std::string_view kJsonHead = R"({"format":"reprise","version":1,)";
inline constexpr std::string_view kJsonHeadAnyVersion = R"({"format":"reprise","version":)";
inline constexpr std::string_view kSessionKey = R"("session":)";
inline constexpr std::string_view kTodosKey = R"("todos":)";
inline constexpr std::string_view kMessagesHead = R"("messages":[)";
inline constexpr std::string_view kArtefactsHead = R"("artefacts":[)";
inline constexpr std::string_view kBlobsHead = R"("blobs":[)";
inline constexpr std::string_view kListEnd = "],";
inline constexpr std::string_view kLastLine = "]}";

}  // namespace reprise::store
