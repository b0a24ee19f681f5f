#pragma once

// The open session of a tab: its conversation, and the thread of its running turn. Called by one
// thread (the worker), except stop() and the approver, which are thread-safe.

#include <atomic>
#include <mutex>

#include "cli/app/effect.h"       // IWYU pragma: export
#include "cli/app/event.h"        // IWYU pragma: export
#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/session/tool_consent.h"
#include "reprise/conversation.h"  // IWYU pragma: export
#include "reprise/sessions.h"      // IWYU pragma: export
#include "store/usage_sum.h"

namespace reprise::cli {
class ChatSession;
}

namespace reprise::cli::app {

class Consents;
class EventQueue;

// A part of the transcript.
struct HistoryPart {
  std::vector<Entry> entries;
  Seq oldest;                   // the first message in it
  std::int64_t last_input = 0;  // tokens of the last request
  store::CountedRequests counted_requests;
};
// At most `count` messages of a stored session, ending before `before`.
Result<HistoryPart> read_history(ChatSession& session, Seq before,
                                 std::int64_t count = kMessagesAtOnce);

// Where a session is that is not in the lists: "in the trash", "archived"; "" for others.
std::string_view removed_to(SessionState state);

class LiveSession {
 public:
  struct Parts {
    TabId tab;
    EventQueue& events;
    Consents& consents;
    Context& context;  // the program's
  };
  explicit LiveSession(const Parts& parts);
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  // For the conversation, which this object must outlive.
  Approver approver();
  // Called once, before the functions below. `own_context` is the context of the session's folder,
  // which `session` uses; null if that is the program's.
  void begin(std::unique_ptr<Context> own_context, std::unique_ptr<ChatSession> session,
             TabMetadata constant_metadata);

  ChatSession& session() { return *session_; }
  TabMetadata metadata();
  // Call when the messages of the last metadata() are shown.
  void mark_shown();
  // Whether another program has added or replaced messages since the last mark_shown(). Must not be
  // called during a turn.
  bool has_other_messages();
  const std::string& folder() const { return constant_.folder; }

  // Runs a turn on its own thread, which posts events and finally TurnEnded.
  using Turn = std::function<Result<Outcome>(Conversation& conversation, TurnObserver& observer,
                                             std::stop_token stop)>;
  void run(Turn turn, std::string question = "");
  void stop();
  // Waits until the turn has ended.
  void wait();
  bool all_saved() const { return saved_; }
  bool has_turns() const { return has_turns_; }
  bool is_running() const { return running_; }
  // Whether running answers are stored as they arrive, so that little is lost if the process dies.
  bool stores_partials() const { return stores_partials_; }
  // Marks the session as closing; true if it was marked before.
  bool begin_close() { return closing_.exchange(true); }
  bool is_closing() const { return closing_; }
  // This run's first turn. Must not be called during a turn.
  const Exchange& first_exchange() const { return first_turn_; }

 private:
  // `first` is the position of the turn's first answer.
  void report(const Result<Outcome>& outcome, std::optional<Seq> first, bool stopped);
  // Tells the user once if another program has moved the session out of the lists.
  void notice_removal(const SessionInfo& info);
  void reopen(const SessionInfo& info);
  TabMetadata metadata_of(const Session& current);
  std::vector<Todo> todos();

  Parts parts_;
  TabMetadata constant_;  // fields that are constant while it is open
  std::unique_ptr<Context> own_context_;
  std::unique_ptr<ChatSession> session_;
  std::mutex mutex_;
  std::pair<Seq, Time> read_;   // head and time of activity of the last metadata
  std::pair<Seq, Time> shown_;  // of what is shown
  std::stop_source stop_;       // for the running turn
  ToolConsents consents_;       // for the running turn
  bool stores_partials_ = false;
  std::atomic<bool> closing_ = false;
  std::atomic<bool> has_turns_ = false;
  std::atomic<bool> removed_ = false;  // as last noticed
  std::atomic<bool> running_ = false;  // a turn
  std::atomic<bool> saved_ = true;
  std::atomic<bool> last_saved_ = true;  // after the last turn
  Exchange first_turn_;
  std::thread turn_;
};

}  // namespace reprise::cli::app
