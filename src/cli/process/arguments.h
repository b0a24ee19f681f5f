#pragma once

// The command line of a command as data: the parser, `--help`, the man page and the shell
// completions all use this table.

#include <optional>  // IWYU pragma: export
#include <variant>
#include <vector>  // IWYU pragma: export

#include "base/text.h"      // IWYU pragma: export
#include "reprise/error.h"  // IWYU pragma: export

namespace reprise::cli {

// Where a value is stored. A bool is a switch. Targets of omitted options are unchanged; a plain
// string is for required arguments.
using Target =
    std::variant<bool*, std::string*, std::optional<std::string>*, std::optional<std::int64_t>*,
                 std::optional<double>*, std::vector<std::string>*>;

struct OptionSpec {
  std::string_view names;  // "-r,--resume"
  std::string_view value;  // "SEL"; "" for a switch
  std::string_view help;   // one line, lower case, no full stop
  Target target;
  std::vector<std::string_view> choices = {};  // accepted values; empty: any
  bool value_optional = false;                 // if the value is omitted, the target becomes ""
  std::vector<std::string_view> offered = {};  // completion candidates when any value is accepted
  NumberRange range = {};                      // for numbers

  bool has_name(std::string_view name) const;
};

// A positional argument. The last one may take several values.
struct ArgumentSpec {
  std::string_view name;  // "SEL"
  std::string_view help;
  Target target;
  bool required = false;
  std::vector<std::string_view> choices = {};
  bool dashed = false;         // accepts words that begin with a dash but are not options
  std::string_view last = {};  // the name of the last of several words, if it is another thing
};

struct ArgumentTable {
  std::vector<OptionSpec> options;
  std::vector<ArgumentSpec> arguments;
};

// The values of the global flags.
struct Globals {
  std::optional<std::string> store;
  std::optional<std::string> config;
  bool json = false;
  bool yes = false;
  bool insecure = false;
  bool quiet = false;
  bool verbose = false;
  bool stats = false;
  std::optional<std::string> color;
  bool no_color = false;
  bool help = false;
  bool version = false;
};

ArgumentTable global_arguments(Globals& globals);

// Parses `given`, the words after the program's name without the command's name, into the targets
// of both tables. invalid_argument may suggest the nearest name.
Result<> parse_arguments(const ArgumentTable& globals, const ArgumentTable& command,
                         const std::vector<std::string>& given);

// The command's name is the first word that is neither a global flag nor its value. If another flag
// comes first, there is none: the flag belongs to the default command.
struct CommandLine {
  std::string command;             // "" if there is none
  std::vector<std::string> words;  // all other words
};
CommandLine split_command_line(const ArgumentTable& globals, std::vector<std::string> words);

}  // namespace reprise::cli
