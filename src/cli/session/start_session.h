#pragma once

// Starts a conversation from settings and flags, for `ask` and `chat`: chooses provider, model,
// key, session, system prompt and tools.

#include "cli/program/context.h"     // IWYU pragma: export
#include "cli/settings/run_flags.h"  // IWYU pragma: export
#include "reprise/conversation.h"    // IWYU pragma: export
#include "reprise/open_store.h"      // IWYU pragma: export

namespace reprise::cli {

// Which session a run uses.
struct SessionChoice {
  bool newest = false;                            // -c: the newest in this folder
  std::optional<std::string> sel = std::nullopt;  // -r SEL
  bool new_session = false;                       // a new session, even if there is one to continue
  bool archive = false;                  // archive the current session when another takes its place
  std::filesystem::path mode_path = {};  // the folder for a mode; "" for none
  bool in_project = false;               // a stored session must pass check_project()
};

// Whether the session's folder still exists: not_found or invalid_argument if not. Sessions with a
// mode continue without it, as do all sessions of a store in which a folder may have several.
Result<> check_project(Context& context, const Source& source, const SessionInfo& info);

// The session that is continued by default (default_session()). nullopt if there is none, or if
// there is no store or it cannot be opened, which is reported when it is needed.
Result<std::optional<SessionId>> find_default_session(Context& context, Access access);

// A conversation and everything it needs. `store` is null if it could not be opened: the user was
// warned, and the unsaved conversation ends with Exit::unsaved. It is also null for a dry run of a
// new session. A new session is stored with its first message.
struct StartedSession {
  Store* store = nullptr;
  bool resumed = false;    // the session existed before
  bool recovered = false;  // it has a dead process's answer, now incomplete
  // Why no provider can continue the session: each request fails with it.
  std::optional<Error> refusal;
  std::string gone_folder;       // FoundSession::gone_folder, until the session has left it
  std::string provider_name;     // ProviderChoice::name
  std::string model;             // the answering model
  std::string base_url;          // of its server; "" for the default one
  bool is_sessions_own = false;  // ProviderChoice::is_sessions_own
  std::optional<Author> author;  // of the questions
  std::unique_ptr<Provider> provider;
  ToolRegistry tools;
  std::unique_ptr<Outbox> outbox;
  std::unique_ptr<ServerNotes> server_notes;
  std::unique_ptr<Conversation> conversation;
  std::jthread preloading;  // of the HTTP library
};

struct StartRequest {
  const RunFlags& flags;
  SessionChoice session;
  std::string title;  // for a new session
  bool stream = true;
  bool dry_run = false;         // create nothing
  bool continue_turn = false;   // continue an answer: nothing can be continued in a new session
  bool has_pdf_by_url = false;  // the question has a PDF that the provider must fetch
  bool keeps_refused = false;   // a stored session that no provider can continue is not an error
  Approver approver = {};
  std::stop_token stop = {};
};

// Chooses the provider, opens the store, finds or prepares the session (a running answer of a dead
// process is settled first) and creates the conversation.
Result<std::unique_ptr<StartedSession>> start_session(Context& context, StartRequest request);

// Called after each turn: a session whose folder is gone belongs to the current one once a turn is
// saved. Returns what to tell the user, "" for nothing; an error if the store could not be changed.
Result<std::string> leave_gone_folder(StartedSession& started, const Result<Outcome>& outcome);

}  // namespace reprise::cli
