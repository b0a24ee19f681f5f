#pragma once

// The JSON objects of a JSONL file. Tolerates what killed programs leave behind: several objects on
// one line are all read, and a truncated object before a whole one is skipped. Anything else is
// damage. An unterminated last line is read if it is a whole object and ignored if not: it is being
// written.

#include "base/json_view.h"  // IWYU pragma: export
#include "reprise/source.h"
#include "source/lines.h"  // IWYU pragma: export

namespace reprise::source {

struct Record {
  JsonView json;        // an object, valid until the next one is read
  std::int64_t at = 0;  // offset in the file
  std::int64_t line = 0;

  std::int64_t bytes() const { return static_cast<std::int64_t>(json.raw().size()); }
};

// A part of a file.
struct FilePart {
  std::filesystem::path file;
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  // Continues from the last record of an earlier part before a byte; what follows there was
  // abandoned.
  std::optional<std::size_t> after_part = std::nullopt;
  std::int64_t after_byte = 0;
  bool is_inherited = false;  // belongs to the session that this one was forked from
};

using RecordSink = std::function<void(const Record&)>;

// Whether to read a line; null: all lines.
using LineFilter = std::function<bool(const Line&)>;
// For a part that may begin within a line.
inline bool is_not_cut(const Line& line) {
  return line.number > 1;
}

Result<> for_each_record(int fd, const FilePart& part, const LineFilter& filter, ReadReport& report,
                         const RecordSink& sink);

// A larger part is read and parsed again for its messages.
inline constexpr std::int64_t kParsedBytesMax = 8 << 20;

// The records of a part, in memory. Neither copied nor moved: views point into it.
class ParsedPart {
 public:
  ParsedPart() = default;
  ~ParsedPart() = default;
  ParsedPart(const ParsedPart&) = delete;
  ParsedPart& operator=(const ParsedPart&) = delete;

  // Reads a part of at most kParsedBytesMax bytes, once.
  Result<> read(int fd, const FilePart& part, ReadReport& report, const RecordSink& sink);
  // The record with this position and size; a missing value if it is not in memory.
  JsonView find(std::int64_t at, std::int64_t bytes) const;

 private:
  std::int64_t begin_ = 0;  // in the file
  std::string text_;
  std::vector<JsonTape> tapes_;  // in the order of the text; of at most kParsedBytesMax bytes
};

}  // namespace reprise::source
