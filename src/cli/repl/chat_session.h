#pragma once

// The session that somebody talks in, and what its slash commands do to it. After a command that
// changes what the model is told (another model, another system prompt, another history) the
// conversation is built anew from the store.

#include "cli/program/context.h"        // IWYU pragma: export
#include "cli/program/start_session.h"  // IWYU pragma: export
#include "cli/repl/slash.h"             // IWYU pragma: export
#include "cli/settings/run_flags.h"     // IWYU pragma: export
#include "reprise/conversation.h"       // IWYU pragma: export
#include "reprise/sessions.h"           // IWYU pragma: export

namespace reprise::cli {

class ChatSession {
 public:
  // `flags` and `approver` as the run was started with; `started` as start_session() made it from
  // them.
  ChatSession(Context& context, RunFlags flags, Approver approver,
              std::unique_ptr<StartedSession> started);

  Context& context() { return context_; }
  Conversation& conversation() { return *started_->conversation; }
  Provider& provider() { return *started_->provider; }
  // Null when the conversation is not saved.
  // As messages name it (session_json.h), and its short id.
  std::string name();
  std::string brief_id();
  Store* store() { return started_->store; }
  // It was there before this run.
  bool resumed() const { return !fresh_; }
  const SessionId& id() const { return started_->conversation->session().info.id; }
  // Who asks, as far as that is known.
  const std::optional<Author>& author() const { return started_->author; }
  // The model that answers now.
  const std::string& model() const { return started_->model; }
  // Whether the store has it: one without words keeps a session from its first answer on.
  bool is_saved();
  // Removes a session of this run in which nothing was ever said; true when it did.
  bool discard_if_empty();
  // The title it gets when the talk ends, if it needs one. `begun` is what this run began with, for
  // stores that keep no words. An error when the title could not be stored.
  Result<> set_closing_title(const Exchange& first_turn, bool interrupted, std::stop_token stop);
  // As it is stored now; as it was begun when it is not stored.
  Session now();

  // What all slash commands do that are no turn and not the end. The text is data
  // for the person, safe for a terminal; "" when there is nothing to show.
  Result<std::string> run(const Slash& slash, std::stop_token stop);

 private:
  Result<Store*> saved_store(std::string_view what);
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
  Result<> rebuild(const SessionId& id, std::stop_token stop);

  Context& context_;
  RunFlags flags_;
  Approver approver_;
  std::unique_ptr<StartedSession> started_;
  bool fresh_;  // created by this run
};

}  // namespace reprise::cli
