#include "cli/settings/run_flags.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "choice/provider_names.h"
#include "cli/process/arguments.h"
#include "cli/settings/config_keys.h"
#include "provider/kinds.h"

namespace reprise::cli {
namespace {

NumberRange range_of(std::string_view setting) {
  return find_config_key(Section::top, setting)->check.range;
}

}  // namespace

void add_run_flags(ArgumentTable& table, RunFlags& flags) {
  static const std::string who =
      cat("the provider: ", provider::kind_names(), ", a known server or a [providers.NAME]");
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
      {"--dev", "", "use the cheaper model from the settings", &flags.dev},
      {"--base-url", "URL", "the URL of the provider's server", &flags.base_url},
      {"--system", "TEXT", "use this system prompt", &flags.system},
      {"--temperature",
       "T",
       "sampling temperature, 0 to 2",
       &flags.temperature,
       {},
       false,
       {},
       range_of("temperature")},
      {"--max-tokens",
       "N",
       "maximum size of an answer in tokens",
       &flags.max_tokens,
       {},
       false,
       {},
       range_of("max_tokens")},
      {"--effort", "LEVEL", "reasoning effort: none, minimal, low, medium, high, xhigh or max",
       &flags.effort, provider::find_request_option("effort")->choices},
      {"--schema", "FILE", "a JSON Schema the answer must match", &flags.schema},
      {"--set", "NAME=VALUE", "set a request option: top_p, seed, stop, …", &flags.set},
      {"--budget",
       "N",
       "maximum tokens of history to send",
       &flags.budget,
       {},
       false,
       {},
       range_of("budget")},
      {"--mode", "NAME", "start in this mode from the settings", &flags.mode},
      {"--tools", "NAMES",
       "tools the model may call: names separated by commas, all or none; all does not include "
       "recall:all",
       &flags.tools},
      {"--force", "", "continue a session even if its signature does not match", &flags.force},
  };
  table.options.insert(table.options.end(), std::begin(options), std::end(options));
}

}  // namespace reprise::cli
