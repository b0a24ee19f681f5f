#pragma once

// Where an imported session came from: the extra field "origin". The tool's own files come with it,
// as artefacts of step 0 whose names begin with kOriginalsFolder, in pieces that are compressed
// where that makes them smaller.

#include "reprise/session.h"

namespace reprise {

inline constexpr std::string_view kOriginalsFolder = "original/";
inline constexpr std::size_t kOriginalPieceBytes = 4U << 20;

struct Origin {
  std::string tool;   // "claude"
  std::string id;     // the tool's
  Time seen_at = {};  // its last activity when it was imported last
  // What it was then in the store: it has not changed since while these are its own.
  Seq head = {};
  Time updated_at = {};
  std::string title = {};
};

// nullopt for a session that was not imported.
std::optional<Origin> origin_of(const Session& session);
void set_origin(Extra& extra, const Origin& origin);
bool is_unchanged_since(const Session& session, const Origin& origin);

// Whether it ends as it did with its own tool, where somebody may be answering it.
bool has_ended_elsewhere(const Session& session);

// "original/FILE/000002"
std::string original_piece_name(std::string_view file, std::int64_t number);

}  // namespace reprise
