#pragma once

// What the program says to a person or a script, and asks a person.

#include <functional>

#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/program/arguments.h"
#include "cli/program/exit.h"  // IWYU pragma: export

namespace reprise::cli {

// An answer to whether something may be done: this time only, as long as the program runs (yes), or
// always in this folder.
enum class Choice : std::uint8_t { no, once, yes, always };

class Voice {
 public:
  // All of them outlive it.
  Voice(const Globals& globals, Output& out, Output& err)
      : globals_(globals), out_(out), err_(err) {}
  // Speaks through the parent, which outlives it and is used by the same thread.
  explicit Voice(Voice* parent)
      : globals_(parent->globals_), out_(parent->out_), err_(parent->err_), parent_(parent) {}
  ~Voice() = default;
  Voice(const Voice&) = delete;
  Voice& operator=(const Voice&) = delete;

  Output& out() { return out_; }
  Output& err() { return err_; }

  // On standard error, made safe for a terminal. A warning is said even with -q; a remark is not;
  // a note only with -v.
  void warn(std::string_view text);
  void remark(std::string_view text);
  void note(std::string_view text);
  // A warning that is said once, however often a conversation is built anew.
  void warn_once(std::string_view text);

  // How far the work is, on a terminal, once it takes longer than a second (ProgressBar). The bar
  // goes with the next thing that is said.
  void progress(std::string_view work, std::int64_t done, std::int64_t total);
  void end_progress();

  // From now on that goes there instead of to standard error, as it is: somebody else owns the
  // terminal. Warnings are told apart.
  enum class Kind : std::uint8_t { remark, warning };
  using Sink = std::function<void(Kind kind, std::string_view text)>;
  void divert(Sink sink) { sink_ = std::move(sink); }
  // Likewise for questions that are answered with yes or no.
  using QuestionSink = std::function<bool(std::string question)>;
  void divert_questions(QuestionSink sink) { question_sink_ = std::move(sink); }

  // Called before anything is written to the terminal here; nothing when empty.
  void before_speaking(std::function<void()> hook) { before_speaking_ = std::move(hook); }

  // One JSON document and its line end, on standard output.
  void print_json(std::string_view document);
  // A part of a long document; cut between values or members.
  void print_json_piece(std::string_view piece);
  // From now on warnings are printed as JSON events, too.
  void warn_by_events() { warn_by_events_ = true; }

  // "reprise: MESSAGE" on standard error, and with --json as an object on standard output too.
  void report(const Error& error);
  // Reports it with the usage line of the command that runs.
  Exit wrong_usage(std::string_view message);
  // "reprise list [OPTION…]"; without one wrong_usage() names `reprise help`.
  void set_usage(std::string usage) { usage_ = std::move(usage); }

  // A yes or no question on the terminal. Without one (and without --yes) the answer is an error
  // that names --yes.
  Result<bool> confirm(std::string_view question);
  // On the terminal; can_ask() must be true.
  Choice ask_choice(std::string_view question);
  // One key of `keys`, on the terminal, without Enter; 0 when the person leaves (Ctrl-C, Ctrl-D).
  char ask_key(std::string_view question, std::string_view keys);
  bool can_ask() const;  // standard input and standard error are a terminal
  // The same question is asked once as long as the answer is yes. `unasked` is the error where
  // nobody can be asked, `refused` the one after no; both are invalid_argument.
  Result<> agree_once(const std::string& question, std::string no_terminal, std::string refused);

 private:
  void say(std::string_view text, Kind kind = Kind::remark);
  void begin_speaking();

  const Globals& globals_;
  Output& out_;
  Output& err_;
  Voice* parent_ = nullptr;
  ProgressBar bar_{err_};
  std::vector<std::string> warnings_;  // said once; those of a parent are not said twice
  std::vector<std::string> agreed_;    // questions
  std::string usage_;
  bool warn_by_events_ = false;
  Sink sink_;
  QuestionSink question_sink_;
  std::function<void()> before_speaking_;
};

}  // namespace reprise::cli
