#pragma once

// From settings and flags to a conversation: which provider and model, with which key, which
// session, which system prompt and tools. `ask` and `chat` share it.

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/settings.h"
#include "reprise/conversation.h"
#include "reprise/error.h"
#include "reprise/provider.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/tool.h"

namespace reprise::cli {

// The flags that hold for one run.
struct RunFlags {
  std::optional<std::string> provider;
  std::optional<std::string> model;
  bool dev = false;
  std::optional<std::string> base_url;
  std::optional<std::string> system;
  std::optional<double> temperature;
  std::optional<std::int64_t> max_tokens;
  std::optional<std::int64_t> budget;
  std::optional<std::string> mode;
  std::optional<std::string> tools;  // "all", "none", or names with commas
};

// Adds their options to a command's table.
void add_run_flags(ArgumentTable& table, RunFlags& flags);

struct ProviderChoice {
  std::string name;
  std::string model;
  ProviderOptions options;
};

// `session`: the one that is resumed, whose provider and model go on unless a flag says otherwise.
// Asks the usual local ports when nothing else is set; the error shows the three ways on.
Result<ProviderChoice> choose_provider(Context& context, const RunFlags& flags,
                                       const Session* session);

// Which session a run works in.
struct SessionChoice {
  bool newest = false;             // -c: the newest here
  std::optional<std::string> sel;  // -r SEL
  std::string mode_path;           // the folder a mode was given, "" for none
};

// Everything one conversation needs, in the order in which it is taken down. `store` is null when
// it could not be opened and the conversation goes on unsaved.
struct Talk {
  Store* store = nullptr;
  bool saved = true;  // false: exit code 2 at the end
  std::unique_ptr<Provider> provider;
  ToolRegistry tools;
  std::unique_ptr<Conversation> conversation;
};

struct TalkRequest {
  const RunFlags& flags;
  SessionChoice session;
  std::string title;  // of a new session
  bool stream = true;
  bool dry_run = false;  // nothing is created
  Approver approver = {};
  std::stop_token stop = {};
};

// Chooses the provider, opens the store, finds or creates the session (a running answer whose
// process is gone is settled first) and builds the conversation.
Result<std::unique_ptr<Talk>> start_talk(Context& context, TalkRequest request);

}  // namespace reprise::cli
