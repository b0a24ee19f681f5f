#pragma once

// What a line of Claude Code means.

#include "source/transcript.h"

namespace reprise::source::claude {

// The members that matter, found in one reading. The text must outlive it.
struct Line {
  explicit Line(JsonView line);

  JsonView record;
  std::string type;
  JsonView uuid, parent, logical_parent, time, folder, request;
  bool is_sidechain = false;
  bool is_meta = false;  // or a summary, or an error of the API: a program's words
  bool is_aborted = false;
  JsonView id, model, content, usage;  // of its message
};

// Whether no person wrote this user's line, and no model this assistant's.
bool is_injected_line(const Line& line);
// All of a user's content is results of tools.
bool is_result_line(const Line& line);
Usage usage_of(const Line& line);
Message message_of(std::span<const Piece> pieces);

}  // namespace reprise::source::claude
