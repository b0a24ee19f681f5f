#pragma once

// The line REPL: reads, asks, shows, until the person leaves or the input ends.
//  (1) Ctrl-C stops a running answer and keeps what came; a second one within two seconds leaves.
//  (2) However it ends, what was said is stored: nothing is kept back for the end but the title.
//  (3) A turn or command that fails is said, and the loop goes on.

#include "cli/output/answer_output.h"
#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/program/exit.h"     // IWYU pragma: export
#include "cli/program/interrupts.h"
#include "cli/repl/chat_session.h"  // IWYU pragma: export
#include "cli/repl/line_source.h"   // IWYU pragma: export

namespace reprise::cli {

inline constexpr std::chrono::seconds kTwiceWithin{2};
// Signals that ask to stop before one ends the process at once: two leave, a third one insists.
inline constexpr int kReplPatience = 2;

struct ReplParts {
  Context& context;
  LineSource& source;
  Interrupts& interrupts;
  JsonAnswer* events = nullptr;  // with --json
  bool person = true;            // somebody types: prompt, explain
};

class Repl {
 public:
  // What `parts` names outlives it.
  Repl(const ReplParts& parts, ChatSession session);

  Exit run();
  // It ended to begin another session.
  bool begins_another() const { return begins_another_; }

 private:
  enum class Next : std::uint8_t { go_on, leave };
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
  Exchange first_;               // of this run
  std::vector<Block> attached_;  // for the next message
  bool begins_another_ = false;
  bool interrupted_ = false;
  bool unsaved_ = false;
  bool failed_ = false;
};

}  // namespace reprise::cli
