#pragma once

// The JSON objects of a JSONL file. What killed programs leave behind costs nothing but itself: two
// objects on one line are two, the beginning of one before a whole one is skipped, and what is no
// object is damage. A last line without an end is read when it is whole, and is no damage when it
// is not: somebody is writing it.

#include "base/json_view.h"
#include "reprise/source.h"
#include "source/lines.h"

namespace reprise::source {

struct Record {
  JsonView json;        // an object, until the next one is read
  std::int64_t at = 0;  // in the file
  std::int64_t line = 0;

  std::int64_t bytes() const { return static_cast<std::int64_t>(json.raw().size()); }
};

// A part of a file.
struct FilePart {
  std::filesystem::path file;
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  // Goes on from what stands in an earlier part before a byte; what follows there was left.
  std::optional<std::size_t> after_part = std::nullopt;
  std::int64_t after_byte = 0;
  bool is_inherited = false;  // of the session that this one is a fork of
};

using RecordSink = std::function<void(const Record&)>;

// `is_cut`: the part may begin within a line, which is skipped.
Result<> for_each_record(int fd, const FilePart& part, bool is_cut, ReadReport& report,
                         const RecordSink& sink);

}  // namespace reprise::source
