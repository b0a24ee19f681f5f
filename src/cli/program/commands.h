#pragma once

// The table of all commands.

#include <memory>
#include <span>
#include <string_view>

#include "cli/commands/command.h"

namespace reprise::cli {

std::span<const CommandEntry> all_commands();
const CommandEntry* find_command(std::string_view name);
// "unknown command 'lsit'; did you mean list?"
std::string unknown_command(std::string_view name);

// Each is defined in its own file.
std::unique_ptr<Command> make_archive();
std::unique_ptr<Command> make_ask();
std::unique_ptr<Command> make_backup();
std::unique_ptr<Command> make_chat();
std::unique_ptr<Command> make_cleanup();
std::unique_ptr<Command> make_clear();
std::unique_ptr<Command> make_close();
std::unique_ptr<Command> make_complete();
std::unique_ptr<Command> make_completions();
std::unique_ptr<Command> make_config();
std::unique_ptr<Command> make_copy();
std::unique_ptr<Command> make_delete();
std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_export();
std::unique_ptr<Command> make_fork();
std::unique_ptr<Command> make_help();
std::unique_ptr<Command> make_import();
std::unique_ptr<Command> make_info();
std::unique_ptr<Command> make_list();
std::unique_ptr<Command> make_man();
std::unique_ptr<Command> make_models();
std::unique_ptr<Command> make_pin();
std::unique_ptr<Command> make_rename();
std::unique_ptr<Command> make_restore();
std::unique_ptr<Command> make_resume();
std::unique_ptr<Command> make_search();
std::unique_ptr<Command> make_setup();
std::unique_ptr<Command> make_show();
std::unique_ptr<Command> make_stats();
std::unique_ptr<Command> make_store();
std::unique_ptr<Command> make_todo();
std::unique_ptr<Command> make_unpin();
std::unique_ptr<Command> make_verify();

}  // namespace reprise::cli
