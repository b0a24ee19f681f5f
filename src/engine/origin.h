#pragma once

// The origin of an imported session, in the extra field "origin". The tool's own files are stored
// as artefacts of step 0 whose names start with kOriginalsFolder, in pieces that are compressed if
// that makes them smaller.

#include "reprise/session.h"

namespace reprise {

inline constexpr std::string_view kOriginalsFolder = "original/";
inline constexpr std::size_t kOriginalPieceBytes = 4U << 20;

struct Origin {
  std::string tool;   // in the tool
  std::string id;     // the tool's
  Time seen_at = {};  // its last activity at the last import
  // State of the stored copy at that time: it is unchanged while these are equal.
  Seq head = {};
  Time updated_at = {};
  std::string title = {};
};

// nullopt if the session was not imported.
std::optional<Origin> origin_of(const Session& session);
void set_origin(Extra& extra, const Origin& origin);
bool is_unchanged_since(const Session& session, const Origin& origin);

// Whether it ends with a message of its own tool, which may still be answering it.
bool has_ended_elsewhere(const Session& session);

// "original/FILE/000002"
std::string original_piece_name(std::string_view file, std::int64_t number);

}  // namespace reprise
