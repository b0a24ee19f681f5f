#pragma once

// Finds the messages in a messages.jsonl of any origin and condition: usually one object per line,
// but also several on a line, arrays over many lines, objects with raw line ends in strings, and
// damage, which costs only itself.

#include <cstddef>
#include <memory>
#include <optional>

#include "reprise/error.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/line.h"
#include "store/chatdir/trailer.h"

namespace reprise::store::chatdir {

// A JSON object, or bytes that are not one.
struct Piece {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::int64_t line = 0;                        // the number of the line in which it begins, from 1
  std::string_view damage = {};                 // why it is not a message; "" if it is one
  std::shared_ptr<const Trailer> trailer = {};  // of a line of ours
  bool in_place = false;   // the trailer is at the offset that it names (then the object is not
                           // validated)
  bool ends_line = false;  // a line end follows
  std::optional<Line> read = {};  // its contents, if finding its end required parsing it
};

// Whether the caller will read the contents of the pieces.
enum class SplitMode : std::uint8_t { boundaries, messages };

class Splitter {
 public:
  // Reads from `offset`, which is in line `line`, to `end`. The window must outlive the splitter.
  Splitter(FileWindow& window, std::int64_t offset, std::int64_t line, std::int64_t end,
           SplitMode mode = SplitMode::boundaries);

  // nullopt at the end.
  Result<std::optional<Piece>> next();

  // The offset after the last piece and the blanks that follow it.
  std::int64_t position() const { return at_; }
  std::int64_t line() const { return line_; }

 private:
  Result<> skip_blanks();
  Result<Piece> value(std::string_view text, std::shared_ptr<const Trailer> trailer);
  Result<Piece> object_over_lines(std::size_t damaged);
  Piece make_piece(std::size_t length, std::string_view damage);

  FileWindow& window_;
  std::int64_t at_;
  std::int64_t line_;
  std::int64_t end_;
  SplitMode mode_;
  std::int64_t search_bytes_;  // bytes that may still be read without finding an object
};

}  // namespace reprise::store::chatdir
