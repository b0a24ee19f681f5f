#pragma once

// The line-based REPL: reads input, runs turns and commands, until the user leaves or the input
// ends.
//  (1) Ctrl-C stops a running answer and stores the partial answer; a second one within two seconds
//      leaves.
//  (2) All messages are stored immediately; only the title is set at the end.
//  (3) A failed turn or command is reported, and the loop continues.

#include "cli/output/answer_output.h"
#include "cli/process/process.h"  // IWYU pragma: export
#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/program/interrupts.h"
#include "cli/repl/chat_session.h"  // IWYU pragma: export
#include "cli/repl/line_source.h"   // IWYU pragma: export

namespace reprise::cli {

struct ReplParts {
  Context& context;
  LineSource& source;
  Interrupts& interrupts;
  JsonAnswer* events = nullptr;  // with --json
  bool person = true;            // interactive: show prompts and explanations
};

class Repl {
 public:
  // The objects that `parts` refers to must outlive it.
  Repl(const ReplParts& parts, ChatSession session);

  Exit run();
  // Whether it ended to start another session.
  bool starts_another() const { return starts_another_; }

 private:
  enum class Next : std::uint8_t { proceed, leave };
  using Turn = std::function<Result<Outcome>(Conversation& conversation, TurnObserver& observer)>;

  void greet();
  Next step(const Input& input);
  Next command(std::string_view line);
  Next attach(const std::string& file);
  Next copy_answer();
  Next turn(const Turn& ask, std::string_view question = "");
  Next conclude(const Result<Outcome>& outcome);
  Next on_stop(std::string_view advice);
  void fail_step(const Error& error);
  void finish();

  ReplParts parts_;
  ChatSession session_;
  std::optional<std::chrono::steady_clock::time_point> stopped_at_;
  Exchange first_;               // the first turn of this run
  std::vector<Block> attached_;  // for the next message
  bool starts_another_ = false;
  bool interrupted_ = false;
  bool unsaved_ = false;
  bool failed_ = false;
};

}  // namespace reprise::cli
