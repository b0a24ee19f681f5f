#pragma once

// Finds the messages in the bytes of a messages.jsonl, whoever wrote it and whatever happened to
// it: one object a line as a rule, but also several on a line, arrays over many lines, objects with
// raw line ends in their strings, and damage in between, which costs only itself.

#include <cstddef>
#include <memory>
#include <optional>

#include "reprise/error.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/line.h"
#include "store/chatdir/trailer.h"

namespace reprise::store::chatdir {

// A JSON object, or bytes that are none.
struct Piece {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::int64_t line = 0;                        // the number of the line it begins in, from 1
  std::string_view damage = {};                 // why it is no message; "" when it is one
  std::shared_ptr<const Trailer> trailer = {};  // of a line of ours
  bool in_place = false;   // the trailer stands where it says (the object is then not checked)
  bool ends_line = false;  // a line end comes next
  std::optional<Line> read = {};  // what it says, where finding its end has told that, too
};

// Whether the caller is going to read what is found.
enum class SplitMode : std::uint8_t { boundaries, messages };

class Splitter {
 public:
  // Reads from `offset` on, which is in line `line`, to `end`. The window must outlive it.
  Splitter(FileWindow& window, std::int64_t offset, std::int64_t line, std::int64_t end,
           SplitMode mode = SplitMode::boundaries);

  // nullopt at the end.
  Result<std::optional<Piece>> next();

  // Behind the last piece and the blanks after it.
  std::int64_t position() const { return at_; }
  std::int64_t line() const { return line_; }

 private:
  Result<> skip_blanks();
  Result<Piece> value(std::string_view text, std::shared_ptr<const Trailer> trailer);
  Result<Piece> object_over_lines(std::size_t damaged);
  Piece take(std::size_t length, std::string_view damage);

  FileWindow& window_;
  std::int64_t at_;
  std::int64_t line_;
  std::int64_t end_;
  SplitMode mode_;
  std::int64_t patience_;  // bytes that may still be read in vain
};

}  // namespace reprise::store::chatdir
