#include "source/records.h"

#include "base/json_scan.h"
#include "base/text.h"
#include "source/file.h"

namespace reprise::source {
namespace {

// Limits how many candidates are tried in the remainder of a damaged line.
constexpr int kTriesMax = 64;
constexpr std::size_t kDamageExcerptMax = 10U << 10;

// The start of a valid object that extends to the end of the text, after damaged bytes.
std::size_t find_whole_object(std::string_view text) {
  std::size_t at = 0;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    at = text.find("{\"", at + 1);
    if (at == std::string_view::npos || is_json_object(text.substr(at))) {
      return at;
    }
  }
  return std::string_view::npos;
}

class LineRecords {
 public:
  LineRecords(const FilePart& part, const Line& line, ReadReport& report, const RecordSink& sink)
      : part_(part), line_(line), report_(report), sink_(sink) {}

  void read(JsonTape& tape) {
    std::string_view rest = line_.text;
    while (!trimmed(rest).empty()) {
      json::Scanner scanner(rest);
      if (scanner.kind() == json::Kind::object && tape.read(scanner)) {
        deliver(tape.view());
        rest = scanner.rest();
        continue;
      }
      const std::size_t whole = find_whole_object(rest);
      if (whole != std::string_view::npos || line_.is_ended) {
        damage(rest.substr(0, whole));
      }
      if (whole == std::string_view::npos) {
        return;
      }
      rest.remove_prefix(whole);
    }
  }

 private:
  void deliver(JsonView value) {
    const std::int64_t at = line_.at + (value.raw().data() - line_.text.data());
    sink_({value, at, line_.number});
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
  const RecordSink& sink_;
};

}  // namespace

Result<> for_each_record(int fd, const FilePart& part, bool is_cut, ReadReport& report,
                         const RecordSink& sink) {
  LineReader lines(fd, part.file, part.begin, part.end);
  Line line;
  JsonTape tape;
  for (bool skip = is_cut;; skip = false) {
    REPRISE_ASSIGN(const bool more, lines.next(line));
    if (!more) {
      return {};
    }
    if (skip) {
      continue;
    }
    if (line.is_too_long) {
      add_damage(report,
                 {cat(part.file.native(), ": line ", line.number),
                  cat("longer than ", kLineBytesMax >> 20U, " MiB"), std::string(line.text)});
      continue;
    }
    LineRecords(part, line, report, sink).read(tape);
  }
}

}  // namespace reprise::source
