#include "store/chatdir/message_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <memory>
#include <mutex>

#include "base/file.h"
#include "base/text.h"
#include "reprise/store.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/line.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/splitter.h"
#include "store/chatdir/trailer.h"
#include "store/rules.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLineEndMax = 2;  // "\r\n"

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// Whether a piece after damage is more damage, or a line whose batch began in the damage.
bool continues_damage(const Piece& piece) {
  return piece.damage.empty() ? piece.in_place && piece.trailer->number > 1 : piece.ends_line;
}

// Detects sectors that were not written before a power cut although the file size was: JSON
// contains no NUL.
Result<bool> has_hole(FileWindow& window, std::int64_t from, std::int64_t to) {
  while (from < to) {
    const auto left = static_cast<std::size_t>(to - from);
    REPRISE_ASSIGN(const std::string_view bytes,
                   window.view(from, std::min(left, FileWindow::kBufferBytes)));
    if (bytes.empty() || bytes.find('\0') != std::string_view::npos) {
      return true;
    }
    from += static_cast<std::int64_t>(bytes.size());
  }
  return false;
}

}  // namespace

Result<std::shared_ptr<MessageLog>> MessageLog::open(const fs::path& file, const Visit& visit) {
  REPRISE_ASSIGN(Fd fd, open_regular(file));
  return open(std::move(fd), file, visit);
}

Result<std::shared_ptr<MessageLog>> MessageLog::open(Fd fd, const fs::path& file,
                                                     const Visit& visit) {
  // Not shared yet, so `visit` may do anything.
  std::shared_ptr<MessageLog> log(new MessageLog(file, std::move(fd)));
  REPRISE_ASSIGN(const struct stat status, status_of(log->fd_.get(), file));
  log->note_change(status.st_mtim);
  REPRISE_ASSIGN(const Flow flow, log->read_appended(status.st_size, visit));
  return flow == Flow::stop ? nullptr : std::move(log);
}

Result<bool> MessageLog::refresh() {
  const std::lock_guard lock(mutex_);
  REPRISE_ASSIGN(const struct stat status, status_of(fd_.get(), file_));
  REPRISE_ASSIGN(const auto named, find_status(file_));
  if (!named || named->st_ino != status.st_ino || named->st_dev != status.st_dev ||
      status.st_size < state_.end) {
    return false;
  }
  if (status.st_size == state_.size && same_time(status.st_mtim, changed_)) {
    return true;
  }
  REPRISE_ASSIGN(const Tail tail, tail_before(fd_.get(), file_, state_.end));
  if (tail.hash != state_.tail) {
    return false;
  }
  REPRISE_TRY(read_appended(status.st_size, nullptr));
  note_change(status.st_mtim);
  return true;
}

void MessageLog::drop_uncommitted() {
  entries_.resize(committed_entries_);
  damaged_spans_.resize(committed_spans_);
  trailers_.clear();
  newest_trailer_ = state_.trailer;
  newest_is_last_ = state_.trailer_is_last;
  in_batch_ = false;
}

struct MessageLog::Reading {
  FileWindow window;
  std::int64_t size;
  std::size_t next_entry;
  bool after_damage = false;
};

Result<Flow> MessageLog::read_appended(std::int64_t size, const Visit& visit) {
  drop_uncommitted();
  Reading reading{.window = {fd_.get(), file_, static_cast<std::size_t>(size - state_.end)},
                  .size = size,
                  .next_entry = entries_.size()};
  Splitter splitter(reading.window, state_.end, line_, size,
                    visit ? SplitMode::messages : SplitMode::boundaries);
  while (true) {
    REPRISE_ASSIGN(std::optional<Piece> piece, splitter.next());
    REPRISE_ASSIGN(const bool counts, add_piece(reading, piece, splitter.line()));
    if (!counts || !piece) {
      break;
    }
    REPRISE_ASSIGN(const Flow flow,
                   deliver(reading.window, std::move(piece->read), reading.next_entry, visit));
    if (flow == Flow::stop) {
      return flow;
    }
  }
  state_.size = size;
  REPRISE_ASSIGN(const Tail tail, tail_before(fd_.get(), file_, state_.end));
  state_.tail = tail.hash;
  state_.ends_line = tail.ends_line;
  return Flow::proceed;
}

// false at the end of the record.
Result<bool> MessageLog::add_piece(Reading& reading, const std::optional<Piece>& piece,
                                   std::int64_t last_line) {
  REPRISE_ASSIGN(bool torn, (piece ? in_batch_ : reading.after_damage)
                                ? has_hole_at_end(reading, piece)
                                : Result<bool>(false));
  // Another program may have treated a torn end as complete and appended after it.
  in_batch_ = in_batch_ && (!piece || torn || continues_batch(*piece));
  const bool is_continuation = reading.after_damage && piece && continues_damage(*piece);
  if (!torn && !in_batch_ && !is_continuation) {
    commit_batch(piece ? piece->offset : reading.size, piece ? piece->line : last_line);
  }
  if (!piece || torn || (!piece->damage.empty() && !piece->ends_line)) {
    return false;
  }
  add_message(*piece);
  reading.after_damage = !piece->damage.empty();
  if (piece->in_place && !in_batch_) {
    REPRISE_ASSIGN(torn, has_hole_at_end(reading, piece));
  }
  return !torn;
}

Result<bool> MessageLog::has_hole_at_end(Reading& reading, const std::optional<Piece>& last) const {
  const bool ends_file = !last || last->offset + last->length + kLineEndMax >= reading.size;
  return ends_file ? has_hole(reading.window, state_.end, reading.size) : Result<bool>(false);
}

// Passes the messages that can no longer be torn to `visit`. `read` is the last one if it was
// parsed already.
Result<Flow> MessageLog::deliver(FileWindow& window, std::optional<Line> read,
                                 std::size_t& next_entry, const Visit& visit) const {
  if (!visit || in_batch_) {
    return Flow::proceed;
  }
  const std::size_t unread = entries_.size() - (read && next_entry < entries_.size() ? 1 : 0);
  for (; next_entry < unread; ++next_entry) {
    const LogEntry& entry = entries_[next_entry];
    REPRISE_ASSIGN(const std::string_view bytes,
                   window.view(entry.offset, static_cast<std::size_t>(entry.length)));
    if (visit(entry, read_line(bytes)) == Flow::stop) {
      return Flow::stop;
    }
  }
  return read && next_entry < entries_.size() ? visit(entries_[next_entry++], *std::move(read))
                                              : Flow::proceed;
}

bool MessageLog::continues_batch(const Piece& piece) const {
  if (!piece.damage.empty()) {
    return true;  // may be a line of the batch
  }
  return piece.in_place && newest_trailer_ != nullptr && piece.trailer->of == newest_trailer_->of &&
         piece.trailer->number > newest_trailer_->number &&
         piece.trailer->seq.value - piece.trailer->number ==
             newest_trailer_->seq.value - newest_trailer_->number;
}

void MessageLog::add_message(const Piece& piece) {
  const Seq next = next_seq();
  if (!piece.damage.empty()) {
    add_damaged_span({next, piece.offset, piece.length, piece.line, std::string(piece.damage)});
    return;
  }
  Seq seq = next;
  if (piece.in_place && piece.trailer->seq > next) {
    seq = piece.trailer->seq;
    const std::int64_t last = seq.value - 1;
    add_damaged_span({seq, piece.offset, 0, piece.line,
                      last == next.value
                          ? cat("message ", last, " is missing")
                          : cat("messages ", next.value, " to ", last, " are missing")});
  }
  entries_.push_back({piece.offset, piece.length, seq});
  newest_is_last_ = piece.trailer != nullptr;
  has_lines_of_others_ = has_lines_of_others_ || piece.trailer == nullptr;
  in_batch_ = piece.in_place && !piece.trailer->ends_batch();
  if (piece.trailer) {
    newest_trailer_ = piece.trailer;
    trailers_.emplace_back(piece.trailer, seq);
  }
}

// Joins what is damaged in one line, and, if there is more damage than is reported, adjacent lines.
void MessageLog::add_damaged_span(DamagedSpan span) {
  if (!damaged_spans_.empty() && span.length > 0) {
    DamagedSpan& last = damaged_spans_.back();
    const std::int64_t gap = span.offset - (last.offset + last.length);
    const bool is_joined = last.line == span.line || damaged_spans_.size() >= kDamageMax;
    if (is_joined && last.before == span.before && last.length > 0 && gap >= 0 &&
        gap <= kLineEndMax) {
      last.count += last.line == span.line ? 0 : 1;
      last.length = span.offset + span.length - last.offset;
      return;
    }
  }
  damaged_spans_.push_back(std::move(span));
}

void MessageLog::index_trailer(const Trailer& trailer, Seq seq) {
  if (!trailer.request.empty()) {
    requests_.insert(trailer.request);
  }
  if (trailer.operation && trailer.ends_batch()) {
    operations_.try_emplace(
        trailer.operation->str(),
        AppendResult{.first = {seq.value + 1 - trailer.of}, .head = seq.next(), .repeated = true});
  }
}

// Makes everything read so far part of the record.
void MessageLog::commit_batch(std::int64_t end, std::int64_t line) {
  for (const auto& [trailer, seq] : trailers_) {
    index_trailer(*trailer, seq);
  }
  trailers_.clear();
  committed_entries_ = entries_.size();
  committed_spans_ = damaged_spans_.size();
  line_ = line;
  state_.end = end;
  state_.head = next_seq();
  state_.trailer = newest_trailer_;
  state_.trailer_is_last = newest_is_last_;
}

void MessageLog::note_change(const timespec& time) {
  changed_ = time;
  state_.changed = time_of(time);
}

LogState MessageLog::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::vector<MessageLog::LogEntry> MessageLog::entries(Seq from, Seq to, std::size_t count,
                                                      bool newest_first) const {
  const std::lock_guard lock(mutex_);
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(committed_entries_);
  const auto first = std::ranges::lower_bound(entries_.begin(), end, from, {}, &LogEntry::seq);
  const auto last = std::ranges::lower_bound(first, end, std::max(from, to), {}, &LogEntry::seq);
  const auto selected = static_cast<std::ptrdiff_t>(
      std::min(count, static_cast<std::size_t>(std::distance(first, last))));
  if (newest_first) {
    return {std::make_reverse_iterator(last), std::make_reverse_iterator(last - selected)};
  }
  return {first, first + selected};
}

std::vector<MessageLog::DamagedSpan> MessageLog::damaged_spans(Seq from, Seq to) const {
  const std::lock_guard lock(mutex_);
  std::vector<DamagedSpan> found;
  for (std::size_t i = 0; i < committed_spans_; ++i) {
    const DamagedSpan& span = damaged_spans_[i];
    const bool at_end = span.before == state_.head && to >= state_.head;
    if ((span.before >= from && span.before < to) || at_end) {
      found.push_back(span);
    }
  }
  return found;
}

std::optional<AppendResult> MessageLog::find_operation(const OperationId& operation) const {
  const std::lock_guard lock(mutex_);
  const auto found = operations_.find(operation.str());
  return found == operations_.end() ? std::nullopt : std::optional(found->second);
}

MessageLog::AnswerCount MessageLog::counted_answers() const {
  const std::lock_guard lock(mutex_);
  return counted_answers_;
}

void MessageLog::remember_answers(const AnswerCount& count) const {
  const std::lock_guard lock(mutex_);
  counted_answers_ = count;
}

bool MessageLog::has_lines_of_others() const {
  const std::lock_guard lock(mutex_);
  return has_lines_of_others_;
}

bool MessageLog::knows_request(const std::string& request) const {
  const std::lock_guard lock(mutex_);
  return requests_.contains(request);
}

Result<> MessageLog::index_replaced(const fs::path& replaced) {
  REPRISE_ASSIGN(const auto fd, if_exists(open_regular(replaced)));
  if (!fd) {
    return {};
  }
  REPRISE_ASSIGN(const struct stat status, status_of(fd->get(), replaced));
  FileWindow window(fd->get(), replaced, static_cast<std::size_t>(status.st_size));
  Splitter splitter(window, 0, 1, status.st_size);
  const std::lock_guard lock(mutex_);
  while (true) {
    REPRISE_ASSIGN(const std::optional<Piece> piece, splitter.next());
    if (!piece) {
      return {};
    }
    if (piece->trailer && is_valid_position(piece->trailer->seq)) {
      index_trailer(*piece->trailer, piece->trailer->seq);
    }
  }
}

Result<int> MessageLog::writable() {
  if (!out_.is_open()) {
    REPRISE_ASSIGN(out_, open_file(file_, O_WRONLY | O_APPEND));
  }
  return out_.get();
}

// Truncates an unacknowledged append. If that fails too, its bytes remain as a torn end.
Result<> MessageLog::undo_append(std::int64_t size, Error error) {
  if (::ftruncate(out_.get(), size) != 0) {
    error.message += "; its beginning stays in the file";
  }
  out_ = Fd();
  return std::unexpected(std::move(error));
}

Result<> MessageLog::append(std::string_view bytes, Durability durability) {
  REPRISE_ASSIGN(const int out, writable());
  const std::int64_t size = state().size;
  if (auto written = write_all(out, bytes, file_); !written) {
    return undo_append(size, std::move(written).error());
  }
  if (durability == Durability::disk) {
    // The kernel marks pages clean even if writing them failed, so never retry fsync().
    if (auto synced = sync(); !synced) {
      return undo_append(size, std::move(synced).error());
    }
  }
  REPRISE_ASSIGN(const bool same, refresh());
  return same ? Result<>()
              : fail(Code::conflict, cat(file_.native(), " was changed by another program"));
}

Result<> MessageLog::truncate_torn_tail() {
  REPRISE_ASSIGN(const int out, writable());
  const LogState state = this->state();
  if (::ftruncate(out, state.end) != 0) {
    return std::unexpected(os_error("cut", file_, errno));
  }
  REPRISE_TRY(sync());
  const std::lock_guard lock(mutex_);
  REPRISE_TRY(read_appended(state.end, nullptr));
  return {};
}

Result<> MessageLog::sync() {
  REPRISE_ASSIGN(const int out, writable());
  int outcome = 0;
  do {
    outcome = ::fdatasync(out);
  } while (outcome != 0 && errno == EINTR);
  return outcome == 0 ? Result<>() : std::unexpected(os_error("sync", file_, errno));
}

}  // namespace reprise::store::chatdir
