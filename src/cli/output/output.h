#pragma once

// Standard output and standard error. What is written is buffered until flush(); a write that
// failed is remembered and said by flush(), and nothing more is written after it.

#include "reprise/error.h"

namespace reprise::cli {

class Output {
 public:
  // `fd` stays the caller's. `name` is for errors: "standard output".
  Output(int fd, std::string_view name);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // As they are: our own words, or foreign text that has passed base/terminal_text.h.
  void write(std::string_view bytes);
  Result<> flush();

  // Until restore(), what is written goes there; what the terminal is like is still asked of the
  // first. What was written before must have been flushed.
  void redirect(int fd) { redirected_ = fd; }
  // A reader over there that is gone is forgotten.
  void restore();

  bool is_terminal() const { return terminal_; }
  int columns() const;  // of the terminal; 80 when unknown or no terminal
  bool failed() const { return failed_; }
  bool reader_is_gone() const { return reader_is_gone_; }  // the other end of a pipe was closed

 private:
  int fd_;
  int redirected_ = -1;
  std::string name_;
  std::string buffer_;
  Error failure_;
  bool failed_ = false;
  bool reader_is_gone_ = false;
  bool terminal_;
};

}  // namespace reprise::cli
