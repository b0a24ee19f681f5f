#pragma once

// Sessions, search hits and todos for reading on a terminal: rendered Markdown, colours, local
// time.

#include "export/transcript.h"  // IWYU pragma: export
#include "reprise/search.h"     // IWYU pragma: export
#include "reprise/session.h"    // IWYU pragma: export

namespace reprise::cli {

// How a session is shown.
struct View {
  std::size_t columns = 80;
  bool colour = true;
  Detail detail = Detail::shortened;
};

// "2026-11-23 11:26" in local time.
std::string local_time(Time time);

// `brief`: its short id.
std::string view_head(const Session& session, std::string_view brief, const View& view);
std::string view_message(const Message& message, const View& view);
// Like transcript_end().
std::string view_end(const SessionSnapshot& snapshot, const Message* last, const View& view);

struct HitView {
  std::span<const std::string> sources;  // values for --store; "" for the settings' store
  Time now;
  std::size_t columns;  // longer lines are cut
  bool colour = false;  // false: terms are marked by asterisks
};
// One line per hit.
std::string hit_lines(const std::vector<SearchHit>& hits, const HitView& view);

// "$0.002"; "-" without a cost.
std::string cost_text(const Usage& usage);

// One line per todo, numbered from 1 and sanitized for terminals: "2. [x] text". "" for none.
std::string todo_lines(const std::vector<Todo>& todos);

}  // namespace reprise::cli
