#pragma once

// Reads requests, one per line, from a pipe.

#include <cstddef>   // IWYU pragma: export
#include <cstdint>   // IWYU pragma: export
#include <optional>  // IWYU pragma: export
#include <stop_token>
#include <string>   // IWYU pragma: export
#include <utility>  // IWYU pragma: export

#include "cli/process/input_wait.h"  // IWYU pragma: export
#include "reprise/error.h"

namespace reprise::cli {

struct InputLine {
  std::int64_t number = 0;   // from 1
  std::string text = {};     // without the line end
  bool is_too_long = false;  // it was skipped
};

class LineInput {
 public:
  // Lines of more than `bytes_max` bytes are skipped without being held in memory.
  LineInput(int fd, std::size_t bytes_max, std::stop_token stop)
      : fd_(fd), bytes_max_(bytes_max), stop_(stop), wait_(std::move(stop)) {}

  // The next line, also an unfinished last one; nullopt at the end of the input and after a stop
  // request.
  Result<std::optional<InputLine>> next();

 private:
  std::optional<InputLine> take_line();
  std::optional<InputLine> take_rest();

  int fd_;
  std::size_t bytes_max_;
  std::stop_token stop_;
  InputWait wait_;
  std::string buffer_;
  std::size_t searched_ = 0;  // of the buffer, without a line end
  std::int64_t lines_ = 0;
  bool is_skipping_ = false;  // the rest of a line that is too long
};

}  // namespace reprise::cli
