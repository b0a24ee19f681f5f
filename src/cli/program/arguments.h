#pragma once

// What a command takes on its command line, as data: the parser, `--help`, the man page and the
// shell completions are all made from the same table.

#include <optional>  // IWYU pragma: export
#include <variant>
#include <vector>  // IWYU pragma: export

#include "base/number_range.h"
#include "reprise/error.h"  // IWYU pragma: export

namespace reprise::cli {

// Where a value goes. A bool is a switch. What is not given stays untouched; a string is for what
// must be given.
using Target =
    std::variant<bool*, std::string*, std::optional<std::string>*, std::optional<std::int64_t>*,
                 std::optional<double>*, std::vector<std::string>*>;

struct OptionSpec {
  std::string_view names;  // "-r,--resume"
  std::string_view value;  // "SEL"; "" for a switch
  std::string_view help;   // one line, lower case, no full stop
  Target target;
  std::vector<std::string_view> choices = {};  // all that is accepted; empty: anything
  bool value_optional = false;                 // without its value the target becomes ""
  std::vector<std::string_view> offered = {};  // by completions, where anything is accepted
  NumberRange range = {};                      // of a number
};

// A word without a dash, in this order. The last one may take many.
struct ArgumentSpec {
  std::string_view name;  // "SEL"
  std::string_view help;
  Target target;
  bool required = false;
  std::vector<std::string_view> choices = {};
  bool dashed = false;  // takes words that begin with a dash and are no option, too
};

struct ArgumentTable {
  std::vector<OptionSpec> options;
  std::vector<ArgumentSpec> arguments;
};

// The global flags, as they were given.
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

// `given` are all that followed the program's name, without the command's name. Fills the targets
// of both tables. invalid_argument says what is wrong and what was perhaps meant.
Result<> parse_arguments(const ArgumentTable& globals, const ArgumentTable& command,
                         const std::vector<std::string>& given);

// The command's name is the first word that is neither a global flag nor the value of one. There
// is none when another flag comes before it: that is one of the command that goes without saying.
struct CommandLine {
  std::string command;             // "" when there is none
  std::vector<std::string> words;  // all the others
};
CommandLine split_command_line(const ArgumentTable& globals, std::vector<std::string> words);

}  // namespace reprise::cli
