#pragma once

// The trailer at the end of each of our lines, as "log" in its member "reprise". The trailers
// alone, without the text of the messages, determine the state of the record; so lists read only
// the end of the last line.
//
//  (1) A trailer contains its own file offset (`at`) and line number (`line`). One at another
//      offset was moved by another program; then counting determines the seq of the message.
//  (2) The last line of a batch has its operation, and the state after it (the usage of the
//      session, the running answer). A batch at the end of the file without its last line was torn.

#include <memory>

#include "reprise/types.h"

namespace reprise::store::chatdir {

struct Trailer {
  Seq seq;
  std::int64_t line = 0;
  std::int64_t at = 0;
  Time created_at = {};
  std::int64_t number = 1;  // in its batch: 1 to `of`
  std::int64_t of = 1;
  std::string request = {};  // the id of the request whose usage was counted with this line
  // In the last line of a batch:
  std::optional<OperationId> operation = {};
  std::string state = {};  // the JSON of a State; "" for an empty one

  bool ends_batch() const { return number == of; }
};

// The trailer at the end of these bytes, which need not be a whole line, and its offset in them;
// nullopt if there is none.
struct FoundTrailer {
  std::shared_ptr<const Trailer> trailer;  // shared, because it is part of LogState
  std::size_t position = 0;
};
std::optional<FoundTrailer> find_trailer(std::string_view bytes);

// Appends `"log":{…}`.
void append_trailer(std::string& out, const Trailer& trailer);

// Parses a trailer at the beginning of `text`, followed by the line's closing braces, in exactly
// the form of append_trailer(); false for other text.
bool read_written_trailer(std::string_view text, Trailer& trailer);

}  // namespace reprise::store::chatdir
