#pragma once

// The program's messages and questions to the user or a script.

#include <functional>
#include <stop_token>

#include "cli/process/arguments.h"
#include "cli/process/process.h"  // IWYU pragma: export
#include "cli/process/progress.h"

namespace reprise::cli {

// The answer to whether something is allowed: this time only, until the program exits (yes), or
// always in this folder.
enum class Choice : std::uint8_t { no, once, yes, always };

class Console {
 public:
  // The arguments must outlive it.
  Console(const Globals& globals, Output& out, Output& err)
      : globals_(globals), out_(out), err_(err) {}
  // Uses the parent, which must outlive it and is used by the same thread.
  explicit Console(Console* parent)
      : globals_(parent->globals_), out_(parent->out_), err_(parent->err_), parent_(parent) {}
  ~Console() = default;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  Output& out() { return out_; }
  Output& err() { return err_; }

  // Writes to standard error, sanitized for terminals. warn() writes even with -q, notice() does
  // not, note() only with -v.
  void warn(std::string_view text);
  void notice(std::string_view text);
  void note(std::string_view text);
  // Warns only once, however often a conversation is rebuilt.
  void warn_once(std::string_view text);

  // Shows progress on a terminal after one second (ProgressBar). The next message removes the bar.
  void progress(const Progress& progress);
  void end_progress();

  // From now on, messages go to this sink unchanged instead of standard error, as something else
  // owns the terminal.
  enum class Kind : std::uint8_t { notice, warning };
  using Sink = std::function<void(Kind kind, std::string_view text)>;
  void set_sink(Sink sink) { sink_ = std::move(sink); }
  // Likewise for yes or no questions.
  using QuestionSink = std::function<bool(std::string question)>;
  void divert_questions(QuestionSink sink) { question_sink_ = std::move(sink); }

  // Called before each write to the terminal; may be empty.
  void before_output(std::function<void()> hook) { before_output_ = std::move(hook); }

  // Writes a JSON document and a newline to standard output.
  void print_json(std::string_view document);
  // Writes a part of a long document, split between values or members.
  void print_json_piece(std::string_view piece);
  // From now on, also prints warnings as JSON events.
  void warn_by_events() { warn_by_events_ = true; }

  // Writes "reprise: MESSAGE" to standard error and, with --json, an object to standard output.
  void report(const Error& error);
  // Reports an error with the usage line of the running command.
  Exit usage_error(std::string_view message);
  // "reprise list [OPTION…]"; if not set, usage_error() refers to `reprise help`.
  void set_usage(std::string usage) { usage_ = std::move(usage); }

  // Asks a yes or no question on the terminal. Without a terminal and without --yes, returns an
  // error that names --yes; after a stop request, cancelled.
  Result<bool> confirm(std::string_view question, const std::stop_token& stop = {});
  // Asks on the terminal; requires can_ask(). A stop request means no.
  Choice ask_choice(std::string_view question, const std::stop_token& stop);
  // Reads one of `keys` from the terminal without Enter, which means the key `default_key`; 0 if
  // the user cancels (Ctrl-C, Ctrl-D). Any other key rings the bell and repeats the question.
  char ask_key(std::string_view question, std::string_view keys, char default_key);
  bool can_ask() const;  // whether standard input and standard error are a terminal
  // Asks a yes or no question that no flag answers, each only once; nullopt if nobody can be asked.
  Result<std::optional<bool>> ask_once(const std::string& question, const std::stop_token& stop);
  // Like confirm(), but does not ask again after a yes. `no_terminal` is the error if nobody can be
  // asked, `refused` the one after a no; both are invalid_argument.
  Result<> ask_consent_once(const std::string& question, std::string no_terminal,
                            std::string refused, const std::stop_token& stop);

 private:
  void write(std::string_view text, Kind kind = Kind::notice);
  void begin_output();

  const Globals& globals_;
  Output& out_;
  Output& err_;
  Console* parent_ = nullptr;
  ProgressBar bar_{err_};
  std::vector<std::string> warnings_;    // for warn_once(); the parent's count, too
  std::vector<std::string> consents_;    // questions answered with yes
  std::map<std::string, bool> answers_;  // to ask_once()
  std::string usage_;
  bool warn_by_events_ = false;
  Sink sink_;
  QuestionSink question_sink_;
  std::function<void()> before_output_;
};

}  // namespace reprise::cli
