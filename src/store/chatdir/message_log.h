#pragma once

// A messages.jsonl that is open: where each message stands, and what the record has come to. The
// file is only ever added to; when it was changed in another way, it is opened anew.
//
//  (1) What counts ends with the last whole batch. What follows (the beginning of a batch, half a
//      line, a batch with a hole in it) was torn by a crash, or is being written right now.
//  (2) The seq of a line of ours that stands where it was written is the one it says: lines missing
//      before it are a gap, and reported. All other messages follow one another.

#include <ctime>
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
  // Where a message stands.
  struct Place {
    std::int64_t offset = 0;
    std::int64_t length = 0;
    Seq seq;
  };
  // Bytes that are no message, or messages that are missing.
  struct DamagedSpan {
    Seq before;  // the seq of the message that follows
    std::int64_t offset = 0;
    std::int64_t length = 0;
    std::int64_t line = 0;
    std::string reason;
  };

  // Called with each message that counts.
  using Visit = std::function<Flow(const Place&, Result<Line>)>;

  // not_found when there is no such file, corrupt for what is no file, or a link. The messages are
  // shown to `visit` on the way, which saves reading them again; null when it stops.
  static Result<std::shared_ptr<MessageLog>> open(Fd fd, const std::filesystem::path& file,
                                                  const Visit& visit = {});
  static Result<std::shared_ptr<MessageLog>> open(const std::filesystem::path& file,
                                                  const Visit& visit = nullptr);

  // Takes in what has been added since. false: the file was replaced, or changed in another way.
  Result<bool> refresh();

  LogState state() const;
  // At most `count` messages of [from, to): the first of them, or the last, the last one first.
  std::vector<Place> places(Seq from, Seq to, std::size_t count, bool newest_first) const;
  // What lies before messages of [from, to); what follows the last message belongs to it.
  std::vector<DamagedSpan> damaged_spans(Seq from, Seq to) const;
  std::optional<Appended> find_operation(const OperationId& operation) const;
  bool knows_request(const std::string& request) const;

  // Takes in the operations and requests of messages that were replaced and kept in this file.
  Result<> remember(const std::filesystem::path& replaced);

  // Writes at the end. The caller holds the chat's lock, and nothing torn is there. When it fails,
  // nothing was written.
  Result<> append(std::string_view bytes, Durability durability);
  // Cuts off what does not count. The caller holds the chat's lock, and has kept it aside.
  Result<> cut_torn();
  Result<> sync();

  int fd() const { return fd_.get(); }
  const std::filesystem::path& file() const { return file_; }

 private:
  MessageLog(std::filesystem::path file, Fd fd) : file_(std::move(file)), fd_(std::move(fd)) {}
  struct Reading;
  Result<Flow> read_on(std::int64_t size, const Visit& visit = nullptr);
  Result<bool> take_in(Reading& reading, const std::optional<Piece>& piece, std::int64_t last_line);
  Result<bool> has_hole_at_end(Reading& reading, const std::optional<Piece>& last) const;
  void note_change(const timespec& time);
  void forget_unsettled();
  Result<Flow> show(FileWindow& window, std::optional<Line> read, std::size_t& shown,
                    const Visit& visit) const;
  void take(const Piece& piece);
  bool continues_batch(const Piece& piece) const;
  void settle(std::int64_t end, std::int64_t line);
  void learn(const Trailer& trailer, Seq seq);
  void add_damaged_span(DamagedSpan span);
  Seq next_seq() const { return places_.empty() ? Seq{} : places_.back().seq.next(); }
  Result<int> writable();
  Result<> take_back(std::int64_t size, Error error);

  const std::filesystem::path file_;
  const Fd fd_;
  Fd out_;  // for writing, opened when it is needed
  mutable std::mutex mutex_;
  LogState state_;
  timespec changed_{};     // the file's mtime when it was read
  std::int64_t line_ = 1;  // the number of the line that begins at the end
  // Those that count come first, then what may yet turn out to be torn.
  std::vector<Place> places_;
  std::vector<DamagedSpan> damaged_spans_;
  std::vector<std::pair<std::shared_ptr<const Trailer>, Seq>>
      trailers_;  // of lines that do not count yet
  std::shared_ptr<const Trailer> newest_trailer_;
  bool newest_is_last_ = false;
  bool in_batch_ = false;
  std::size_t settled_places_ = 0;
  std::size_t settled_spans_ = 0;
  std::unordered_map<std::string, Appended> operations_;
  std::unordered_set<std::string> requests_;
};

}  // namespace reprise::store::chatdir
