#pragma once

// The engine's main use case: a conversation with a model that is stored while it happens.
//
//   Conversation conversation(provider, store, session, options);
//   auto outcome = conversation.ask("Hello", observer, stop);
//
// (1) The user's message is durable before the request goes out.
// (2) Streamed text is saved at most 50 ms later; the finished message, its usage and its response
//     id are stored in one step.
// (3) An interrupted answer leaves an incomplete message that continue_turn() continues.
// (4) While it answers, the process renews a lease on the session. If it failed to for so long that
//     another process has taken over the session, it stores nothing more: the turn ends with
//     conflict, and what had arrived before is in the session, as an incomplete answer.
// (5) A failing store never stops a turn: the conversation continues in memory, the observer is
//     warned, and Outcome::saved is false. With an outbox, unstored messages are written there.

#include <chrono>   // IWYU pragma: export
#include <utility>  // IWYU pragma: export

#include "reprise/environment.h"       // IWYU pragma: export
#include "reprise/outbox.h"            // IWYU pragma: export
#include "reprise/source.h"            // IWYU pragma: export
#include "reprise/store_statistics.h"  // IWYU pragma: export
#include "reprise/tool.h"              // IWYU pragma: export

namespace reprise {

class Store;

inline constexpr int kToolRoundsMax = 25;
inline constexpr int kPausesMax = 10;  // per turn, in which the provider's own tools work

// Keeps what refused requests have taught about the models of servers: in which form, and up to
// which length, requests are accepted. With it, other sessions and processes need not be refused
// first. Several threads may use it.
class ServerNotes {
 public:
  virtual ~ServerNotes() = default;
  // The note of that name, a short JSON object; "" if there is none or it cannot be read.
  virtual std::string read(std::string_view name) = 0;
  // Adds or replaces it.
  virtual Result<> write(std::string_view name, std::string_view note) = 0;
};

struct ConversationOptions {
  std::string model = {};                            // "" for the session's model
  std::optional<Author> author = std::nullopt;       // who asks: stored, not sent
  std::optional<std::string> system = std::nullopt;  // overrides the session's prompt
  std::optional<double> temperature = std::nullopt;
  std::optional<std::int64_t> max_tokens = std::nullopt;
  RequestOptions request = {};  // of each request except for titles
  // Names of options (and "temperature", "max_tokens") given for this very run: if the server
  // rejects one, that is the error, and the request is not sent without it.
  std::vector<std::string> given = {};
  std::optional<TokenCount> budget = std::nullopt;  // of the history; unlimited when absent
  const ToolRegistry* tools = nullptr;
  Approver approver = {};
  ToolHooks hooks = {};
  int tool_rounds_max = kToolRoundsMax;
  bool stream = true;
  std::chrono::milliseconds busy_timeout{10'000};  // for the answers of others to end
  // How long other processes respect a running answer of this one without a renewal.
  std::chrono::milliseconds answer_lease = kAnswerLease;
  Clock& clock = system_clock();
  Entropy& entropy = system_entropy();
  bool is_new = false;  // the session is not in the store yet: it is stored with its first message
  // A new session without a title is stored with one made from its first question.
  bool title_from_question = false;
  // Called on the thread that stored the new session.
  std::function<void()> on_session_stored = {};
  std::vector<Message> earlier = {};      // the session's messages, when there is no store
  Outbox* outbox = nullptr;               // for what the store does not accept; null: memory only
  StoreStatistics* statistics = nullptr;  // counts turns that went to the outbox
  ServerNotes* server_notes = nullptr;    // null: what is learned is for the session only
};

// Observes a turn. All functions have empty defaults; calls come from the thread that called ask(),
// one at a time. Views are valid during the call only. An exception ends the turn: what has arrived
// is stored as an incomplete answer, no other function is called, and the exception propagates to
// the caller of ask(). The same holds for exceptions of a provider, an approver or a hook.
class TurnObserver {
 public:
  virtual ~TurnObserver() = default;
  virtual void on_text(std::string_view /*text*/) {}
  virtual void on_thinking(std::string_view /*text*/) {}
  virtual void on_tool_call(const ToolUseBlock& /*call*/) {}
  virtual void on_tool_result(const ToolResultBlock& /*result*/) {}
  virtual void on_message(const Message& /*stored*/) {}  // has its seq once it is stored
  virtual void on_usage(const Usage& /*usage*/) {}
  virtual void on_warning(std::string_view /*text*/) {}  // for the user
  virtual void on_note(std::string_view /*text*/) {}     // with -v: what the view left out, …
};

struct Outcome {
  Message answer;              // the last assistant message; incomplete when interrupted
  bool saved = true;           // false: shown, but not (completely) stored
  std::optional<Error> error;  // why the turn ended early: cancelled, or the provider's error
};

// One conversation; one call at a time: a second one, from another thread or from a callback of the
// first, is refused with invalid_argument at once, unless it is said below that it may be made
// during a turn. Threads that answer in one session have a Conversation each, and wait for each
// other. The provider, the store, the clock and everything that the options point to must outlive
// it.
//
// Values that the caller passes are checked: text that is not UTF-8, a negative limit and the like
// are invalid_argument, and the error names the value. What a model or a tool sends is never
// refused.
class Conversation {
 public:
  // `session` as it was created or found, or `is_new`. With a null store nothing is stored.
  Conversation(Provider& provider, Store* store, Session session, ConversationOptions options);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // One turn: `blocks` are the user's message. An Error means that there is no answer: the
  // provider's error before the first token (the user's message stays stored), cancelled, busy if
  // others answer in the session for longer than busy_timeout (nothing was sent or stored),
  // invalid_argument for the input, or conflict if another process has taken over the session.
  Result<Outcome> ask(std::vector<Block> blocks, TurnObserver& observer, std::stop_token stop = {});
  Result<Outcome> ask(std::string_view text, TurnObserver& observer, std::stop_token stop = {});

  // Continues what was interrupted: an incomplete answer, an unanswered question, or unanswered
  // tool calls. invalid_argument when there is nothing to continue.
  Result<Outcome> continue_turn(TurnObserver& observer, std::stop_token stop = {});

  // Asks the last question again; the new answer replaces the old one (Rewriting). The store's
  // error while it does not accept what is unsaved, which must have a position first.
  Result<Outcome> retry(TurnObserver& observer, std::stop_token stop = {});

  // The request that ask(blocks) would send, with the key masked. Stores and sends nothing.
  Result<std::string> dry_run(std::vector<Block> blocks);

  // The session as of the last turn or change. During a turn, only its thread may call this.
  const Session& session() const;

  // The messages that only this object has, in order: those that the store has not accepted;
  // without a store, or if it has no messages, all of this conversation.
  Result<std::vector<Message>> unsaved_messages() const;

  // Tries again to store what the store has not accepted. Its error if it still does not; then that
  // remains in memory. Call it before another function changes or forks the stored session
  // (rewind_session(), fork_session()), which knows nothing of unsaved messages.
  Result<> store_unsaved();

  // Stores a new session before its first message, for changes that need it in the store. Does
  // nothing if it is stored already, and in stores without messages, where a session is stored with
  // its first answer. These two may be called during a turn.
  Result<> store_session();
  bool is_session_stored() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Turns a running answer whose process is gone into an incomplete message. Returns whether there
// was one. Does nothing while its process is alive. If only the lease has expired
// (OwnerState::silent), waits grace_period_for() for a renewal first; cancelled when `stop` is
// requested meanwhile.
Result<bool> recover_interrupted(Store& store, const SessionId& id, Clock& clock = system_clock(),
                                 const std::stop_token& stop = {});

// An answer that is not yet a message of its session.
struct UnfinishedAnswer {
  // Incomplete, with what has arrived so far; its seq is the one that it would get.
  Message message;
  // alive: it is running. Otherwise recover_interrupted() would store this message, or drop it if
  // nothing has arrived.
  OwnerState owner = OwnerState::alive;
};
struct SessionSnapshot {
  Session session;
  std::optional<UnfinishedAnswer> answer = {};
  // The messages before that answer, or all messages.
  ReadRange range() const { return {.to = answer ? answer->message.seq : kSeqEnd}; }
};
// A consistent snapshot of a session and its unfinished answer. Changes nothing. not_found.
Result<SessionSnapshot> get_snapshot(Source& source, const SessionId& id);

// A title from the first user message: one line of at most 50 characters, ending with a whole word
// unless that is a long one; "" when there are no words.
std::string title_from_prompt(std::string_view prompt);

// Asks the model for a title of at most five words. Returns the provider's error, or
// invalid_argument for a useless answer (empty, several lines, over 80 bytes).
Result<std::string> ask_for_title(Provider& provider, std::string_view model,
                                  std::string_view first_prompt, std::string_view first_answer,
                                  std::stop_token stop = {});

// An estimate: one token per 4 ASCII bytes and per other character, rounded up, plus 4 per message
// and 1,000 per image.
TokenCount estimate_tokens(const Message& message);

}  // namespace reprise
