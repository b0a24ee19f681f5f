#pragma once

// The trailer that every line of ours has at its end, under "log" in its member "reprise". From the
// trailers alone, without looking at the words, follows where the record stands; so a line's end is
// all that a list reads.
//
//  (1) A trailer says where in the file it stands itself (`at`), and its line (`line`). One that
//  stands
//      elsewhere was moved by another program; then only counting tells a message's seq.
//  (2) The last line of a batch sums up: the operation, and the state after it (the usage of the
//      session so far, the running answer). A batch whose last line is missing at the end of the
//      file was torn.

#include <memory>

#include "reprise/types.h"

namespace reprise::store::chatdir {

struct Trailer {
  Seq seq;
  std::int64_t line = 0;
  std::int64_t at = 0;
  Time created_at = {};
  std::int64_t number = 1;  // of its batch: 1 to `of`
  std::int64_t of = 1;
  std::string request = {};  // the id of the request whose usage was counted with this line
  // In the last line of a batch:
  std::optional<OperationId> operation = {};
  std::string state = {};  // the JSON of a State; "" for an empty one

  bool ends_batch() const { return number == of; }
};

// The trailer at the end of these bytes, which need not be a whole line, and where it stands in
// them; nullopt when there is none.
struct FoundTrailer {
  std::shared_ptr<const Trailer>
      trailer;  // shared, because all that is known of a log's end is in it
  std::size_t position = 0;
};
std::optional<FoundTrailer> find_trailer(std::string_view bytes);

// Appends `"log":{…}`.
void append_trailer(std::string& out, const Trailer& trailer);

// The trailer at the beginning of `text`, which ends with its line's closing braces, exactly as
// append_trailer() writes it; false for all others.
bool read_written_trailer(std::string_view text, Trailer& trailer);

}  // namespace reprise::store::chatdir
