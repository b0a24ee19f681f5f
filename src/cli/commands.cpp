#include "cli/commands.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "cli/command.h"

namespace reprise::cli {
namespace {

constexpr CommandEntry kCommands[] = {
    {.name = "ask",
     .summary = "ask once; the answer streams to standard output and is kept",
     .description =
         "The prompt is made of the words, then of what is piped in. The answer is stored while it "
         "comes; when it is stopped by Ctrl-C, what came is kept and `reprise ask --go-on` "
         "continues it.\n\n"
         "To a terminal the answer is shown without control characters; to a pipe or file it is "
         "written as the model gave it. When standard output is closed early the answer is stored "
         "all the same, and the exit code is 1.",
     .make = make_ask},
    {.name = "chat",
     .summary = "talk, turn after turn; `reprise` alone does the same",
     .description =
         "Each line is a message; a backslash at the end of a line, an open ``` fence, Alt-Enter "
         "or a paste makes it longer. A line that begins with a slash is a command, /help lists "
         "them. Ctrl-C stops an answer and keeps what came, twice leaves.\n\n"
         "Everything is stored as it happens. Without a terminal, lines are read as they come and "
         "the exit code is 1 when one of them failed.",
     .make = make_chat},
    {.name = "resume",
     .summary = "choose an earlier session and go on with it",
     .description = "Without SEL the newest sessions are listed and a number is asked for.",
     .make = make_resume},
    {.name = "list",
     .summary = "list the sessions of this folder, newest activity first",
     .description = "The numbers of the last list name its sessions in other commands.",
     .make = make_list},
    {.name = "show",
     .summary = "show the transcript of a session",
     .description =
         "As Markdown, without control characters whatever the messages hold; --format json and "
         "--json have every message exactly as it is.",
     .make = make_show},
    {.name = "help",
     .summary = "explain the program or one command",
     .description = "Without COMMAND the commands are listed.",
     .make = make_help},
};

}  // namespace

std::span<const CommandEntry> all_commands() {
  return kCommands;
}

const CommandEntry* find_command(std::string_view name) {
  const auto* const found = std::ranges::find(kCommands, name, &CommandEntry::name);
  return found == std::end(kCommands) ? nullptr : found;
}

}  // namespace reprise::cli
