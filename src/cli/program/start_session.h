#pragma once

// From settings and flags to a conversation: which provider and model, with
// which key, which session, which system prompt and tools. `ask` and `chat`
// share it.

#include "cli/program/context.h"     // IWYU pragma: export
#include "cli/settings/run_flags.h"  // IWYU pragma: export
#include "reprise/conversation.h"    // IWYU pragma: export
#include "reprise/open_store.h"      // IWYU pragma: export

namespace reprise::cli {

// Which session a run works in.
struct SessionChoice {
  bool newest = false;              // -c: the newest here
  std::optional<std::string> sel;   // -r SEL
  bool fresh = false;               // a new one, also where there is one to go on with
  bool archive = false;             // the current one is packed away when another takes its place
  std::filesystem::path mode_path;  // the folder a mode was given, "" for none
  bool in_project = false;          // a stored session must pass check_project()
};

// Whether the folder that a session works in is still there: not_found or
// invalid_argument where not. One with a mode goes on without it.
Result<> check_project(Context& context, const SessionInfo& info);

// The session that a run goes on with when it is not told otherwise
// (usual_session()). Where there is no store, or it cannot be opened, there is
// none: that is said when it is needed.
Result<std::optional<SessionId>> find_usual_session(Context& context, Access access);

// A conversation and all that it needs. `store` is null when it could not be
// opened or the session not be created: the person has been warned, the
// conversation goes on unsaved and ends with Exit::unsaved. It is null for a
// dry run of a new session, too.
struct StartedSession {
  Store* store = nullptr;
  bool resumed = false;          // the session was there before
  bool cut = false;              // a dead process's answer in it is incomplete now
  std::string model;             // that answers
  std::optional<Author> author;  // who asks
  std::unique_ptr<Provider> provider;
  ToolRegistry tools;
  std::unique_ptr<Outbox> outbox;
  std::unique_ptr<Conversation> conversation;
  std::jthread preloading;  // the HTTP library
};

struct StartRequest {
  const RunFlags& flags;
  SessionChoice session;
  std::string title;  // of a new session
  bool stream = true;
  bool dry_run = false;         // nothing is created
  bool has_pdf_by_url = false;  // is asked about a PDF that the provider must fetch
  Approver approver = {};
  std::stop_token stop = {};
};

// Chooses the provider, opens the store, finds or creates the session (a
// running answer whose process is gone is settled first) and builds the
// conversation.
Result<std::unique_ptr<StartedSession>> start_session(Context& context, StartRequest request);

}  // namespace reprise::cli
