#include "source/records.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "source/file.h"

namespace reprise::source {
namespace {

// Limits how many candidates are tried in the remainder of a damaged line.
constexpr int kAttemptsMax = 64;
constexpr std::size_t kDamageExcerptMax = 10U << 10;

// The start of a valid object that extends to the end of the text, after damaged bytes.
std::size_t find_object(std::string_view text) {
  std::size_t at = 0;
  for (int tries = 0; tries < kAttemptsMax; ++tries) {
    at = text.find("{\"", at + 1);
    if (at == std::string_view::npos || is_json_object(text.substr(at))) {
      return at;
    }
  }
  return std::string_view::npos;
}

class LineRecords {
 public:
  LineRecords(const FilePart& part, const Line& line, ReadReport& report)
      : part_(part), line_(line), report_(report) {}

  // Calls sink(record) for each one while the tape is that of the record.
  template <class Sink>
  void read(JsonTape& tape, const Sink& sink) {
    std::string_view remaining = line_.at == 0 ? without_byte_order_mark(line_.text) : line_.text;
    while (!trimmed(remaining).empty()) {
      json::Scanner scanner(remaining);
      if (scanner.kind() == json::Kind::object && tape.read(scanner)) {
        sink(record_of(tape.view()));
        remaining = scanner.rest();
        continue;
      }
      const std::size_t object_begin = find_object(remaining);
      if (object_begin != std::string_view::npos || line_.is_ended) {
        damage(remaining.substr(0, object_begin));
      }
      if (object_begin == std::string_view::npos) {
        return;
      }
      remaining.remove_prefix(object_begin);
    }
  }

 private:
  Record record_of(JsonView value) const {
    return {value, line_.at + (value.raw().data() - line_.text.data()), line_.number};
  }
  void damage(std::string_view bytes) {
    const bool is_json = json::Scanner(bytes).kind() != json::Kind::none &&
                         RawJson::parse(std::string(bytes)).has_value();
    add_damage(report_, {cat(part_.file.native(), ": line ", line_.number),
                         is_json ? "not an object" : "not JSON",
                         std::string(bytes.substr(0, kDamageExcerptMax))});
  }

  const FilePart& part_;
  const Line& line_;
  ReadReport& report_;
};

}  // namespace

Result<> for_each_record(int fd, const FilePart& part, const LineFilter& filter, ReadReport& report,
                         const RecordSink& sink) {
  LineReader lines(fd, part.file, part.begin, part.end);
  Line line;
  JsonTape tape;
  for (;;) {
    REPRISE_ASSIGN(const bool has_more, lines.next(line));
    if (!has_more) {
      return {};
    }
    if (filter && !filter(line)) {
      continue;
    }
    if (line.is_too_long) {
      add_damage(report,
                 {cat(part.file.native(), ": line ", line.number),
                  cat("longer than ", kLineBytesMax >> 20U, " MiB"), std::string(line.text)});
      continue;
    }
    LineRecords(part, line, report).read(tape, sink);
  }
}

Result<> ParsedPart::read(int fd, const FilePart& part, ReadReport& report,
                          const RecordSink& sink) {
  begin_ = part.begin;
  const auto count =
      static_cast<std::size_t>(std::clamp<std::int64_t>(part.end - part.begin, 0, kParsedBytesMax));
  REPRISE_ASSIGN(text_, read_range(fd, begin_, count, part.file));
  JsonTape tape;
  std::size_t tape_bytes = 0;
  const auto take = [&](const Record& record) {
    sink(record);
    tape_bytes += tape.bytes();
    if (std::cmp_less_equal(tape_bytes, kParsedBytesMax)) {
      tapes_.push_back(tape);
    }
  };
  Line line;
  for (std::size_t at = 0; at < text_.size(); at += line.text.size() + 1) {
    const std::size_t end = text_.find('\n', at);
    line.text = std::string_view(text_).substr(at, end - at);
    line.at = begin_ + static_cast<std::int64_t>(at);
    ++line.number;
    line.is_ended = end != std::string::npos;
    LineRecords(part, line, report).read(tape, take);
  }
  return {};
}

JsonView ParsedPart::find(std::int64_t at, std::int64_t bytes) const {
  const auto begin_of = [this](const JsonTape& tape) {
    return begin_ + (tape.view().raw().data() - text_.data());
  };
  const auto found = std::ranges::lower_bound(tapes_, at, {}, begin_of);
  const JsonView json =
      found == tapes_.end() || begin_of(*found) != at ? JsonView() : found->view();
  return std::cmp_equal(json.raw().size(), bytes) ? json : JsonView();
}

}  // namespace reprise::source
