#pragma once

// Parses server-sent events in arbitrary pieces: lines end in LF, CR or CRLF; comments, unknown
// fields and a BOM at the start are skipped.

#include "reprise/provider.h"

namespace reprise::provider {

class SseParser {
 public:
  explicit SseParser(std::int64_t event_bytes_max = kAnswerBytesMax)
      : event_bytes_max_(event_bytes_max) {}

  // Calls event(name, data) -> Result<> for each event that `bytes` complete. Stops at the first
  // error. io with EFBIG for an event or line that exceeds the limit.
  template <class Event>
  Result<> feed(std::string_view bytes, const Event& event);

  // Call at the end of the stream: accepts a last event without its blank line.
  template <class Event>
  Result<> finish(const Event& event);

 private:
  // Removes the first complete line from `bytes`, joined with pending bytes; if there is none,
  // makes all of `bytes` pending and returns false.
  bool next_line(std::string_view& bytes, std::string_view& line);
  void read_field(std::string_view line);
  Result<> check_size() const;

  template <class Event>
  Result<> read_line(std::string_view line, const Event& event);

  std::int64_t event_bytes_max_;
  std::string pending_;  // the start of a line
  std::string line_;     // a line that arrived in pieces
  std::string name_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;  // a following LF belongs to the same line end
  bool at_start_ = true;
};

template <class Event>
Result<> SseParser::read_line(std::string_view line, const Event& event) {
  if (!line.empty()) {
    read_field(line);
    return {};
  }
  Result<> outcome;
  if (has_data_) {
    outcome = event(std::string_view(name_), std::string_view(data_));
  }
  name_.clear();
  data_.clear();
  has_data_ = false;
  return outcome;
}

template <class Event>
Result<> SseParser::feed(std::string_view bytes, const Event& event) {
  std::string_view line;
  while (next_line(bytes, line)) {
    REPRISE_TRY(read_line(line, event));
  }
  return check_size();
}

template <class Event>
Result<> SseParser::finish(const Event& event) {
  if (!pending_.empty()) {
    REPRISE_TRY(feed("\n", event));
  }
  return read_line({}, event);
}

}  // namespace reprise::provider
