// reprise man: the manual page, in roff; the build makes reprise.1 of it.

#include <algorithm>
#include <cstddef>
#include <memory>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/program/commands.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "cli/program/help_text.h"

namespace reprise::cli {
namespace {

// roff gives meaning to backslashes, to dashes, and to points and quotes at the start of a line.
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
    std::string names(option.names);
    for (std::size_t at = names.find(','); at != std::string::npos; at = names.find(',', at + 1)) {
      names.insert(at + 1, " ");
    }
    const std::string value = option.value.empty()    ? ""
                              : option.value_optional ? cat(" [\\fI", roff(option.value), "\\fR]")
                                                      : cat(" \\fI", roff(option.value), "\\fR");
    out += cat(".TP\n\\fB", roff(names), "\\fR", value, "\n", roff(option.help), "\n");
  }
  return out;
}

constexpr std::string_view kTail = R"(.SH SELECTING A SESSION
SEL is a number of the last shown list, an id, the beginning of one (4 characters or more), a short
id, an exact title, or
.BR last ,
the newest session of this folder. When several match they are listed and the exit code is 1.
.SH EXIT STATUS
.TP
0
Done.
.TP
1
It could not be done.
.TP
2
The answer was given but could not be saved.
.TP
64
The command line is wrong.
.TP
130
Stopped by a signal, after saving.
.SH ENVIRONMENT
.TP
\fBREPRISE_STORE\fR, \fBREPRISE_PROVIDER\fR, \fBREPRISE_MODEL\fR, \fBREPRISE_CONFIG\fR
Settings; flags beat them, they beat the files.
.TP
\fBANTHROPIC_API_KEY\fR, \fBOPENAI_API_KEY\fR
Keys. They are never stored or shown.
.TP
\fBNO_COLOR\fR
No colour.
.SH FILES
.TP
\fI$XDG_CONFIG_HOME/reprise/config.toml\fR
The user's settings.
.TP
\fI.reprise.toml\fR
A project's settings, of the nearest folder above.
.TP
\fI$XDG_DATA_HOME/reprise/reprise.db\fR
The sessions.
)";

class Man final : public Command {
 public:
  ArgumentTable arguments() override { return {}; }

  Result<Exit> run(Context& context) override {
    std::string version = version_line();
    version.resize(version.size() - 1);
    std::string out = cat(".TH REPRISE 1 \"\" \"", version,
                          "\"\n.SH NAME\nreprise \\- keeps conversations with language models\n"
                          ".SH SYNOPSIS\n\\fBreprise\\fR [\\fICOMMAND\\fR] [\\fIOPTION\\fR]...\n"
                          ".SH OPTIONS OF EVERY COMMAND\n");
    Globals globals;
    out += options(global_arguments(globals));
    out += ".SH COMMANDS\n";
    for (const CommandEntry& entry : all_commands()) {
      if (entry.hidden) {
        continue;
      }
      const std::unique_ptr<Command> command = entry.make();
      const ArgumentTable table = command->arguments();
      out += cat(".SS ", roff(synopsis(entry.name, table)), "\n", roff(entry.summary), ".\n",
                 paragraphs(entry.description), options(table));
    }
    context.voice().out().write(out + std::string(kTail));
    return Exit::done;
  }
};

}  // namespace

std::unique_ptr<Command> make_man() {
  return std::make_unique<Man>();
}

}  // namespace reprise::cli
