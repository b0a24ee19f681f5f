#pragma once

// The candidates for a request's provider, server, key, headers and model, in order of precedence.
// The first that may_use() accepts is taken. docs/choice.md lists the rules.

#include <functional>  // IWYU pragma: export
#include <optional>    // IWYU pragma: export
#include <vector>      // IWYU pragma: export

#include "choice/provider_choice.h"  // IWYU pragma: export
#include "choice/settings.h"         // IWYU pragma: export
#include "reprise/environment.h"     // IWYU pragma: export
#include "reprise/session.h"         // IWYU pragma: export

namespace reprise {
struct NamedProvider;
}

namespace reprise::choice {

// Where a candidate comes from.
enum class From : std::uint8_t {
  flag,
  session,
  guess,  // a provider, by the name of the session's model
  mode,
  section,        // [providers.NAME] of the provider
  top,            // the top of a file
  other_section,  // of another provider
  variable,
  found,  // a server on this machine that responds
  builtin,
};

struct Candidate {
  From from;
  std::string value;                                     // of a key: the variable, or the command
  std::optional<std::string> belongs_to = std::nullopt;  // see may_use()
  std::string where = {};  // of a key: its name for messages; of others: why they are not used
  bool is_trusted = true;
  bool is_command = false;  // prints a key
};

// Whether a request to `server` may use it. A candidate that belongs to a server is used for that
// server only; one that belongs to "" is never used.
bool may_use(const Candidate& candidate, std::string_view server);

// What the caller asks for.
struct Wanted {
  std::optional<std::string> provider = std::nullopt;
  std::optional<std::string> model = std::nullopt;  // "" if none is needed
  std::optional<std::string> base_url = std::nullopt;
  std::string mode_model = {};  // "" for none
  bool dev = false;
  bool allows_clear_text = false;  // secrets may be sent unencrypted
};

// What is known, and how to learn more. Functions that are not set learn nothing.
struct Sources {
  const Settings& settings;
  EnvironmentLookup variable;        // nullopt if it is unset or empty
  const Session* session = nullptr;  // the resumed one
  std::function<Result<std::string>(const std::string& command)> run_key_command = nullptr;
  // Asks a server for its models.
  std::function<Result<std::vector<ModelInfo>>(Provider& provider)> models = nullptr;
  std::function<std::vector<LocalServer>()> local_servers = nullptr;
  // Whether the user gave this URL of a server on this machine in the session's store.
  std::function<bool(const std::string& url)> was_given = nullptr;
};

// By name. The last one, with From::found, stands for the servers on this machine.
std::vector<Candidate> provider_candidates(const Sources& from, const Wanted& wanted);

// Base URLs; "" for the kind's default.
std::vector<Candidate> server_candidates(const Sources& from, const Wanted& wanted,
                                         const NamedProvider& provider);

std::vector<Candidate> key_candidates(const Sources& from, const NamedProvider& provider,
                                      const std::string& server);

// The server that a choice goes to: its own, else the kind's.
std::string server_of(const ProviderChoice& choice);

// The settings' sections whose headers, fields and options may be sent, one for each server that
// they describe.
std::vector<Candidate> section_candidates(const Sources& from, const Wanted& wanted,
                                          const ProviderChoice& choice);

// `choice` has the server. Without a candidate, the server has to be asked.
std::vector<Candidate> model_candidates(const Sources& from, const Wanted& wanted,
                                        const NamedProvider& provider,
                                        const ProviderChoice& choice);

// The session that is asked: none with a context file, which has a configuration of its own.
const Session* session_of(const Sources& from);

// The base URL that the session was stored with, if it is continued with its own provider; else "".
std::string sessions_server(const Sources& from, const Wanted& wanted,
                            const NamedProvider& provider);
bool is_sessions_own(const Sources& from, const Wanted& wanted, const NamedProvider& provider);

// Whether the server is the one that the kind's default models are for.
bool is_own_server(const ProviderKind& kind, std::string_view base_url);

}  // namespace reprise::choice
