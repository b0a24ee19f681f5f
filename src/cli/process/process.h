#pragma once

// What a process has: environment variables, output streams, exit codes.

#include <map>
#include <optional>  // IWYU pragma: export
#include <stop_token>
#include <string>  // IWYU pragma: export
#include <string_view>

#include "reprise/error.h"

namespace reprise::cli {

// The environment variables, read once by main.
class ProcessEnvironment {
 public:
  ProcessEnvironment() = default;
  explicit ProcessEnvironment(std::map<std::string, std::string, std::less<>> variables)
      : variables_(std::move(variables)) {}
  // From main's third argument. If HOME is not set, it comes from the user database.
  static ProcessEnvironment read(const char* const* variables);

  // nullopt if the variable is unset or empty.
  std::optional<std::string> find(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

// Buffered standard output and standard error. A failed write is reported by flush(), and nothing
// is written after it.
class Output {
 public:
  // `fd` remains the caller's. `name` is for errors: "standard output".
  Output(int fd, std::string_view name);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Writes unchanged: our own text, or foreign text sanitized by base/terminal_text.h.
  void write(std::string_view bytes);
  Result<> flush();

  // Until restore(), output goes to `fd`; terminal properties are still those of the original. The
  // buffer must be empty.
  void redirect(int fd) { redirected_ = fd; }
  // Also clears the state of a closed reader.
  void restore();

  bool is_terminal() const { return terminal_; }
  int columns() const;               // of the terminal; 80 if unknown
  std::size_t text_columns() const;  // those of a terminal; otherwise unlimited
  bool failed() const { return failed_; }
  bool is_pipe_broken() const { return is_pipe_broken_; }  // the pipe's reader has closed it

 private:
  int fd_;
  int redirected_ = -1;
  std::string name_;
  std::string buffer_;
  Error failure_;
  bool failed_ = false;
  bool is_pipe_broken_ = false;
  bool terminal_;
};

// The stop token of the program's Interrupts (program/interrupts.h), for code that gets none; never
// stopped while there are no Interrupts. Thread-safe.
std::stop_token interrupt_token();
void set_interrupt_token(std::stop_token token);

// Lets libraries show letters beyond ASCII on the terminal, also without a UTF-8 locale. Only one
// thread may use the locale.
void use_utf8_locale();

inline constexpr std::size_t kCopyBytesMax = 74'994;  // xterm's limit, before base64

// Copies to the user's clipboard when it is written to a terminal, also over ssh: the escape
// sequence OSC 52. Many terminals must be configured to accept it; none responds.
std::string copy_sequence(std::string_view text);

// Exit codes of the program.
enum class Exit : std::uint8_t {
  success = 0,
  failed = 1,         // the command failed
  unsaved = 2,        // there was an answer, but it could not be saved
  usage = 64,         // invalid command line
  interrupted = 130,  // stopped by a signal, after saving
};

// The exit code for an error.
Exit exit_for(Code code);

}  // namespace reprise::cli
