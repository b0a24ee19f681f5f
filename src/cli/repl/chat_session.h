#pragma once

// The session of a conversation, and its slash commands. Commands that change what the model sees
// (another model, system prompt or history) rebuild the conversation from the store.

#include "base/file.h"
#include "cli/program/context.h"     // IWYU pragma: export
#include "cli/repl/slash.h"          // IWYU pragma: export
#include "cli/settings/run_flags.h"  // IWYU pragma: export
#include "reprise/conversation.h"    // IWYU pragma: export
#include "reprise/sessions.h"        // IWYU pragma: export

namespace reprise::cli {

struct StartedSession;

// During a turn, which runs on a thread of its own, another thread may call the functions that only
// read the session: they see what publish() has published.
class ChatSession {
 public:
  // `flags` and `approver` are those that start_session() made `started` with.
  ChatSession(Context& context, RunFlags flags, Approver approver,
              std::unique_ptr<StartedSession> started);
  ~ChatSession();
  ChatSession(ChatSession&& other) noexcept;
  ChatSession& operator=(ChatSession&&) = delete;
  ChatSession(const ChatSession&) = delete;
  ChatSession& operator=(const ChatSession&) = delete;

  Context& context() { return context_; }
  Conversation& conversation();
  Provider& provider();
  // Its name in messages (session_json.h), and its short id.
  std::string name();
  std::string brief_id();
  Store* store();
  // It existed before this run.
  bool resumed() const { return !is_new_; }
  SessionId id() const;
  // The author of questions, if known.
  const std::optional<Author>& author() const;
  // The current model.
  const std::string& model() const;
  const std::string& provider_name() const;
  // Whether it is in the store. A session is stored with its first message, by a store without
  // messages with its first answer, and before if a command needs it.
  bool is_saved();
  // Removes a session that this run created if it has no messages; true if it did.
  bool discard_if_empty();
  // Sets a title when the conversation ends, if it needs one and this run stored an answer.
  // `first_exchange` is this run's first turn, for stores without messages. An error if the title
  // could not be stored.
  Result<> set_closing_title(const Exchange& first_exchange, bool interrupted,
                             std::stop_token stop);
  // What became of an answer that was cut or did not begin, and how to continue: "what has arrived
  // is saved, /go-on continues it". "" if there is nothing to add to the error.
  std::string advice_after(const Result<Outcome>& outcome);
  // The stored session, or the conversation's if it is not stored.
  Session current_session();
  // Called after each turn, and for messages during it, by the thread that runs it.
  void publish();
  // See leave_gone_folder(). Called after each turn by the same thread.
  Result<std::string> leave_gone_folder(const Result<Outcome>& outcome);
  // Where the session is stored: "Session saved to: PATH".
  Result<std::string> saved_to();
  // Closes the stored session, unless its last answer is incomplete, so that it can be continued.
  // Stores without states have nothing to close.
  Result<> close_stored();
  // Why the session is read-only, and what to do: no provider can continue it. "" if one can.
  std::string refusal() const;

  // Runs a slash command, except for turns and the end. Returns text to show the user, sanitized
  // for terminals; "" for none.
  Result<std::string> run(const Slash& slash, std::stop_token stop);

 private:
  // What a failing store has not accepted is stored now, or the action is refused.
  Result<> store_unsaved(std::string_view action);

  Result<Store*> saved_store(std::string_view action);
  Result<Store*> store_to_change(std::string_view action);
  Result<std::string> set_title(const std::string& text);
  Result<std::string> set_model(const std::string& text, std::stop_token stop);
  Result<std::string> set_provider(const std::string& text, std::stop_token stop);
  Result<std::string> cost();
  Result<std::string> set_system(const std::string& text, std::stop_token stop);
  Result<std::string> fork(const Slash& slash, std::stop_token stop);
  Result<std::string> rewind(const Slash& slash, std::stop_token stop);
  Result<std::string> todo(const std::string& text);
  Result<std::string> describe();
  Result<std::string> save(const std::string& file);
  // `keeps_refused`: see StartRequest.
  Result<> rebuild(const SessionId& id, bool keeps_refused, std::stop_token stop);
  Result<> rebuild_with(RunFlags flags, std::stop_token stop);
  // Grows with each stored answer.
  std::int64_t stored_count();
  // Other programs see that it is open.
  void mark();
  // A copy of the conversation's session, for other threads.
  struct Published;

  Context& context_;
  RunFlags flags_;
  Approver approver_;
  std::unique_ptr<StartedSession> started_;
  std::unique_ptr<Published> published_;
  std::optional<TemporaryFile> mark_;
  bool is_new_;                 // created by this run
  std::int64_t stored_before_;  // stored_count() when the session was opened or rewound
};

}  // namespace reprise::cli
