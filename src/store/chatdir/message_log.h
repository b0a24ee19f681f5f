#pragma once

// An open messages.jsonl: the position of each message, and the state of the record; and reading
// its messages in order. The file is append-only; after any other change, it is opened again.
//
//  (1) The record ends with the last whole batch. What follows (the beginning of a batch, part of a
//      line, a batch with a hole) was torn by a crash, or is being written.
//  (2) A line of ours at its original offset has the seq in its trailer: lines missing before it
//      are a gap, which is reported. All other messages are numbered consecutively.

#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "reprise/store.h"
#include "store/chatdir/log_end.h"

namespace reprise::store::chatdir {

class FileWindow;
struct Line;
struct Piece;

// Thread-safe.
class MessageLog {
 public:
  // The position of a message.
  struct LogEntry {
    std::int64_t offset = 0;
    std::int64_t length = 0;
    Seq seq;
  };
  // Bytes that are not a message, or missing messages.
  struct DamagedSpan {
    Seq before;  // the seq of the following message
    std::int64_t offset = 0;
    std::int64_t length = 0;
    std::int64_t line = 0;
    std::string reason;
    std::int64_t count = 1;  // of the lines, or parts of one, that it consists of
  };

  // Called with each message of the record.
  using Visit = std::function<Flow(const LogEntry&, Result<Line>)>;

  // not_found if the file does not exist, corrupt if it is not a regular file. The messages are
  // passed to `visit` during the scan, which saves a second read; returns null if `visit` stops.
  static Result<std::shared_ptr<MessageLog>> open(Fd fd, const std::filesystem::path& file,
                                                  const Visit& visit = {});
  static Result<std::shared_ptr<MessageLog>> open(const std::filesystem::path& file,
                                                  const Visit& visit = nullptr);

  // Reads what has been appended since. false if the file was replaced, or changed in another way.
  Result<bool> refresh();

  LogState state() const;
  // At most `count` messages of [from, to): the first ones, or with `newest_first` the last ones,
  // in reverse order.
  std::vector<LogEntry> entries(Seq from, Seq to, std::size_t count, bool newest_first) const;
  // The damaged spans before messages of [from, to); one after the last message belongs to it.
  std::vector<DamagedSpan> damaged_spans(Seq from, Seq to) const;
  std::optional<AppendResult> find_operation(const OperationId& operation) const;
  bool knows_request(const std::string& request) const;
  // Whether another program has written any of the lines.
  bool has_lines_of_others() const;

  // The answers in [0, to), as far as somebody has counted them. They stay the same, as the file is
  // append-only.
  struct AnswerCount {
    Seq to;
    std::int64_t answers = 0;
  };
  AnswerCount counted_answers() const;
  void remember_answers(const AnswerCount& count) const;

  // Adds the operations and requests of replaced messages, which are in this file.
  Result<> index_replaced(const std::filesystem::path& replaced);

  // Appends the bytes. The caller holds the chat's lock and has removed a torn end. On failure,
  // nothing is appended.
  Result<> append(std::string_view bytes, Durability durability);
  // Truncates the torn end. The caller holds the chat's lock and has quarantined the torn bytes.
  Result<> truncate_torn_tail();
  Result<> sync();

  int fd() const { return fd_.get(); }
  const std::filesystem::path& file() const { return file_; }

 private:
  MessageLog(std::filesystem::path file, Fd fd) : file_(std::move(file)), fd_(std::move(fd)) {}
  struct Reading;
  Result<Flow> read_appended(std::int64_t size, const Visit& visit = nullptr);
  Result<bool> add_piece(Reading& reading, const std::optional<Piece>& piece,
                         std::int64_t last_line);
  Result<bool> has_hole_at_end(Reading& reading, const std::optional<Piece>& last) const;
  void note_change(const timespec& time);
  void drop_uncommitted();
  Result<Flow> deliver(FileWindow& window, std::optional<Line> read, std::size_t& next_entry,
                       const Visit& visit) const;
  void add_message(const Piece& piece);
  bool continues_batch(const Piece& piece) const;
  void commit_batch(std::int64_t end, std::int64_t line);
  void index_trailer(const Trailer& trailer, Seq seq);
  void add_damaged_span(DamagedSpan span);
  Seq next_seq() const { return entries_.empty() ? Seq{} : entries_.back().seq.next(); }
  Result<int> writable();
  Result<> undo_append(std::int64_t size, Error error);

  const std::filesystem::path file_;
  const Fd fd_;
  Fd out_;  // for writing, opened on first use
  mutable std::mutex mutex_;
  mutable AnswerCount counted_answers_;
  LogState state_;
  timespec changed_{};     // the file's mtime when it was read
  std::int64_t line_ = 1;  // the number of the line that begins at the end
  // Those of the record come first, then those that may be torn.
  std::vector<LogEntry> entries_;
  std::vector<DamagedSpan> damaged_spans_;
  std::vector<std::pair<std::shared_ptr<const Trailer>, Seq>>
      trailers_;  // of lines whose batch is not complete yet
  std::shared_ptr<const Trailer> newest_trailer_;
  bool newest_is_last_ = false;
  bool in_batch_ = false;
  bool has_lines_of_others_ = false;
  std::size_t committed_entries_ = 0;
  std::size_t committed_spans_ = 0;
  std::unordered_map<std::string, AppendResult> operations_;
  std::unordered_set<std::string> requests_;
};

// Called if bytes follow the end of the record: returns true if they are damage, false if another
// process is writing them.
using TornCheck = std::function<Result<bool>(const LogState&)>;
inline Result<bool> ignore_torn(const LogState& /*state*/) {
  return false;
}

class AnswerUsages;

// How messages are read.
struct LogReading {
  TornCheck torn = ignore_torn;
  std::string_view name = "";      // names the file in reports of damage
  AnswerUsages* usages = nullptr;  // adds the usage of answers of other programs
};

// Passes the messages of a file of replaced ones to `sink`, in its order; none if it is missing.
Result<ReadReport> read_replaced(const std::filesystem::path& file, std::string_view name,
                                 const MessageSink& sink);

// Passes the existing messages of the range to `sink`.
Result<ReadReport> read_messages(const MessageLog& log, const ReadRange& range,
                                 const LogReading& reading, const MessageSink& sink);

// The messages of the range, newest first, of a file that is not open yet, as long as they are in
// lines of ours that follow each other: reads no more of the file than that. Unless the reading is
// complete, the messages before `next` are still to be read.
struct NewestReading {
  Seq next;
  bool is_complete = false;
};
Result<NewestReading> read_newest(const std::filesystem::path& file, const ReadRange& range,
                                  const MessageSink& sink);

// The same for a file that is not open yet, from its first message up to `to`, in one pass. `log`
// is null if the sink stopped before the end was reached.
struct FirstReading {
  ReadReport report;
  std::shared_ptr<MessageLog> log;
};
Result<FirstReading> read_first(const std::filesystem::path& file, Seq to,
                                const LogReading& reading, const MessageSink& sink);

}  // namespace reprise::store::chatdir
