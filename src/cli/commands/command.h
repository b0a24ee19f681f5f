#pragma once

// A command of the program: its flags and its implementation. Each is in cmd_NAME.cpp, alone or
// with related ones, with its flags as members; command.cpp has the table of commands.

#include <limits>       // IWYU pragma: export
#include <memory>       // IWYU pragma: export
#include <span>         // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <vector>       // IWYU pragma: export

#include "cli/program/context.h"  // IWYU pragma: export

namespace reprise::cli {

class Command {
 public:
  virtual ~Command() = default;
  // Called once, before run(). The table points to members of this object.
  virtual ArgumentTable arguments() = 0;
  // The caller reports an Error and derives the exit code from it.
  virtual Result<Exit> run(Context& context) = 0;
};

using MakeCommand = std::unique_ptr<Command>();

// The section of a command in `reprise help`.
enum class CommandGroup : std::uint8_t { ask, read, change, remove, stores, set_up };

struct CommandEntry {
  std::string_view name;
  CommandGroup group = CommandGroup::set_up;
  bool hidden = false;
  bool text_only = false;        // refuses --json
  std::string_view summary;      // one line, lower case, no full stop
  std::string_view description;  // paragraphs for the manual, separated by empty lines
  std::string_view examples;     // one per line, as typed
  MakeCommand* make;
};

// The help of SEL.
inline constexpr std::string_view kSessionHelp =
    "a number from the last list, an id or a title; last is the newest";
inline constexpr std::string_view kSessionsHelp =
    "numbers from the last list, ids or titles; last is the newest";

// The table of all commands.
std::span<const CommandEntry> command_table();
const CommandEntry* find_command(std::string_view name);
// "unknown command 'lsit'; did you mean 'list'?"
std::string unknown_command(std::string_view name);
// For a command that follows options of `chat`.
std::string command_first(std::string_view name);

// Each is defined in cmd_NAME.cpp.
MakeCommand make_answer, make_append, make_archive, make_ask, make_backup, make_chat, make_cleanup,
    make_clear, make_close, make_complete, make_completions, make_config, make_copy, make_delete,
    make_doctor, make_export, make_fork, make_help, make_import, make_info, make_list, make_man,
    make_models, make_move, make_pin, make_rename, make_restore, make_resume, make_search,
    make_setup, make_show, make_stats, make_store, make_todo, make_unpin, make_verify;

// The name of a person, given with `flag` or in a variable or file of that name. The error names
// it.
Result<Author> parse_author(std::string_view name, std::string_view flag);

// The error of -c, -r and --new together; "" if there is none.
std::string_view session_flags_error(bool newest, bool has_sel, bool new_session);

// The error for an invalid --after.
std::string bad_cursor(std::string_view after);

struct TimeRange {
  std::optional<Time> since;
  std::optional<Time> until;
};
// The values of --since and --until. invalid_argument for an empty range, too.
Result<TimeRange> parse_time_range(Context& context, const std::optional<std::string>& since,
                                   const std::optional<std::string>& until);

// Reports the invalid value of a flag or argument like any other fault of the command line; other
// errors are returned.
Result<Exit> refuse_value(Context& context, Error error);

// invalid_argument for a file of the run's store, such as its database, and for any other store: an
// answer or an export must not replace it. Links are followed.
Result<> refuse_store_file(Context& context, const std::filesystem::path& file);

// The program as a function. `words` is the command line without the program's name. Flushes both
// outputs.
Exit run_program(const std::vector<std::string>& words, const ProcessEnvironment& environment,
                 Output& out, Output& err);

}  // namespace reprise::cli
