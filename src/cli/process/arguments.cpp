#include "cli/process/arguments.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace reprise::cli {
namespace {

// True for "--store x"; false for "--store=x" and "--json".
bool takes_next_word(const ArgumentTable& globals, std::string_view word) {
  return std::ranges::any_of(globals.options, [&](const OptionSpec& option) {
    return !option.value.empty() && option.has_name(word);
  });
}

// Only the first letter counts: "-qv" is "-q".
bool is_global(const ArgumentTable& globals, std::string_view word) {
  const std::string_view name = word.substr(0, word.starts_with("--") ? word.find('=') : 2);
  return std::ranges::any_of(globals.options,
                             [&](const OptionSpec& option) { return option.has_name(name); });
}

}  // namespace

bool OptionSpec::has_name(std::string_view name) const {
  const std::vector<std::string_view> name_list = split(names, ',');
  return std::ranges::find(name_list, name) != name_list.end();
}

ArgumentTable global_arguments(Globals& globals) {
  return {
      .options =
          {
              {"--store", "URL", "where sessions are stored, such as sqlite:FILE", &globals.store},
              {"--config", "FILE", "read your settings from this file", &globals.config},
              {"--json", "", "print JSON on standard output", &globals.json},
              {"-y,--yes", "", "answer yes to all questions", &globals.yes},
              {"--insecure", "", "allow keys and passwords over unencrypted connections",
               &globals.insecure},
              {"-q,--quiet", "", "print less on standard error", &globals.quiet},
              {"-v,--verbose", "", "print more on standard error", &globals.verbose},
              {"--stats", "", "report the store's operations and their times at the end",
               &globals.stats},
              {"--color",
               "WHEN",
               "colour: auto (on a terminal), always or never",
               &globals.color,
               {"auto", "always", "never"}},
              {"--no-color", "", "the same as --color never", &globals.no_color},
              {"-h,--help", "", "show help and exit", &globals.help},
              {"--version", "", "show the version and exit", &globals.version},
          },
      .arguments = {}};
}

CommandLine split_command_line(const ArgumentTable& globals, std::vector<std::string> words) {
  CommandLine line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      break;
    }
    if (words[i].starts_with('-') && words[i] != "-") {
      if (!is_global(globals, words[i])) {
        break;  // an option of the default command: `reprise -r SEL`
      }
      i += takes_next_word(globals, words[i]) ? 1U : 0U;
      continue;
    }
    line.command = std::move(words[i]);
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  line.words = std::move(words);
  return line;
}

}  // namespace reprise::cli
