#include "cli/settings/run_flags.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "cli/program/arguments.h"
#include "cli/settings/provider_names.h"
#include "provider/kinds.h"
#include "provider/request_options.h"
#include "reprise/provider.h"

namespace reprise::cli {

void add_run_flags(ArgumentTable& table, RunFlags& flags) {
  static const std::string who =
      cat("who answers: ", provider::kind_names(), ", a known server or [providers.NAME]");
  std::vector<std::string_view> models;
  for (const ProviderKind& kind : provider_kinds()) {
    for (const std::string_view model : {kind.default_model, kind.dev_model}) {
      if (std::ranges::find(models, model) == models.end()) {
        models.push_back(model);
      }
    }
  }
  const OptionSpec options[] = {
      {"--provider", "NAME", who, &flags.provider, {}, false, provider_names()},
      {"-m,--model", "MODEL", "the model that answers", &flags.model, {}, false, models},
      {"--dev", "", "use the cheaper model of the settings", &flags.dev},
      {"--base-url", "URL", "where the provider's server is", &flags.base_url},
      {"--system", "TEXT", "another system prompt", &flags.system},
      {"--temperature", "T", "how freely the model chooses", &flags.temperature},
      {"--max-tokens", "N", "the longest answer", &flags.max_tokens},
      {"--effort", "LEVEL", "how much the model reasons", &flags.effort,
       provider::find_request_option("effort")->choices},
      {"--schema", "FILE", "a JSON Schema that the answer must match", &flags.schema},
      {"--set", "NAME=VALUE", "an option of the request: top_p, seed, stop, …", &flags.set},
      {"--budget", "N", "tokens of history to send at most", &flags.budget},
      {"--mode", "NAME", "a mode of the settings", &flags.mode},
      {"--tools", "NAMES",
       "tools the model may call: names with commas, all or none; recall:all by name only",
       &flags.tools},
      {"--force", "", "go on with a session even if its signature failed", &flags.force},
  };
  table.options.insert(table.options.end(), std::begin(options), std::end(options));
}

}  // namespace reprise::cli
