#include "cli/commands/command.h"

#include <algorithm>

#include "base/text.h"

namespace reprise::cli {
namespace {

constexpr CommandEntry kCommands[] = {
    {.name = "ask",
     .group = CommandGroup::ask,
     .summary = "ask a question and print the answer",
     .description =
         "The prompt is the words given, followed by what is piped in. The answer is stored "
         "while it streams: if it is interrupted with Ctrl-C, what has arrived is stored and "
         "`reprise ask -c --go-on` continues it.\n\n"
         "On a terminal the answer is shown without control characters; to a pipe or a file it "
         "is written exactly as the model gave it. If standard output is closed early, the "
         "answer is still stored and the exit code is 1.",
     .examples = "reprise ask 'Why is the sky blue?'\n"
                 "reprise ask -c 'And at night?'\n"
                 "git diff | reprise ask 'Review this change'\n"
                 "reprise ask -f plot.png 'What does this show?'\n"
                 "reprise ask -c --go-on",
     .make = make_ask},
    {.name = "chat",
     .group = CommandGroup::ask,
     .summary = "open the terminal app; `reprise` alone does the same",
     .description =
         "On a terminal the app fills the screen, with several sessions in tabs; F1 shows the "
         "keys, /help the commands. Started in a folder that has a session, it offers to "
         "resume it.\n\n"
         "With --plain it works line by line: each line is a message; a backslash at the end "
         "of a line, an open ``` fence, Alt-Enter or a paste makes it longer. A line that "
         "begins with a slash is a command. Ctrl-C stops an answer and keeps what has arrived; "
         "pressed twice it quits.\n\n"
         "Everything is stored as it happens. Without a terminal, lines are read as they "
         "arrive, and the exit code is 1 if one of them failed.",
     .examples = "reprise\n"
                 "reprise chat -c\n"
                 "reprise chat --plain --mode draft",
     .make = make_chat},
    {.name = "resume",
     .group = CommandGroup::ask,
     .summary = "choose a session and continue it",
     .description =
         "Without SEL a picker filters as you type and previews the last exchange; Enter "
         "resumes. Without a terminal, or with --plain, the newest sessions are listed and you "
         "enter a number.",
     .examples = "reprise resume\n"
                 "reprise resume last\n"
                 "reprise resume 'Release notes'",
     .make = make_resume},
    {.name = "list",
     .group = CommandGroup::read,
     .summary = "list the sessions of this folder, newest activity first",
     .description = "The numbers in the first column name these sessions in other commands.",
     .examples = "reprise list\n"
                 "reprise list --all --limit 20\n"
                 "reprise list --state interrupted",
     .make = make_list},
    {.name = "show",
     .group = CommandGroup::read,
     .summary = "show the transcript of a session",
     .description =
         "On a terminal the Markdown is rendered, times are local, and a pager shows it "
         "($REPRISE_PAGER, $PAGER or less); --raw prints it as it is. A pipe or a file gets the "
         "Markdown, without control characters whatever the messages contain; --format json "
         "and --json give every message exactly as it is stored.",
     .examples = "reprise show last\n"
                 "reprise show 3 --full\n"
                 "reprise show e32c41d0#12\n"
                 "reprise show 'Release notes' > notes.md",
     .make = make_show},
    {.name = "search",
     .group = CommandGroup::read,
     .summary = "find messages by their words, newest first",
     .description =
         "All words must be in the message, in any order: in its text, its thinking, its tool "
         "calls or their results. \"A phrase\" is matched exactly (quoting it for the shell is "
         "enough), prefix* finds words with this prefix, and -excluded leaves out messages with "
         "the word. Case and accents do not matter; parts of Chinese, Japanese and Korean words "
         "are found.\n\n"
         "Each line shows where the message is, as `reprise show` takes it, its age, the title of "
         "its session, and the text around the match. Sessions in the trash are not searched.\n\n"
         "An index in the state folder makes searches fast. Each search updates it; it may be "
         "deleted at any time.",
     .examples = "reprise search disk full\n"
                 "reprise search '\"no space left\"' -docker --since '2 weeks'\n"
                 "reprise search 'migrat*' --project --role user\n"
                 "reprise show e32c41d0#12",
     .make = make_search},
    {.name = "info",
     .group = CommandGroup::read,
     .summary = "show a session's details, usage and cost by turn",
     .description = "",
     .examples = "reprise info last\n"
                 "reprise info 3 --json",
     .make = make_info},
    {.name = "export",
     .group = CommandGroup::read,
     .summary = "write sessions as Markdown, HTML, JSON and other formats",
     .description =
         "To standard output, or with -o to a file; a folder gets a file for each session. An "
         "existing file is replaced only with --force. What a format cannot hold is listed on "
         "standard error.\n\n"
         "md and html are for reading; json holds everything; jsonl holds chat messages for "
         "training models; the other formats are named after the tools that read them. These "
         "tools' own folders are written to only with --into-tool, which also chooses the path.",
     .examples = "reprise export last > notes.md\n"
                 "reprise export last -o notes.html\n"
                 "reprise export 1 2 3 -o notes/\n"
                 "reprise export --all --format json -o everything/\n"
                 "reprise export 'Release notes' --format json -o release-notes.json\n"
                 "reprise export last --format codex --into-tool",
     .make = make_export},
    {.name = "stats",
     .group = CommandGroup::read,
     .summary = "sum up turns, tokens and cost by day, model or project",
     .description =
         "Counts all sessions that are not in the trash. A request is counted once, however often "
         "it is stored and however many forks share it. Costs are those that the provider "
         "reported, otherwise calculated from the setting `prices` or a small table of the "
         "providers' prices; requests without a known price are counted and named. On a terminal, "
         "each row has a bar of its tokens.",
     .examples = "reprise stats\n"
                 "reprise stats --by model --since '4 weeks'\n"
                 "reprise stats --all-sources --by source",
     .make = make_stats},
    {.name = "rename",
     .group = CommandGroup::change,
     .summary = "give a session a new title",
     .description = "",
     .examples = "reprise rename last 'Release notes'",
     .make = make_rename},
    {.name = "move",
     .group = CommandGroup::change,
     .summary = "give sessions another folder",
     .description = "After a project was moved or renamed: the sessions belong to FOLDER from now "
                    "on. With --from, those of OLD go to FOLDER, and those of each folder below "
                    "OLD to the corresponding one below FOLDER.",
     .examples = "reprise move last ~/src/app\n"
                 "reprise move --from ~/old/app ~/src/app",
     .make = make_move},
    {.name = "pin",
     .group = CommandGroup::change,
     .summary = "keep a session at the top of lists",
     .description = "In lists and in the picker, until `reprise unpin`.",
     .examples = "reprise pin last",
     .make = make_pin},
    {.name = "unpin",
     .group = CommandGroup::change,
     .summary = "unpin a session",
     .description = "",
     .examples = "reprise unpin 1",
     .make = make_unpin},
    {.name = "fork",
     .group = CommandGroup::change,
     .summary = "copy a session's messages into a new one",
     .description = "Prints the id of the new session. Stores that can share messages between "
                    "sessions do so; others copy them.",
     .examples = "reprise fork last\n"
                 "reprise fork 2 --at 4 --title 'Another way'",
     .make = make_fork},
    {.name = "todo",
     .group = CommandGroup::change,
     .summary = "show or change a session's todos",
     .description = "A status is pending, in_progress or completed.",
     .examples = "reprise todo last\n"
                 "reprise todo last add 'write the tests'\n"
                 "reprise todo last done 1",
     .make = make_todo},
    {.name = "append",
     .group = CommandGroup::change,
     .summary = "store messages of a loop of your own",
     .description =
         "For agents that ask their model themselves. Standard input is the text of one message, "
         "or "
         "with --json one or several messages as `show --json` prints them. They are stored in one "
         "step, all or none, and are safe when the session's id and the positions are printed. "
         "With --op a retry after a failure happens once, and prints the same.\n\n"
         "An answer that is running in the session is waited for.\n\n"
         "`reprise append --json -` is one process for many requests: it reads one per line, and "
         "prints a line for each when it is done.",
     .examples = "echo 'Why is the sky blue?' | reprise append --new\n"
                 "reprise append last --role assistant < answer.txt\n"
                 "reprise append last --json --op 7f3a < messages.jsonl\n"
                 "my-agent | reprise append --json -",
     .make = make_append},
    {.name = "answer",
     .group = CommandGroup::change,
     .summary = "store an answer of a loop of your own while it arrives",
     .description =
         "begin starts an answer and prints its id. add appends standard input as it arrives, or "
         "with --json blocks; readers of the session see it at once. end stores the whole as a "
         "message. If nothing is added for two minutes, or for the time of --lease, the answer "
         "becomes an incomplete message, as after a crash.",
     .examples = "answer=$(reprise answer begin last --model my-model)\n"
                 "my-model < prompt.txt | reprise answer add last \"$answer\"\n"
                 "reprise answer end last \"$answer\"",
     .make = make_answer},
    {.name = "close",
     .group = CommandGroup::change,
     .summary = "mark a session as done",
     .description = "`ask -r` and `chat -r` reopen it.",
     .examples = "reprise close last",
     .make = make_close},
    {.name = "archive",
     .group = CommandGroup::change,
     .summary = "take sessions out of the lists without deleting them",
     .description =
         "They are still listed with --state archived, and can be shown; `reprise restore` "
         "brings them back. In a chatdir: store an archived session is a zip file, without the "
         "secret headers of responses.",
     .examples = "reprise archive last\n"
                 "reprise list --state archived\n"
                 "reprise restore 1",
     .make = make_archive},
    {.name = "delete",
     .group = CommandGroup::remove,
     .summary = "move sessions to the trash",
     .description = "`reprise restore` brings them back; --purge removes them for good.",
     .examples = "reprise delete 3\n"
                 "reprise delete 'Release notes' --purge",
     .make = make_delete},
    {.name = "clear",
     .group = CommandGroup::remove,
     .summary = "move all sessions of this folder to the trash",
     .description = "A session whose answer is still running is skipped. In a chatdir: store, only "
                    "archived sessions are cleared; if there is only one, it is cleared without "
                    "asking.",
     .examples = "reprise clear\n"
                 "reprise clear --all --yes",
     .make = make_clear},
    {.name = "cleanup",
     .group = CommandGroup::remove,
     .summary = "move sessions closed long ago to the trash",
     .description =
         "Only closed sessions, of all folders. A session closed exactly that long ago stays, "
         "and so does one whose time is missing or lies in the future.",
     .examples = "reprise cleanup --dry-run\n"
                 "reprise cleanup --older-than 90d --yes",
     .make = make_cleanup},
    {.name = "restore",
     .group = CommandGroup::remove,
     .summary = "restore sessions from the trash or the archive",
     .description =
         "With --replaced it lists what /retry, /rewind and other replacements took from a "
         "session, the last one first, and brings that or the Nth back as a fork, with the "
         "messages that came before it. The session itself does not change.",
     .examples = "reprise list --state trashed\n"
                 "reprise restore 1\n"
                 "reprise restore 'Release notes' --replaced 2",
     .make = make_restore},
    {.name = "copy",
     .group = CommandGroup::stores,
     .summary = "copy sessions to another store",
     .description =
         "Sessions that are already there are compared: identical ones are skipped, grown ones "
         "continued, and different ones reported as a conflict and left unchanged. What DST "
         "cannot hold is listed. After an interruption, copy again: it continues where it "
         "stopped.",
     .examples = "reprise copy sqlite:old.db sqlite:new.db\n"
                 "reprise copy sqlite:notes.db postgres://db.example.com/team 'Release notes'\n"
                 "reprise copy spill: sqlite:notes.db",
     .make = make_copy},
    {.name = "import",
     .group = CommandGroup::stores,
     .summary = "import the histories of other tools",
     .description =
         "Without SOURCE, the histories found on this machine are listed, and you are asked "
         "whether to import them. Import as often as you like: only what is new is added, a "
         "session that has grown is continued, and one that was rewound becomes a fork. The "
         "tool's own files are never changed. After an interruption, import again: it continues "
         "where it stopped.",
     .examples = "reprise import\n"
                 "reprise import claude: codex:\n"
                 "reprise import ~/backup/.claude --dry-run",
     .make = make_import},
    {.name = "verify",
     .group = CommandGroup::stores,
     .summary = "check everything stored and report damage",
     .description =
         "With --repair, everything that can be read is written to a new store next to the old "
         "one, which is not changed. The exit code is 1 if anything is damaged.",
     .examples = "reprise verify\n"
                 "reprise --store sqlite:notes.db verify --repair",
     .make = make_verify},
    {.name = "backup",
     .group = CommandGroup::stores,
     .summary = "write a consistent snapshot of the store",
     .description = "",
     .examples = "reprise backup ~/reprise-backup.db",
     .make = make_backup},
    {.name = "models",
     .group = CommandGroup::set_up,
     .summary = "list the models the provider offers",
     .description = "One per line, in the provider's order. The default is marked, and so are "
                    "models that the provider will soon withdraw. --json adds the display names.",
     .examples = "reprise models\n"
                 "reprise models --provider anthropic",
     .make = make_models},
    {.name = "setup",
     .group = CommandGroup::set_up,
     .text_only = true,
     .summary = "choose a provider, its key and a model, and test them",
     .description =
         "Asks for the provider (local servers that answer come first), for the variable that "
         "holds its key or, after !, a command that prints it, and for the model. It sends one "
         "short request, and saves the settings only if it is answered; other "
         "settings in the file are not changed. Keys are never stored or shown.\n\n"
         "Without a terminal the three answers are lines of standard input; an empty line "
         "accepts the default.",
     .examples = "reprise setup\n"
                 "printf 'anthropic\\n!pass show anthropic\\n\\n' | reprise setup",
     .make = make_setup},
    {.name = "store",
     .group = CommandGroup::stores,
     .summary = "look after the store on a server, as its administrator",
     .description =
         "migrate creates the tables of a PostgreSQL store, or brings them up to date while "
         "other programs write; afterwards programs need no right to create tables. sweep, meant "
         "for a timer, removes the operation ids of sessions that have not changed for a "
         "week, moves sessions to the trash as the setting `retention` says, and indexes new "
         "messages, so that no search waits for it; index does only that. status shows the "
         "tenants, an outstanding migration, running answers and who holds them, messages that are "
         "not indexed, and transactions that others wait for.",
     .examples = "reprise store migrate --dry-run\n"
                 "reprise store status\n"
                 "reprise store sweep",
     .make = make_store},
    {.name = "doctor",
     .group = CommandGroup::set_up,
     .summary = "check the setup and suggest fixes",
     .description =
         "Reads every settings file, writes and syncs a file in the store's folder, checks free "
         "space and file permissions, fetches the key (which is never shown) and asks the "
         "provider for its models, for at most 5 seconds. The exit code is 1 when a turn would "
         "not be stored or answered.",
     .examples = "reprise doctor",
     .make = make_doctor},
    {.name = "config",
     .group = CommandGroup::set_up,
     .summary = "show or change the settings",
     .description =
         "get and set take a key with dots, such as providers.work.model; `config keys` lists "
         "them. "
         "set changes one line of your settings and keeps all others. edit opens them in $VISUAL "
         "or "
         "$EDITOR and saves them only if they are valid. trust accepts the settings of the project "
         "in this folder, or of the folder named. init never overwrites a file.",
     .examples = "reprise config\n"
                 "reprise config set model claude-sonnet-5-5\n"
                 "reprise config get provider\n"
                 "reprise config edit\n"
                 "reprise config trust",
     .make = make_config},
    {.name = "completions",
     .group = CommandGroup::set_up,
     .text_only = true,
     .summary = "print completions for bash, zsh or fish",
     .description = "",
     .examples = "source <(reprise completions bash)\n"
                 "mkdir -p ~/.zfunc && reprise completions zsh > ~/.zfunc/_reprise\n"
                 "fpath+=(~/.zfunc)  # in ~/.zshrc, before compinit\n"
                 "mkdir -p ~/.config/fish/completions\n"
                 "reprise completions fish > ~/.config/fish/completions/reprise.fish",
     .make = make_completions},
    {.name = "help",
     .group = CommandGroup::set_up,
     .text_only = true,
     .summary = "show help for reprise or a command",
     .description = "",
     .examples = "reprise help\n"
                 "reprise help ask\n"
                 "reprise help --all",
     .make = make_help},
    {.name = "__complete",
     .group = CommandGroup::set_up,
     .hidden = true,
     .summary = "print completions for the last word",
     .description = "",
     .examples = "reprise __complete -- show ''",
     .make = make_complete},
    {.name = "man",
     .group = CommandGroup::set_up,
     .text_only = true,
     .summary = "print the manual page",
     .description = "",
     .examples = "reprise man | man -l -",
     .make = make_man},
};

}  // namespace

std::span<const CommandEntry> command_table() {
  return kCommands;
}

const CommandEntry* find_command(std::string_view name) {
  const auto* const found = std::ranges::find(kCommands, name, &CommandEntry::name);
  return found == std::end(kCommands) ? nullptr : found;
}

std::string command_first(std::string_view name) {
  return cat("write the command first: reprise ", name, " …");
}

std::string unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const CommandEntry& entry : kCommands) {
    if (!entry.hidden) {
      names.push_back(entry.name);
    }
  }
  const std::string_view suggestion = nearest(name, names);
  return suggestion.empty() ? cat("unknown command '", name, "'")
                            : cat("unknown command '", name, "'; did you mean '", suggestion, "'?");
}

}  // namespace reprise::cli
