#pragma once

// Which provider answers, with which model and key.

#include "cli/program/context.h"     // IWYU pragma: export
#include "cli/settings/run_flags.h"  // IWYU pragma: export
#include "cli/settings/settings.h"   // IWYU pragma: export
#include "reprise/provider.h"        // IWYU pragma: export
#include "reprise/session.h"         // IWYU pragma: export

namespace reprise::cli {

struct ProviderChoice {
  std::string name;
  std::string model;
  ProviderOptions options;
  bool is_sessions_own = false;       // the one that the session was held with
  std::vector<std::string> warnings;  // what a person should know of the choice, a line each
};

// `session`: the one that is resumed (or null), whose provider and model go on unless a flag says
// otherwise. `mode_model`: the model of a mode, "" for none. Asks the usual local ports when
// nothing else is set (the error shows the three ways on), and a server that is not the provider's
// own for its models when nobody names one.
Result<ProviderChoice> choose_provider(Context& context, const RunFlags& flags,
                                       const Session* session, std::string_view mode_model = "");

// Who would answer, with which model and where, as far as settings and environment tell: nobody is
// asked and no key is fetched. Without a name when nothing is set, without a model when the server
// is to be asked for one.
Result<ProviderChoice> expected_provider(Context& context);

// Which of the models that the provider offers answers when no flag and no session names one.
Result<std::string> usual_model(Context& context, const RunFlags& flags,
                                const ProviderChoice& choice,
                                const std::vector<ModelInfo>& offered);

// Whether HTTP is likely to be needed, as far as flags, settings and environment tell.
bool expects_http(const Context& context, const RunFlags& flags, const Settings& settings);

}  // namespace reprise::cli
