#pragma once

// One command of the program: its flags and what it does. Each stands in a file of its own,
// cmd_NAME.cpp, with its flags as members; commands.cpp has the table of all.

#include <memory>

#include "cli/program/context.h"

namespace reprise::cli {

class Command {
 public:
  virtual ~Command() = default;
  // Called once, before run(). The table points into this object.
  virtual ArgumentTable arguments() = 0;
  // An Error is reported by the caller, which also chooses the exit code for it.
  virtual Result<Exit> run(Context& context) = 0;
};

// Where a command stands in `reprise help`.
enum class CommandGroup : std::uint8_t { ask, read, change, remove, stores, set_up };

struct CommandEntry {
  std::string_view name;
  CommandGroup group = CommandGroup::set_up;
  std::string_view summary;      // one line, lower case, no full stop
  std::string_view description;  // paragraphs for the manual, parted by empty lines
  std::string_view examples;     // one a line, as they are typed
  std::unique_ptr<Command> (*make)();
  bool hidden = false;
};

}  // namespace reprise::cli
