#pragma once

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
// A session's members are those of sidecars (store/document/sidecar.h), a message is that of
// message_to_json(). A file without the last line is truncated.

#include <string_view>

namespace reprise::store {

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
