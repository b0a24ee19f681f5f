#include "cli/program/commands.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "cli/commands/command.h"

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
         "On a terminal it fills the screen, with several sessions in tabs; F1 shows the keys, "
         "/help the commands. Started in a folder with a session, it offers to resume it.\n\n"
         "With --plain it talks line by line: each line is a message; a backslash at the end of a "
         "line, an open ``` fence, Alt-Enter or a paste makes it longer. A line that begins with a "
         "slash is a command. Ctrl-C stops an answer and keeps what came, twice leaves.\n\n"
         "Everything is stored as it happens. Without a terminal, lines are read as they come and "
         "the exit code is 1 when one of them failed.",
     .make = make_chat},
    {.name = "resume",
     .summary = "choose an earlier session and go on with it",
     .description =
         "Without SEL a picker filters as one types and shows the last exchange; Enter resumes. "
         "Without a terminal, or with --plain, the newest sessions are listed and a number is "
         "asked "
         "for.",
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
    {.name = "info",
     .summary = "show a session's facts, usage and cost by turn",
     .description = "",
     .make = make_info},
    {.name = "rename",
     .summary = "give a session another title",
     .description = "",
     .make = make_rename},
    {.name = "pin",
     .summary = "list a session before the others",
     .description = "In lists and in the picker, until `reprise unpin`.",
     .make = make_pin},
    {.name = "unpin",
     .summary = "list a session by its activity again",
     .description = "",
     .make = make_unpin},
    {.name = "fork",
     .summary = "begin another session with the same messages",
     .description = "Prints the id of the new session. Messages are shared, not copied.",
     .make = make_fork},
    {.name = "close",
     .summary = "mark a session as done",
     .description = "`ask -r` and `chat -r` open it again.",
     .make = make_close},
    {.name = "todo",
     .summary = "show or change a session's todos",
     .description = "A status is pending, in_progress or completed.",
     .make = make_todo},
    {.name = "delete",
     .summary = "move sessions to the trash",
     .description = "`reprise restore` brings them back; --purge removes for good.",
     .make = make_delete},
    {.name = "clear",
     .summary = "move all sessions of this folder to the trash",
     .description =
         "A session whose answer is running is left alone. In a store with an archive it "
         "is the archived sessions alone that go.",
     .make = make_clear},
    {.name = "cleanup",
     .summary = "move sessions that were closed long ago to the trash",
     .description =
         "Only closed sessions of all folders. One closed exactly as long ago stays, and "
         "so does one whose time is missing or yet to come.",
     .make = make_cleanup},
    {.name = "archive",
     .summary = "pack a session away",
     .description =
         "For stores that have an archive (chatdir:): the session becomes a zip file, and secret "
         "headers of responses are left out. It is still listed with --state archived, and shown; "
         "`reprise restore` brings it back.",
     .make = make_archive},
    {.name = "restore",
     .summary = "bring a session back from the trash or the archive",
     .description = "",
     .make = make_restore},
    {.name = "copy",
     .summary = "copy sessions to another store",
     .description =
         "What is there already is compared: identical sessions are left, grown ones continued, "
         "differing ones reported as a conflict and left as they are. What DST cannot hold is "
         "listed. Copying again after an interruption goes on where it stopped.",
     .make = make_copy},
    {.name = "verify",
     .summary = "read everything and report what is damaged",
     .description = "With --repair all that can be read is written to a new store beside the old "
                    "one, which is not changed. Damage makes the exit code 1.",
     .make = make_verify},
    {.name = "backup",
     .summary = "write a consistent snapshot of the store",
     .description = "",
     .make = make_backup},
    {.name = "models",
     .summary = "list the models that the provider offers",
     .description =
         "One a line, in the provider's order; the one that answers when none is named is marked, "
         "and so is one that the provider is about to withdraw. --json has the names for people, "
         "too.",
     .make = make_models},
    {.name = "doctor",
     .summary = "show what is set up, what is missing and how to mend it",
     .description = "",
     .make = make_doctor},
    {.name = "config",
     .summary = "show the settings, their files, or make the user's file",
     .description = "init never overwrites.",
     .make = make_config},
    {.name = "completions",
     .summary = "print completions for bash, zsh or fish",
     .description = "",
     .make = make_completions},
    {.name = "help",
     .summary = "explain the program or one command",
     .description = "Without COMMAND the commands are listed.",
     .make = make_help},
    {.name = "man",
     .summary = "print the manual page",
     .description = "",
     .make = make_man,
     .hidden = true},
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
