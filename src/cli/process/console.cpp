#include "cli/process/console.h"

#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/process/input_wait.h"
#include "cli/process/process.h"

namespace reprise::cli {
namespace {

// Reads one line and nothing beyond it; "" after a stop request.
std::string read_answer(std::stop_token stop) {
  const InputWait wait(std::move(stop));
  std::string line;
  char c = 0;
  while (line.size() < 100) {
    const Ready ready = wait.wait(STDIN_FILENO);
    if (ready == Ready::stopped) {
      return "";
    }
    if (ready == Ready::closed || ::read(STDIN_FILENO, &c, 1) != 1 || c == '\n') {
      break;
    }
    line += c;
  }
  return line;
}

// Makes the terminal deliver each key immediately, including Ctrl-C, while it exists.
class KeyMode {
 public:
  KeyMode() : is_set_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    is_set_ = is_set_ && ::tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
  }
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;
  ~KeyMode() {
    if (is_set_) {
      // Nothing to restore if the terminal is gone.
      (void)::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
  }

 private:
  termios before_{};
  bool is_set_;
};

bool holds(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

}  // namespace

void Console::write(std::string_view text, Kind kind) {
  if (parent_ != nullptr) {
    return parent_->write(text, kind);
  }
  if (sink_) {
    sink_(kind, text);
    return;
  }
  begin_output();
  // Keeps the order of both outputs if they are the same terminal. A failure is reported at the
  // end.
  (void)out_.flush();
  err_.write(cat("reprise: ", kind == Kind::warning ? "warning: " : "", terminal_line(text), "\n"));
  // A failure of standard error cannot be reported.
  (void)err_.flush();
}

void Console::begin_output() {
  bar_.clear();
  if (before_output_) {
    before_output_();
  }
}

void Console::progress(const Progress& progress) {
  if (parent_ != nullptr) {
    return parent_->progress(progress);
  }
  if (!sink_ && !globals_.quiet) {
    bar_.show(progress);
  }
}

void Console::end_progress() {
  parent_ == nullptr ? bar_.clear() : parent_->end_progress();
}

void Console::warn(std::string_view text) {
  if (warn_by_events_) {
    print_json(json::object_of("event", "warning", "text", text));
  }
  write(text, Kind::warning);
}

void Console::warn_once(std::string_view text) {
  if (holds(warnings_, text)) {
    return;
  }
  if (parent_ == nullptr || !holds(parent_->warnings_, text)) {
    warn(text);
  }
  warnings_.emplace_back(text);
}

void Console::notice(std::string_view text) {
  if (!globals_.quiet) {
    write(text);
  }
}

void Console::note(std::string_view text) {
  if (globals_.verbose) {
    write(text);
  }
}

void Console::print_json_piece(std::string_view piece) {
  out_.write(out_.is_terminal() ? terminal_json(piece) : std::string(piece));
}

void Console::print_json(std::string_view document) {
  print_json_piece(document);
  out_.write("\n");
}

void Console::report(const Error& error) {
  if (globals_.json) {
    std::string out;
    json::ObjectWriter object(out);
    object.key("error");
    json::ObjectWriter inner(out);
    inner.field("code", to_string(error.code)).field("message", error.message).close();
    object.close();
    print_json(out);
  }
  write(error.message);
}

Exit Console::usage_error(std::string_view message) {
  if (usage_.empty()) {
    report({Code::invalid_argument, cat(message, message.ends_with('?') ? " (see `reprise help`)"
                                                                        : "; see `reprise help`")});
    return Exit::usage;
  }
  report({Code::invalid_argument, std::string(message)});
  // A failure of standard error cannot be reported.
  err_.write(cat("usage: ", usage_, "\n"));
  (void)err_.flush();
  return Exit::usage;
}

bool Console::can_ask() const {
  return ::isatty(STDIN_FILENO) == 1 && err_.is_terminal();
}

char Console::ask_key(std::string_view question, std::string_view keys, char default_key) {
  constexpr char kCtrlC = 3;
  constexpr char kCtrlD = 4;
  // A failure is reported at the end or cannot be reported.
  (void)out_.flush();
  err_.write(cat(terminal_line(question), " "));
  (void)err_.flush();
  const KeyMode mode;
  char c = 0;
  while (::read(STDIN_FILENO, &c, 1) == 1 && c != kCtrlC && c != kCtrlD) {
    c = c == '\n' || c == '\r' ? default_key : ascii_lower(c);
    if (keys.contains(c)) {
      err_.write(cat(std::string_view(&c, 1), "\n"));
      (void)err_.flush();
      return c;
    }
    err_.write(cat("\a\n", terminal_line(question), " "));
    (void)err_.flush();
  }
  err_.write("\n");
  (void)err_.flush();
  return 0;
}

Choice Console::ask_choice(std::string_view question, const std::stop_token& stop) {
  begin_output();
  // A failure is reported at the end or cannot be reported.
  (void)out_.flush();
  err_.write(cat(terminal_line(question), " [y/once/always/N] "));
  (void)err_.flush();
  const std::string answer = ascii_lower(trimmed(read_answer(stop)));
  if (stop.stop_requested()) {
    err_.write("\n");  // after the ^C
    (void)err_.flush();
    return Choice::no;
  }
  if (answer == "always" || answer == "a") {
    return Choice::always;
  }
  if (answer == "once" || answer == "o") {
    return Choice::once;
  }
  return answer == "y" || answer == "yes" ? Choice::yes : Choice::no;
}

Result<bool> Console::confirm(std::string_view question, const std::stop_token& stop) {
  if (globals_.yes) {
    return true;
  }
  if (!can_ask()) {
    return fail(Code::invalid_argument, cat("refusing to ", question.substr(0, question.rfind('?')),
                                            " without --yes (no terminal to ask)"));
  }
  begin_output();
  (void)out_.flush();  // a failure is reported at the end
  err_.write(cat(terminal_line(question), " [y/N] "));
  REPRISE_TRY(err_.flush());
  const std::string answer = ascii_lower(trimmed(read_answer(stop)));
  if (stop.stop_requested()) {
    err_.write("\n");  // after the ^C
    return fail(Code::cancelled, "stopped");
  }
  return answer == "y" || answer == "yes";
}

Result<std::optional<bool>> Console::ask_once(const std::string& question,
                                              const std::stop_token& stop) {
  if (parent_ != nullptr) {
    return parent_->ask_once(question, stop);
  }
  if (!question_sink_ && (sink_ || !can_ask())) {
    return std::nullopt;
  }
  if (const auto known = answers_.find(question); known != answers_.end()) {
    return known->second;
  }
  REPRISE_ASSIGN(const bool answer,
                 question_sink_ ? Result<bool>(question_sink_(question)) : confirm(question, stop));
  answers_.emplace(question, answer);
  return answer;
}

Result<> Console::ask_consent_once(const std::string& question, std::string no_terminal,
                                   std::string refused, const std::stop_token& stop) {
  if (parent_ != nullptr) {
    return parent_->ask_consent_once(question, std::move(no_terminal), std::move(refused), stop);
  }
  if (holds(consents_, question)) {
    return {};
  }
  if (!question_sink_ && (sink_ || !can_ask())) {
    return fail(Code::invalid_argument, std::move(no_terminal));
  }
  REPRISE_ASSIGN(const bool confirmed,
                 question_sink_ ? Result<bool>(question_sink_(question)) : confirm(question, stop));
  if (!confirmed) {
    return fail(Code::invalid_argument, std::move(refused));
  }
  consents_.push_back(question);
  return {};
}

}  // namespace reprise::cli
