#pragma once

// The meaning of a line of Claude Code.

#include "source/transcript.h"  // IWYU pragma: export

namespace reprise::source::claude {

// The members in use, found in one pass. The text must outlive it.
struct Line {
  explicit Line(JsonView line);

  JsonView record;
  std::string type;  // "user" also for an attachment with words of the user
  JsonView uuid, parent, logical_parent, time, folder, request;
  bool is_sidechain = false;
  bool is_meta = false;  // or a summary or an API error: written by the program
  bool is_aborted = false;
  JsonView id, model, content, usage, stop_reason;  // of its message

 private:
  // What the user says during a turn is an attachment.
  void take_queued(JsonView attachment);
};

// In Node::detail, of a line of an answer. The reason for the end may be missing in older versions,
// also of whole answers.
inline constexpr std::uint32_t kWithoutReason = 1;
inline constexpr std::uint32_t kInterrupted = 2;

// Whether a user's line was not written by the user, or an assistant's line not by the model.
bool is_injected_line(const Line& line);
// Whether a user's content is tool results only.
bool is_result_line(const Line& line);
Usage usage_of(const Line& line);
Message message_of(std::span<const Piece> pieces);

}  // namespace reprise::source::claude
