#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "reprise/source.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/line.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/message_log.h"
#include "store/chatdir/splitter.h"
#include "store/chatdir/step_usage.h"
#include "store/chatdir/trailer.h"
#include "store/rules.h"

namespace reprise::store::chatdir {
namespace {

constexpr std::size_t kEntriesPerBatch = 1024;
constexpr std::size_t kReadBytes = std::size_t{256} << 10U;  // larger reads waste time

// A defect of a message's bytes.
struct Defect {
  std::int64_t offset;
  std::int64_t length;
  std::string reason;
};

class Delivery {
 public:
  Delivery(const MessageSink& sink, AnswerUsages* usages) : sink_(sink), usages_(usages) {}

  Flow operator()(const MessageLog::LogEntry& entry, Result<Line> line) {
    if (!line) {
      add(entry, line.error().message);
      return Flow::proceed;
    }
    if (line->lossy) {
      add(entry, "text that is not valid Unicode, shown as U+FFFD");
    }
    if (line->duplicate) {
      add(entry, "a duplicate member; the last one counts");
    }
    line->message.seq = entry.seq;
    if (const auto added = usages_ == nullptr ? Result<>() : usages_->add_to(*line); !added) {
      add(entry, cat("its usage cannot be read: ", added.error().message));
    }
    return sink_(std::move(line->message));
  }

  const std::vector<Defect>& defects() const { return defects_; }

 private:
  void add(const MessageLog::LogEntry& entry, std::string_view reason) {
    defects_.push_back({entry.offset, entry.length, std::string(reason)});
  }

  const MessageSink& sink_;
  AnswerUsages* const usages_;
  std::vector<Defect> defects_;
};

// Collects the damage found while reading.
class Reporter {
 public:
  Reporter(const MessageLog& log, std::string_view name)
      : log_(log), name_(name), window_(log.fd(), log.file()) {}

  Result<> damaged_spans(Seq from, Seq to) {
    for (const MessageLog::DamagedSpan& span : log_.damaged_spans(from, to)) {
      REPRISE_TRY(add(span.line, span.offset, span.length, span.reason));
      report_.damaged += span.count - 1;
    }
    return {};
  }

  Result<> defects(const std::vector<Defect>& defects) {
    for (const Defect& defect : defects) {
      REPRISE_TRY(at(defect.offset, defect.length, defect.reason));
    }
    return {};
  }

  Result<> at(std::int64_t offset, std::int64_t length, std::string_view reason) {
    REPRISE_ASSIGN(const std::int64_t line, line_of(offset));
    return add(line, offset, length, reason);
  }

  ReadReport finish() {
    // In the order of the file, whatever the direction of reading.
    std::ranges::stable_sort(found_, {}, [](const auto& entry) { return entry.first; });
    for (auto& [offset, damage] : found_) {
      report_.damage.push_back(std::move(damage));
    }
    return std::move(report_);
  }

 private:
  Result<> add(std::int64_t line, std::int64_t offset, std::int64_t length,
               std::string_view reason) {
    ++report_.damaged;
    if (found_.size() >= kDamageMax) {
      return {};
    }
    const auto excerpt_bytes = std::min(static_cast<std::size_t>(length), kExcerptMax);
    REPRISE_ASSIGN(const std::string_view excerpt, window_.view(offset, excerpt_bytes));
    found_.emplace_back(
        offset, Damage{cat(name_, ": line ", line), std::string(reason), std::string(excerpt)});
    return {};
  }

  // Counts on from the previous call.
  Result<std::int64_t> line_of(std::int64_t offset) {
    if (offset < counted_to_) {
      counted_to_ = 0;
      line_ = 1;
    }
    while (counted_to_ < offset) {
      const auto left = static_cast<std::size_t>(offset - counted_to_);
      REPRISE_ASSIGN(const std::string_view text,
                     window_.view(counted_to_, std::min(left, FileWindow::kBufferBytes)));
      if (text.empty()) {
        break;
      }
      line_ += std::ranges::count(text, '\n');
      counted_to_ += static_cast<std::int64_t>(text.size());
    }
    return line_;
  }

  const MessageLog& log_;
  std::string_view name_;
  FileWindow window_;
  ReadReport report_;
  std::vector<std::pair<std::int64_t, Damage>> found_;
  std::int64_t counted_to_ = 0;
  std::int64_t line_ = 1;
};

// The trailer of the line that ends at `end`, if it is one of ours in its place; null otherwise.
Result<std::shared_ptr<const Trailer>> trailer_before(FileWindow& window, std::int64_t end) {
  constexpr std::int64_t kTrailerBytesMax = 16 << 10;
  const std::int64_t from = std::max<std::int64_t>(0, end - kTrailerBytesMax);
  REPRISE_ASSIGN(const std::string_view text,
                 window.view(from, static_cast<std::size_t>(end - from)));
  auto found = find_trailer(text);
  const bool is_in_place =
      found && text.ends_with('\n') && is_valid_position(found->trailer->seq) &&
      found->trailer->at == from + static_cast<std::int64_t>(found->position) &&
      found->trailer->line < found->trailer->at;
  return is_in_place ? std::move(found->trailer) : nullptr;
}

Result<ReadReport> report_of(const MessageLog& log, Span span, const LogReading& reading,
                             const Delivery& delivery) {
  Reporter reporter(log, reading.name);
  REPRISE_TRY(reporter.damaged_spans({span.from}, {span.to}));
  REPRISE_TRY(reporter.defects(delivery.defects()));
  const LogState state = log.state();
  const bool may_be_torn = state.is_torn() && span.to == state.head.value;
  REPRISE_ASSIGN(const bool is_damage, may_be_torn ? reading.torn(state) : Result<bool>(false));
  if (is_damage) {
    REPRISE_TRY(reporter.at(state.end, state.size - state.end, "the end was cut off in writing"));
  }
  return reporter.finish();
}

// A line of ours, or one that was copied from another store.
Result<Message> replaced_message(std::string_view bytes, const Piece& piece) {
  if (!piece.damage.empty()) {
    return fail(Code::corrupt, std::string(piece.damage));
  }
  if (piece.trailer == nullptr) {
    return message_from_json(bytes);
  }
  REPRISE_ASSIGN(Line line, read_line(bytes));
  line.message.seq = piece.trailer->seq;
  return std::move(line.message);
}

}  // namespace

Result<ReadReport> read_replaced(const std::filesystem::path& file, std::string_view name,
                                 const MessageSink& sink) {
  ReadReport report;
  REPRISE_ASSIGN(const auto fd, if_exists(open_regular(file)));
  if (!fd) {
    return report;
  }
  REPRISE_ASSIGN(const struct stat status, status_of(fd->get(), file));
  FileWindow pieces(fd->get(), file);
  FileWindow contents(fd->get(), file);
  Splitter splitter(pieces, 0, 1, status.st_size);
  while (true) {
    REPRISE_ASSIGN(const std::optional<Piece> piece, splitter.next());
    if (!piece) {
      return report;
    }
    REPRISE_ASSIGN(const std::string_view bytes,
                   contents.view(piece->offset, static_cast<std::size_t>(piece->length)));
    auto message = replaced_message(bytes, *piece);
    if (message && sink(*std::move(message)) == Flow::stop) {
      return report;
    }
    if (!message && ++report.damaged <= static_cast<std::int64_t>(kDamageMax)) {
      report.damage.push_back({cat(name, ": line ", piece->line),
                               std::move(message).error().message, excerpt_of(bytes)});
    }
  }
}

Result<ReadReport> read_messages(const MessageLog& log, const ReadRange& range,
                                 const LogReading& reading, const MessageSink& sink) {
  const Span span = clamp(range, log.state().head);
  FileWindow window(log.fd(), log.file(), kReadBytes);
  Delivery deliver(sink, reading.usages);
  Seq from{span.from};
  Seq to{span.to};
  while (from < to) {
    const auto entries = log.entries(from, to, kEntriesPerBatch, range.newest_first);
    if (entries.empty()) {
      break;
    }
    for (const MessageLog::LogEntry& entry : entries) {
      REPRISE_ASSIGN(const std::string_view bytes,
                     window.view(entry.offset, static_cast<std::size_t>(entry.length)));
      if (deliver(entry, read_line(bytes)) == Flow::stop) {
        return report_of(log, {span.from, span.from}, reading, deliver);
      }
    }
    (range.newest_first ? to : from) =
        range.newest_first ? entries.back().seq : entries.back().seq.next();
  }
  return report_of(log, span, reading, deliver);
}

Result<NewestReading> read_newest(const std::filesystem::path& file, const ReadRange& range,
                                  const MessageSink& sink) {
  constexpr std::int64_t kSkippedMax = 1000;
  REPRISE_ASSIGN(const auto peeked, peek_state(file));
  const Seq to = std::min(range.to, peeked ? peeked->head : range.to);
  NewestReading reading{to};
  if (!peeked || !peeked->trailer || peeked->head.value - to.value > kSkippedMax) {
    return reading;
  }
  REPRISE_ASSIGN(const Fd fd, open_regular(file));
  FileWindow window(fd.get(), file, kReadBytes);
  std::int64_t end = peeked->end;
  for (auto trailer = peeked->trailer; trailer->seq >= range.from;) {
    const std::int64_t length = end - trailer->line;
    REPRISE_ASSIGN(auto previous, trailer_before(window, trailer->line));
    // A message after a gap or damage is left to the reader that reports it.
    const bool is_next = previous == nullptr ? trailer->line == 0 && trailer->seq == Seq{0}
                                             : previous->seq.next() == trailer->seq;
    if (!is_next || length > static_cast<std::int64_t>(FileWindow::kLineBytesMax)) {
      return reading;
    }
    if (trailer->seq < to) {
      REPRISE_ASSIGN(const std::string_view bytes,
                     window.view(trailer->line, static_cast<std::size_t>(length)));
      auto line = read_line(bytes);
      if (!line || line->lossy || line->duplicate) {
        return reading;
      }
      line->message.seq = reading.next = trailer->seq;
      if (sink(std::move(line->message)) == Flow::stop) {
        break;
      }
    }
    if (previous == nullptr) {
      break;
    }
    end = trailer->line;
    trailer = std::move(previous);
  }
  reading.is_complete = true;
  return reading;
}

Result<FirstReading> read_first(const std::filesystem::path& file, Seq to,
                                const LogReading& reading, const MessageSink& sink) {
  Delivery deliver(sink, reading.usages);
  FirstReading first;
  const auto visit = [&](const MessageLog::LogEntry& entry, Result<Line> line) {
    return entry.seq < to ? deliver(entry, std::move(line)) : Flow::stop;
  };
  REPRISE_ASSIGN(first.log, MessageLog::open(file, visit));
  if (first.log != nullptr) {
    const Span span = clamp({.to = to}, first.log->state().head);
    REPRISE_ASSIGN(first.report, report_of(*first.log, span, reading, deliver));
  }
  return first;
}

}  // namespace reprise::store::chatdir
