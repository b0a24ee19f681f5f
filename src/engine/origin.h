#pragma once

// The origin of an imported session, in the extra field "origin". The tool's own files are stored
// as artefacts of step 0 whose names start with kOriginalsFolder, in pieces that are compressed if
// that makes them smaller. Pieces that are not needed any more are empty.

#include "reprise/session.h"

namespace reprise {

inline constexpr std::string_view kOriginalsFolder = "original/";
inline constexpr std::size_t kOriginalPieceBytes = 4U << 20;

// What the tool no longer has of a session that was imported from it.
enum class Gone : std::uint8_t { nothing, messages, session };
std::string_view to_string(Gone gone);  // "" for nothing

struct Origin {
  std::string tool;  // its scheme
  std::string id;    // of the session in the tool
  // The file or folder of the history that it was imported from; "" if that is unknown.
  std::string place = {};
  Gone gone = Gone::nothing;
  // Its last activity, and its revision in the tool's list, at the last import.
  Time seen_at = {};
  std::string revision = {};
  // State of the stored copy at that time: it is unchanged while these are equal.
  Seq head = {};
  Time updated_at = {};
  std::string title = {};
  // It was archived by an import. Else an import that was killed may have left it active.
  bool is_archived = false;
  // The stored fork with the tool's messages since it was rewound; "" without one.
  std::string fork = {};
  // What the tool stores for the session beyond the usage of its messages; its request id is
  // derived from tool and id.
  std::optional<Usage> usage = {};
};

// The request id of a session's own usage.
std::string request_id_of_session(std::string_view tool, std::string_view id);

// nullopt if the session was not imported.
std::optional<Origin> origin_of(const Session& session);
void set_origin(Extra& extra, const Origin& origin);
bool is_unchanged_since(const Session& session, const Origin& origin);
// The same, for a session that may have been renamed.
bool has_unchanged_messages(const Session& session, const Origin& origin);

// Whether it ends with a message of its own tool, which may still be answering it.
bool has_ended_elsewhere(const Session& session);

// "original/FILE/000002"
std::string original_piece_name(std::string_view file, std::int64_t number);

}  // namespace reprise
