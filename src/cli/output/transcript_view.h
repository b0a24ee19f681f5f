#pragma once

// A session for reading on a terminal: rendered Markdown, colours, local time.

#include "export/transcript.h"

namespace reprise::cli {

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
std::string view_end(const SessionNow& now, const Message* last, const View& view);

}  // namespace reprise::cli
