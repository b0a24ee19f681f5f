#pragma once

// The line-based REPL: reads input, runs turns and commands, until the user leaves or the input
// ends.
//  (1) Ctrl-C stops a running answer and stores the partial answer; a second one within two seconds
//      leaves.
//  (2) All messages are stored immediately; only the title is set at the end.
//  (3) A failed turn or command is reported, and the loop continues.

#include <functional>
#include <memory>

#include "cli/output/answer_output.h"
#include "cli/process/process.h"  // IWYU pragma: export
#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/program/interrupts.h"
#include "cli/repl/chat_session.h"  // IWYU pragma: export
#include "cli/repl/line_source.h"   // IWYU pragma: export
#include "cli/repl/resumable.h"
#include "cli/session/start_session.h"
#include "cli/session/tool_consent.h"

namespace reprise::cli {

// A session and what it uses.
struct OpenedChat {
  std::unique_ptr<Context> own_context = {};  // of its folder, if that is another one
  std::unique_ptr<ToolConsents> consents = {};
  std::unique_ptr<ChatSession> session = {};
};

struct ChatRequest {
  SessionChoice choice;
  std::filesystem::path folder = {};  // whose settings apply; "" for the start folder
  bool same_store = false;            // it was found in the start folder's store
  std::string title = {};             // for a new session
};

struct ReplParts {
  Context& context;
  LineSource& source;
  Interrupts& interrupts;
  std::function<Result<OpenedChat>(const ChatRequest& request)> open;
  JsonAnswer* events = nullptr;  // with --json
  bool person = true;            // interactive: show prompts and explanations
};

class Repl {
 public:
  // The objects that `parts` refers to must outlive it.
  Repl(ReplParts parts, OpenedChat chat);

  Exit run();

 private:
  enum class Next : std::uint8_t { proceed, leave };
  using Turn = std::function<Result<Outcome>(Conversation& conversation, TurnObserver& observer)>;

  void greet();
  Next step(const Input& input);
  Next command(std::string_view line);
  Next run_resume(const std::string& text);
  Next resume(const std::string& sel);
  Next clear_closed();
  Next run_session(const Slash& slash);
  Next begin_session(const SessionRequest& request);
  Next run_in_session(const Slash& slash);
  // Leaves the session for another one; on an error it goes on.
  Next open(const ChatRequest& request);
  Next attach(const std::string& file);
  Next copy_answer();
  Next turn(const Turn& ask, std::string_view question = "");
  Next conclude(const Result<Outcome>& outcome);
  Next on_stop(std::string_view advice);
  Next fail_step(const Error& error);
  // Shows the text of a command.
  Next show(const Result<std::string>& text);
  // Ends the session, and takes its outcome into account.
  void finish();
  void end_session();
  ChatSession& session() { return *chat_.session; }
  Resumable::Here here();

  ReplParts parts_;
  OpenedChat chat_;
  Resumable resumable_;
  std::optional<std::chrono::steady_clock::time_point> stopped_at_;
  Exchange first_;               // the first turn of this run
  std::vector<Block> attached_;  // for the next message
  Exit exit_ = Exit::success;    // of the sessions that have ended
  bool closes_ = false;          // the session is closed when it ends
  bool interrupted_ = false;
  bool unsaved_ = false;
  bool failed_ = false;
};

}  // namespace reprise::cli
