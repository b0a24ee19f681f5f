#include "cli/run_flags.h"

#include <iterator>

#include "cli/arguments.h"

namespace reprise::cli {

void add_run_flags(ArgumentTable& table, RunFlags& flags) {
  const OptionSpec options[] = {
      {"--provider",
       "NAME",
       "who answers: echo, openai-responses, openai-chat, anthropic",
       &flags.provider,
       {"echo", "openai-responses", "openai-chat", "anthropic"}},
      {"-m,--model", "MODEL", "the model that answers", &flags.model},
      {"--dev", "", "use the cheaper model of the settings", &flags.dev},
      {"--base-url", "URL", "where the provider's server is", &flags.base_url},
      {"--system", "TEXT", "another system prompt", &flags.system},
      {"--temperature", "T", "how freely the model chooses", &flags.temperature},
      {"--max-tokens", "N", "the longest answer", &flags.max_tokens},
      {"--budget", "N", "tokens of history to send at most", &flags.budget},
      {"--mode", "NAME", "a mode of the settings", &flags.mode},
      {"--tools", "NAMES", "tools the model may call: names with commas, all or none",
       &flags.tools},
      {"--force", "", "go on with a session even if its signature failed", &flags.force},
  };
  table.options.insert(table.options.end(), std::begin(options), std::end(options));
}

}  // namespace reprise::cli
