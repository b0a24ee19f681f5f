// reprise help, man: the texts of help, and the manual page in roff, from which the build generates
// reprise.1.

#include <algorithm>

#include "choice/settings.h"
#include "cli/commands/help_text.h"
#include "cli/program/store_opener.h"
#include "cli/repl/slash.h"

namespace reprise::cli {
namespace {

class Help final : public Command {
 public:
  ArgumentTable arguments() override {
    return {
        .options = {{"-a,--all", "", "list all commands and the options of every command", &all_}},
        .arguments = {{"COMMAND", "the command to explain", &command_}}};
  }

  Result<Exit> run(Context& context) override {
    if (all_ && command_) {
      return context.console().usage_error("--all and COMMAND cannot be used together");
    }
    if (!command_) {
      context.console().out().write(all_ ? full_help(command_table())
                                         : program_help(command_table()));
      return Exit::success;
    }
    const CommandEntry* const entry = find_command(*command_);
    if (entry == nullptr) {
      return context.console().usage_error(unknown_command(*command_));
    }
    const std::unique_ptr<Command> command = entry->make();
    context.console().out().write(command_help(*entry, command->arguments()));
    return Exit::success;
  }

 private:
  std::optional<std::string> command_;
  bool all_ = false;
};

// In roff, backslashes, dashes, and dots and quotes at the start of a line are special.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

// Escapes a quoted argument of a roff request.
std::string roff_quoted(std::string_view text) {
  std::string out;
  for (const char c : roff(text)) {
    out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  }
  return out;
}

// Example commands, line by line.
std::string typed(std::string_view lines) {
  return lines.empty() ? ""
                       : cat(".PP\nExamples:\n.PP\n.nf\n", roff(example_lines(lines)), ".fi\n");
}

std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    out += cat(".PP\n", roff(text.substr(0, end)), "\n");
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

std::string options(const ArgumentTable& table) {
  std::string out;
  for (const OptionSpec& option : table.options) {
    const std::string names = joined(split(option.names, ','));
    const std::string value = option.value.empty()    ? ""
                              : option.value_optional ? cat(" [\\fI", roff(option.value), "\\fR]")
                                                      : cat(" \\fI", roff(option.value), "\\fR");
    out += cat(".TP\n\\fB", roff(names), "\\fR", value, "\n", roff(option.help), "\n");
  }
  return out;
}

constexpr std::string_view kSelecting = R"(.SH SELECTING A SESSION
SEL is a number from the last list, an id or the beginning of one (4 characters or more), a
short id, a title (in any case, with or without accents), or
.BR last ,
the newest session of this folder. If several match, they are listed and the exit code is 1.
)";

constexpr std::string_view kTail = R"(.SH EXIT STATUS
.TP
0
Success.
.TP
1
The command failed.
.TP
2
The answer was given but could not be saved.
.TP
64
Wrong usage.
.TP
130
Interrupted by a signal, after saving.
.SH ENVIRONMENT
.TP
\fBREPRISE_STORE\fR, \fBREPRISE_PROVIDER\fR, \fBREPRISE_MODEL\fR, \fBREPRISE_AUTHOR\fR,
\fBREPRISE_CONFIG\fR
Settings. Flags override them, they override the files.
.TP
\fBANTHROPIC_API_KEY\fR, \fBOPENAI_API_KEY\fR
Keys. They are never stored or shown.
.TP
\fBANTHROPIC_BASE_URL\fR, \fBOPENAI_BASE_URL\fR
The servers that these keys are sent to, instead of the providers' own.
.TP
\fBREPRISE_LOCAL_PORTS\fR
The ports where local model servers are looked for, such as 11434,8080; none to disable it.
.TP
\fBhttp_proxy\fR, \fBHTTPS_PROXY\fR, \fBALL_PROXY\fR, \fBNO_PROXY\fR
Proxies, and the servers that are reached without one. This machine always is.
.TP
\fBVISUAL\fR, \fBEDITOR\fR
The editor for a long message.
.TP
\fBREPRISE_PAGER\fR, \fBPAGER\fR
The pager of `reprise show` on a terminal; default less, disabled with cat.
.TP
\fBNO_COLOR\fR
Turns colour off, like --color never.
.SH FILES
.TP
\fI$XDG_CONFIG_HOME/reprise/config.toml\fR
Your settings; \fI~/.config/reprise/config.toml\fR by default.
.TP
\fI.reprise.toml\fR
A project's settings, in this folder or the nearest one above it.
.TP
\fI$XDG_DATA_HOME/reprise/reprise.db\fR
The sessions; \fI~/.local/share/reprise/reprise.db\fR by default.
.TP
\fI$XDG_STATE_HOME/reprise/\fR
The last list, the input history, messages that a server could not store, and in \fIservers/\fR
what the servers of models have required; \fI~/.local/state/reprise/\fR by default.
.SH SEE ALSO
.BR git (1),
.BR jq (1),
.BR less (1),
.BR sqlite3 (1)
.PP
The documentation is installed with the program: stores.md, config.md, terminal.md and the
specification of every file format.
)";

// The kinds of store, as `--store` accepts them.
constexpr std::pair<std::string_view, std::string_view> kStores[] = {
    {"sqlite:FILE", "one database; the default, in the data folder"},
    {"postgres://HOST/DATABASE", "a PostgreSQL database, shared by many machines"},
    {"chatdir:DIR", "a folder for each session, with the files of each turn"},
    {"sessions:DIR", "a JSON file for each session"},
    {"context:FILE", "one JSON file with one session, beside a project's code"},
    {"chain:FILE", "an index of response ids; the messages stay with the provider"},
    {"memory:", "nothing on disk"},
};

std::string terms(std::string_view heading, auto&& entries) {
  std::string out = cat(".SH ", heading, "\n");
  for (const auto& [name, text] : entries) {
    out += cat(".TP\n\\fB", roff(name), "\\fR\n", roff(text), "\n");
  }
  return out;
}

std::vector<std::pair<std::string_view, std::string_view>> histories() {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  for (const SourceKind& kind : source_kinds()) {
    all.emplace_back(kind.form, kind.title);
  }
  return all;
}

std::string stores() {
  return terms("STORES", kStores) +
         ".PP\nA path without a scheme is recognised by what is there.\n" +
         terms("OTHER TOOLS' HISTORIES", histories()) +
         ".PP\nThey are read in place and never written to; import copies them.\n";
}

std::string slash_commands_section() {
  std::vector<std::pair<std::string, std::string_view>> entries;
  for (const SlashCommand& command : slash_commands()) {
    entries.emplace_back(cat(command.name, command.arguments.empty() ? "" : " ", command.arguments),
                         command.help);
  }
  return terms("SLASH COMMANDS", entries);
}

// The first example of each command.
std::string examples() {
  std::string out = ".SH EXAMPLES\n";
  for (const CommandEntry& entry : command_table()) {
    if (!entry.hidden) {
      const std::string_view first = entry.examples.substr(0, entry.examples.find('\n'));
      out += cat(".TP\n", roff(entry.summary), "\n.B \"", roff_quoted(first), "\"\n");
    }
  }
  return out;
}

class Man final : public Command {
 public:
  ArgumentTable arguments() override { return {}; }

  Result<Exit> run(Context& context) override {
    std::string version = version_line();
    version.resize(version.size() - 1);
    std::string out =
        cat(".TH REPRISE 1 \"\" \"", version,
            "\"\n.SH NAME\nreprise \\- store and resume conversations with language models\n"
            ".SH SYNOPSIS\n\\fBreprise\\fR [\\fICOMMAND\\fR] [\\fIOPTION\\fR]...\n"
            ".SH OPTIONS OF EVERY COMMAND\n");
    Globals globals;
    out += options(global_arguments(globals));
    out += ".SH COMMANDS\n";
    for (const CommandEntry& entry : command_table()) {
      if (entry.hidden) {
        continue;
      }
      const std::unique_ptr<Command> command = entry.make();
      const ArgumentTable table = command->arguments();
      out += cat(".SS ", roff(synopsis(entry.name, table)), "\n", roff(entry.summary), ".\n",
                 paragraphs(entry.description), options(table), typed(entry.examples));
    }
    context.console().out().write(
        cat(out, kSelecting, stores(), slash_commands_section(), examples(), kTail));
    return Exit::success;
  }
};

}  // namespace

std::unique_ptr<Command> make_help() {
  return std::make_unique<Help>();
}

std::unique_ptr<Command> make_man() {
  return std::make_unique<Man>();
}

}  // namespace reprise::cli
