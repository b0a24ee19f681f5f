#include <algorithm>
#include <iterator>

#include "cli/commands/command.h"
#include "cli/commands/help_text.h"
#include "cli/program/store_opener.h"

namespace reprise::cli {
namespace {

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// `reprise` means `reprise chat`, and `reprise --resume` means `reprise resume`.
void complete_command(CommandLine& line) {
  if (line.command.empty()) {
    const auto resume = std::ranges::find(line.words, "--resume");
    line.command = resume == line.words.end() ? "chat" : "resume";
    if (resume != line.words.end()) {
      line.words.erase(resume);
    }
  }
}

// The command in `reprise --provider echo list`, which means `chat` with the PATH list; "" if there
// is none.
std::string_view late_command(const ArgumentTable& global_table, const ArgumentTable& chat_table,
                              const std::vector<std::string>& words) {
  ArgumentTable table = global_table;
  std::ranges::copy(chat_table.options, std::back_inserter(table.options));
  const CommandEntry* const entry = find_command(split_command_line(table, words).command);
  return entry == nullptr ? "" : entry->name;
}

Exit run_command(Context& context, const CommandEntry& entry, const ArgumentTable& global_table,
                 const std::vector<std::string>& words) {
  const std::unique_ptr<Command> command = entry.make();
  const ArgumentTable table = command->arguments();
  if (contains(words, "--help") || contains(words, "-h")) {
    context.console().out().write(command_help(entry, table));
    return Exit::success;
  }
  context.console().set_usage(synopsis(entry.name, table));
  if (const auto parsed = parse_arguments(global_table, table, words); !parsed) {
    const std::string_view late =
        entry.name == "chat" ? late_command(global_table, table, words) : "";
    return context.console().usage_error(late.empty() ? parsed.error().message
                                                      : command_first(late));
  }
  if (entry.text_only && context.globals().json) {
    return context.console().usage_error(cat("--json cannot be used with ", entry.name));
  }
  const Result<Exit> outcome = command->run(context);
  if (!outcome) {
    context.console().report(outcome.error());
    return exit_for(outcome.error().code);
  }
  return *outcome;
}

Exit dispatch(Context& context, const ArgumentTable& global_table, CommandLine line) {
  if (line.command.empty() && contains(line.words, "--version")) {
    context.console().out().write(version_line());
    return Exit::success;
  }
  if (line.command.empty() && (contains(line.words, "--help") || contains(line.words, "-h"))) {
    context.console().out().write(program_help(command_table()));
    return Exit::success;
  }
  complete_command(line);
  const CommandEntry* const entry = find_command(line.command);
  if (entry == nullptr) {
    return context.console().usage_error(unknown_command(line.command));
  }
  return run_command(context, *entry, global_table, line.words);
}

}  // namespace

Exit run_program(const std::vector<std::string>& words, const ProcessEnvironment& environment,
                 Output& out, Output& err) {
  Globals globals;
  const ArgumentTable global_table = global_arguments(globals);
  CommandLine line = split_command_line(global_table, words);
  // Set before parsing, so that errors of the command line are JSON, too.
  globals.json = contains(line.words, "--json");
  Context context(globals, environment, out, err);
  Exit exit = dispatch(context, global_table, std::move(line));
  context.stores().watch().finish(globals);
  if (const auto written = out.flush(); !written && exit == Exit::success) {
    exit = Exit::failed;
    if (!out.is_pipe_broken()) {
      context.console().report(written.error());
    }
  }
  // A failure of standard error cannot be reported.
  (void)err.flush();
  return exit;
}

}  // namespace reprise::cli
