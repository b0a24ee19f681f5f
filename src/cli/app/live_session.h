#pragma once

// A session that a tab has open: its conversation, and the thread of the turn that runs in it.
// One thread calls it (the worker); stop() and the approver may be called from any.

#include <atomic>
#include <mutex>

#include "cli/app/consents.h"
#include "cli/app/effect.h"       // IWYU pragma: export
#include "cli/app/event.h"        // IWYU pragma: export
#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/program/tool_consent.h"
#include "cli/repl/chat_session.h"  // IWYU pragma: export
#include "reprise/conversation.h"   // IWYU pragma: export

namespace reprise::cli::app {

// A piece of the transcript.
struct HistoryPart {
  std::vector<Entry> entries;
  Seq oldest;                   // its first message
  std::int64_t last_input = 0;  // tokens of the last request
};
// The messages of a stored session before `before`, at most `count` of them.
Result<HistoryPart> read_history(ChatSession& session, Seq before,
                                 std::int64_t count = kMessagesAtOnce);

class LiveSession {
 public:
  struct Parts {
    TabId tab;
    EventQueue& events;
    Consents& consents;
    Context& context;  // that of the program
  };
  explicit LiveSession(const Parts& parts) : parts_(parts), agreed_(parts.context) {}
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  // To be given to the conversation. This object outlives it.
  Approver approver();
  // Called once, before all that follows. `own_context`: what the session was built with when that
  // was made for its folder; else null.
  void begin(std::unique_ptr<Context> own_context, std::unique_ptr<ChatSession> session,
             TabMetadata constant_metadata);

  ChatSession& session() { return *session_; }
  TabMetadata metadata();
  const std::string& folder() const { return constant_.folder; }

  // Runs a turn on a thread of its own, which reports to the queue and ends with TurnEnded.
  using Turn = std::function<Result<Outcome>(Conversation& conversation, TurnObserver& observer,
                                             std::stop_token stop)>;
  void run(Turn turn, std::string question = "");
  void stop();
  // Until the turn has ended.
  void wait();
  bool all_saved() const { return saved_; }
  bool has_turns() const { return has_turns_; }
  bool is_running() const { return running_; }
  // Whether a running answer is stored as it comes, so that little is lost with the process.
  bool keeps_answers() const { return keeps_answers_; }
  // True when it was called before: it is closed once, and nothing else is done then.
  bool begin_close() { return closing_.exchange(true); }
  bool is_closing() const { return closing_; }
  // What this run began with. Not while a turn runs.
  const Exchange& first_turn() const { return first_turn_; }

 private:
  void report(const Result<Outcome>& outcome, bool stopped);
  std::vector<Todo> todos();

  Parts parts_;
  TabMetadata constant_;  // what does not change while it is open
  std::unique_ptr<Context> own_context_;
  std::unique_ptr<ChatSession> session_;
  std::mutex mutex_;
  std::stop_source stop_;  // of the running turn
  ToolConsents agreed_;    // the running turn's
  bool keeps_answers_ = false;
  std::atomic<bool> closing_ = false;
  std::atomic<bool> has_turns_ = false;
  std::atomic<bool> running_ = false;  // a turn
  std::atomic<bool> saved_ = true;
  std::atomic<bool> last_saved_ = true;  // after the last turn
  Exchange first_turn_;
  std::thread turn_;
};

}  // namespace reprise::cli::app
