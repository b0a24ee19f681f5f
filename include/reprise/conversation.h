#pragma once

// The engine's main use case: a conversation with a model that is kept while it happens.
//
//   Conversation talk(provider, store, session, options);
//   auto outcome = talk.ask("Hello", observer, stop);
//
// (1) The user's message is durable before the request goes out.
// (2) What streams in is kept at most 50 ms later, and the finished message, its usage and its
//     response id are stored in one step.
// (3) A cut answer leaves an incomplete message that go_on() continues.
// (4) While it answers, the process renews a lease on the session. One that could not for so long
//     that another process has taken the session over stores nothing more: the turn ends with
//     conflict, and what came before is in the session, as an incomplete answer.
// (5) A store that fails never stops a turn: the conversation goes on in memory, the observer is
//     warned, and Outcome::saved is false. With an outbox, what is not stored is kept there.

#include "reprise/environment.h"       // IWYU pragma: export
#include "reprise/outbox.h"            // IWYU pragma: export
#include "reprise/store_statistics.h"  // IWYU pragma: export
#include "reprise/tool.h"              // IWYU pragma: export

namespace reprise {

inline constexpr int kToolRoundsMax = 25;
inline constexpr int kPausesMax = 10;  // of one turn, in which the provider's own tools work

struct ConversationOptions {
  std::string model = {};                            // "" for the session's
  std::optional<Author> author = std::nullopt;       // who asks: stored, and not sent
  std::optional<std::string> system = std::nullopt;  // for this run instead of the session's
  std::optional<double> temperature = std::nullopt;
  std::optional<std::int64_t> max_tokens = std::nullopt;
  RequestOptions request = {};                      // of each request, but not for titles
  std::optional<TokenCount> budget = std::nullopt;  // of the history; all of it when absent
  const ToolRegistry* tools = nullptr;
  Approver approver = {};
  ToolHooks hooks = {};
  int tool_rounds_max = kToolRoundsMax;
  bool stream = true;
  std::chrono::milliseconds busy_timeout{10'000};  // for another process's answer to end
  // How long an answer of this process is left alone by others when nothing is heard of it.
  std::chrono::milliseconds answer_lease = kAnswerLease;
  Clock& clock = system_clock();
  Entropy& entropy = system_entropy();
  std::vector<Message> earlier = {};  // what the session has, for when there is no store
  Outbox* outbox = nullptr;  // for what the store does not take; null: it stays in memory alone
  StoreStatistics* statistics = nullptr;  // counts the turns that went there
};

// What happens during a turn, for the one who watches. All have empty defaults; calls come from
// the thread that called ask(), one at a time. Views are valid during the call only. An exception
// ends the turn: what came is stored as an incomplete answer, no other function is called, and it
// goes on to the caller of ask(). The same holds for what a provider, an approver or a hook throws.
class TurnObserver {
 public:
  virtual ~TurnObserver() = default;
  virtual void on_text(std::string_view /*text*/) {}
  virtual void on_thinking(std::string_view /*text*/) {}
  virtual void on_tool_call(const ToolUseBlock& /*call*/) {}
  virtual void on_tool_result(const ToolResultBlock& /*result*/) {}
  virtual void on_message(const Message& /*stored*/) {}  // has its seq when it was stored
  virtual void on_usage(const Usage& /*usage*/) {}
  virtual void on_warning(std::string_view /*text*/) {}  // a person should know
  virtual void on_note(std::string_view /*text*/) {}     // with -v: what the view left out, …
};

struct Outcome {
  Message answer;            // the last assistant message; incomplete when the turn was cut
  bool saved = true;         // false: shown, but not (all) stored
  std::optional<Error> cut;  // why the turn ended early: cancelled, or the provider's error
};

// One conversation; one turn at a time. The provider, the store, the clock and whatever the
// options point to must outlive it.
class Conversation {
 public:
  // `session` as it was created or found. A null store talks without keeping anything.
  Conversation(Provider& provider, Store* store, Session session, ConversationOptions options);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // One turn: `blocks` are the user's message. An Error means that nothing was answered: the
  // provider failed before the first token (the user's message stays stored), the session is
  // busy elsewhere, or the input is unacceptable; or that another process has taken over the
  // session meanwhile (conflict).
  Result<Outcome> ask(std::vector<Block> blocks, TurnObserver& observer, std::stop_token stop = {});
  Result<Outcome> ask(std::string_view text, TurnObserver& observer, std::stop_token stop = {});

  // Continues what was cut: an incomplete answer, an unanswered question, or unanswered tool
  // calls. invalid_argument when there is nothing to continue.
  Result<Outcome> go_on(TurnObserver& observer, std::stop_token stop = {});

  // Asks the last question again; the old answer gives way (Rewriting).
  Result<Outcome> retry(TurnObserver& observer, std::stop_token stop = {});

  // The request that ask(blocks) would send, the key masked. Stores and sends nothing.
  Result<std::string> dry_run(std::vector<Block> blocks);

  const Session& session() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A running answer whose process is gone becomes an incomplete message. Returns whether there was
// one. Does nothing while its process lives. Where only its lease has run out (OwnerState::silent),
// it is watched for patience_for() first; cancelled when that is stopped.
Result<bool> settle_interrupted(Store& store, const SessionId& id, Clock& clock = system_clock(),
                                const std::stop_token& stop = {});

// An answer that is no message of its session yet.
struct UnfinishedAnswer {
  // Incomplete, with what has come so far; its seq is the one that it would get.
  Message message;
  // alive: it is running. Otherwise this is what settle_interrupted() would make of it, or would
  // leave out as nothing has come.
  OwnerState owner = OwnerState::alive;
};
struct SessionNow {
  Session session;
  std::optional<UnfinishedAnswer> answer = {};
  // The messages before that answer, or all.
  ReadRange range() const { return {.to = answer ? answer->message.seq : kSeqEnd}; }
};
// A session and its unfinished answer, as they stood at one moment. Changes nothing. not_found.
Result<SessionNow> get_now(Source& source, const SessionId& id);

// Title from the first user message: one line, at most 50 characters, cut at a grapheme border;
// "" when there are no words.
std::string title_from_prompt(std::string_view prompt);

// Asks the model for a title of five words or less. The error or a useless answer (empty, several
// lines, over 80 bytes) is an error; the caller keeps what it has.
Result<std::string> ask_for_title(Provider& provider, std::string_view model,
                                  std::string_view first_prompt, std::string_view first_answer,
                                  std::stop_token stop = {});

// An estimate: a token for every 4 ASCII bytes and for every other character, rounded up, plus 4
// for each message and 1,000 for each image.
TokenCount estimate_tokens(const Message& message);

}  // namespace reprise
