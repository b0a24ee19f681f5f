#pragma once

// Buffered standard output and standard error. A failed write is reported by flush(), and nothing
// is written after it.

#include "reprise/error.h"

namespace reprise::cli {

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
  int columns() const;  // of the terminal; 80 if unknown
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

}  // namespace reprise::cli
