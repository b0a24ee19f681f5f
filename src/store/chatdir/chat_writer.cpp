#include "store/chatdir/chat_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <set>
#include <variant>

#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "model/known_time.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/line.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/message_log.h"
#include "store/chatdir/trailer.h"
#include "store/paths.h"
#include "store/rules.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

// The maximum distance, in messages, between a tool call and its result.
constexpr std::int64_t kCallSearchMax = 100;

// `time` is that of the line that contains the state.
std::string state_of(const StoredSession& session, Time time) {
  State state{.usage = session.session.usage, .answering = {}};
  if (session.partial) {
    state.answering = start_of(*session.partial);
  }
  state.arrived_at = session.session.info.arrived_at;
  state.updated_at = is_known(time) ? kUnknownTime : session.session.info.updated_at;
  return state_to_json(state);
}

Result<bool> ends_line(int fd, std::int64_t end, const fs::path& file) {
  std::array<char, 1> last = {'\n'};
  if (end > 0) {
    REPRISE_TRY(read_at(fd, last, end - 1, file));
  }
  return last[0] == '\n';
}

}  // namespace

Result<> write_metadata(const fs::path& folder, const MetadataFile& metadata) {
  const fs::path file = folder / kMetadataFile;
  if (const auto existing = read_file(file);
      existing && !metadata_from_json(metadata.current.stored.session.info.id, *existing)) {
    REPRISE_TRY(quarantine(file, *existing));
  }
  return replace_file(file, metadata_to_json(metadata));
}

ChatWriter::ChatWriter(fs::path folder, MetadataFile metadata, std::shared_ptr<MessageLog> log,
                       std::int64_t messages_max)
    : folder_(std::move(folder)),
      metadata_(std::move(metadata)),
      log_(std::move(log)),
      messages_max_(messages_max),
      after_(metadata_.current.stored) {}

// Repairs what a crash left.
Result<> ChatWriter::recover() {
  const LogState log = log_->state();
  if (metadata_.after_truncation) {
    metadata_.current = metadata_.at(point_of(log));
    metadata_.after_truncation.reset();
    REPRISE_TRY(write_metadata(folder_, metadata_));
  }
  if (log.is_torn()) {
    FileWindow window(log_->fd(), log_->file());
    REPRISE_ASSIGN(const std::string_view torn,
                   window.view(log.end, static_cast<std::size_t>(log.size - log.end)));
    REPRISE_TRY(quarantine(folder_ / kMessagesFile, torn));
    REPRISE_TRY(log_->truncate_torn_tail());
  }
  return {};
}

std::optional<AppendResult> ChatWriter::find_completed(const OperationId& operation) const {
  if (auto done = log_->find_operation(operation); done) {
    return done;
  }
  const auto& others = metadata_.current.stored.operations;
  const auto found = others.find(operation);
  return found == others.end() ? std::nullopt : std::optional(found->second.result);
}

Result<> ChatWriter::check_length(Seq head) const {
  if (head.value > messages_max_) {
    return fail(Code::unsupported, cat("session ", short_id(after_.session.info.id), " would have ",
                                       head.value, " messages, more than the limit of ",
                                       messages_max_, ": raise it with chatdir:DIR?messages=N"));
  }
  return {};
}

Result<AppendResult> ChatWriter::write(std::optional<Seq> from,
                                       const std::vector<Message>& messages,
                                       const AppendOptions& options) {
  REPRISE_TRY(recover());
  if (options.operation) {
    if (auto done = find_completed(*options.operation); done) {
      // Its writer may have died before the sync.
      if (options.durability == Durability::disk) {
        REPRISE_TRY(log_->sync());
      }
      return *done;
    }
  }
  const LogState log = log_->state();
  after_ = session_at(metadata_, log);
  if (lacks_usage_of_others(metadata_, log)) {
    const std::int64_t summed_up = metadata_.at(point_of(log)).log.end;
    REPRISE_ASSIGN(const Usage others, usage_added_by_others(*log_, summed_up, folder_));
    add_usage(after_.session.usage, others);
  }
  const Seq head = after_.session.info.head;
  const Seq first = from.value_or(head);
  REPRISE_TRY(check_write(after_, first, messages.size(), options));
  const AppendResult appended = appended_at(first, messages.size());
  if (!messages.empty()) {
    REPRISE_TRY(check_length(appended.head));
  }
  if (first < head) {
    REPRISE_TRY(replace(first, messages, options));
    return appended;
  }
  if (!messages.empty()) {
    REPRISE_TRY(append(messages, options));
    return appended;
  }
  if (options.operation || options.begin_partial || options.end_partial) {
    change_partial(after_, options);
    if (options.operation) {
      add_operation(after_, *options.operation, first, head);
    }
    REPRISE_ASSIGN(Described described, describe(*log_, head));
    metadata_.current = {std::move(after_), point_of(log_->state()), std::move(described)};
    REPRISE_TRY(write_metadata(folder_, metadata_));
  }
  return appended;
}

// The names of the tools whose results the messages contain. The calls are in the same messages or
// in recent ones.
Result<ToolNames> ChatWriter::names_for(Seq before, const std::vector<Message>& messages) const {
  std::set<std::string> unresolved;
  ToolNames names;
  for (const Message& message : messages) {
    add_tool_names(names, message);
    for (const Block& block : message.blocks) {
      if (const auto* const result = std::get_if<ToolResultBlock>(&block);
          result != nullptr && !names.contains(result->tool_use_id)) {
        unresolved.insert(result->tool_use_id);
      }
    }
  }
  if (unresolved.empty()) {
    return names;
  }
  const auto visit = [&](Message&& earlier) {
    ToolNames called;
    add_tool_names(called, earlier);
    for (auto& [id, name] : called) {
      if (unresolved.erase(id) > 0) {
        names.try_emplace(id, std::move(name));
      }
    }
    return unresolved.empty() ? Flow::stop : Flow::proceed;
  };
  const ReadRange range{
      .from = {before.value - kCallSearchMax}, .to = before, .newest_first = true};
  REPRISE_TRY(read_messages(*log_, range, {}, visit));
  return names;
}

// Encodes the lines of a batch, and sets `after_` to the session after it.
Result<std::string> ChatWriter::encode(std::int64_t start, Seq from,
                                       const std::vector<Message>& messages,
                                       const AppendOptions& options) {
  std::string bytes;
  REPRISE_ASSIGN(const ToolNames names, names_for(from, messages));
  SessionInfo& info = after_.session.info;
  info.head = from;
  change_partial(after_, options);
  for (const Message& message : messages) {
    Trailer trailer{.seq = info.head,
                    .number = info.head.value - from.value + 1,
                    .of = static_cast<std::int64_t>(messages.size())};
    if (message.usage && !message.usage->request_id.empty()) {
      trailer.request = message.usage->request_id;
      if (log_->knows_request(trailer.request)) {
        after_.counted_requests.insert(trailer.request);
      }
    }
    count_usage(after_, message);
    note_activity(info, {message}, options.now);
    if (trailer.ends_batch()) {
      trailer.operation = options.operation;
      trailer.state = state_of(after_, message.created_at);
    }
    REPRISE_TRY(append_line(bytes, start + static_cast<std::int64_t>(bytes.size()), message,
                            std::move(trailer), names));
    info.head = info.head.next();
  }
  return bytes;
}

Result<> ChatWriter::append(const std::vector<Message>& messages, const AppendOptions& options) {
  const LogState log = log_->state();
  REPRISE_ASSERT(after_.session.info.head == log.head);  // the seq of the first line
  REPRISE_ASSERT(!log.is_torn());                        // recover() has removed a torn end
  const std::string_view line_end = log.ends_line ? "" : "\n";
  const std::int64_t start = log.size + static_cast<std::int64_t>(line_end.size());
  REPRISE_ASSIGN(const std::string lines, encode(start, log.head, messages, options));
  REPRISE_TRY(log_->append(line_end.empty() ? lines : cat(line_end, lines), options.durability));
  if (!metadata_.is_derived && metadata_.current.described.question.empty()) {
    // The messages are stored. If this fails, the next append tries it again.
    (void)note_described();
  }
  return {};
}

// From the first question on, the metadata says what it describes.
Result<> ChatWriter::note_described() {
  REPRISE_ASSIGN(metadata_.current.described, describe(*log_, log_->state().head));
  return metadata_.current.described.question.empty() ? Result<>()
                                                      : write_metadata(folder_, metadata_);
}

// Appends the replaced messages, which begin at this offset of the log, to the file for them. On
// failure, the file is as before.
Result<> ChatWriter::append_replaced(std::int64_t begin) const {
  const fs::path file = folder_ / kReplacedFile;
  REPRISE_ASSIGN(Fd out, open_file(file, O_RDWR | O_CREAT | O_APPEND, 0600));
  REPRISE_ASSIGN(const struct stat status, status_of(out.get(), file));
  const auto copy = [&]() -> Result<> {
    REPRISE_ASSIGN(const bool clean, ends_line(out.get(), status.st_size, file));
    if (!clean) {
      REPRISE_TRY(write_all(out.get(), "\n", file));
    }
    FileWindow window(log_->fd(), log_->file());
    REPRISE_TRY(copy_bytes(window, begin, log_->state().end, out.get(), file));
    REPRISE_TRY(sync_file(out.get(), file));
    return sync_folder(folder_);
  };
  auto copied = copy();
  if (!copied) {
    (void)::ftruncate(out.get(), status.st_size);
    return copied;
  }
  return out.close(file);
}

// Rewrites the messages when they are not in lines of their own. Returns the offset of their end.
Result<std::int64_t> ChatWriter::rewrite(int out, Seq to) const {
  const fs::path& file = log_->file();
  REPRISE_ASSIGN(const std::string old, read_file(file));
  REPRISE_TRY(quarantine(folder_ / kMessagesFile, old));
  std::int64_t end = 0;
  ToolNames names;
  Result<> written;
  const auto write = [&](Message&& message) {
    std::string line;
    add_tool_names(names, message);
    written = append_line(line, end, message, {.seq = message.seq}, names);
    if (written) {
      written = write_all(out, line, file);
      end += static_cast<std::int64_t>(line.size());
    }
    return written ? Flow::proceed : Flow::stop;
  };
  REPRISE_TRY(read_messages(*log_, {.to = to}, {}, write));
  REPRISE_TRY(std::move(written));
  return end;
}

// After a truncation within a batch, its last remaining line must end the batch. Returns the offset
// of that line, or `end` if nothing has to change.
Result<std::int64_t> ChatWriter::end_batch(Seq to, std::int64_t end, std::string& line) const {
  const auto entries = log_->entries({to.value - 1}, to, 1, false);
  if (entries.empty()) {
    return end;
  }
  const MessageLog::LogEntry& last = entries.front();
  FileWindow window(log_->fd(), log_->file());
  REPRISE_ASSIGN(const std::string_view bytes,
                 window.view(last.offset, static_cast<std::size_t>(last.length)));
  const auto found = find_trailer(bytes);
  if (!found || found->trailer->ends_batch()) {
    return end;
  }
  REPRISE_ASSIGN(const Line read, read_line(bytes));
  Trailer trailer = *found->trailer;
  trailer.of = trailer.number;
  trailer.state = state_of(after_, read.message.created_at);
  REPRISE_ASSIGN(const ToolNames names, names_for(trailer.seq, {read.message}));
  REPRISE_TRY(append_line(line, last.offset, read.message, std::move(trailer), names));
  return last.offset;
}

// Replaces messages.jsonl. Until the rename, its metadata is stored in the member `cut`. The
// replaced messages are copied last, so that a replacement that fails has not copied them.
Result<> ChatWriter::replace(Seq from, const std::vector<Message>& messages,
                             const AppendOptions& options) {
  const LogState log = log_->state();
  const auto entries = log_->entries(from, log.head, 1, false);
  const std::int64_t begin = entries.empty() ? log.end : entries.front().offset;
  REPRISE_ASSIGN(const bool has_lines, ends_line(log_->fd(), begin, log_->file()));
  const auto fill = [&](int out) -> Result<> {
    std::int64_t start = begin;
    if (!has_lines) {
      REPRISE_ASSIGN(start, rewrite(out, from));
    }
    REPRISE_ASSIGN(std::string lines, encode(start, from, messages, options));
    if (has_lines) {
      if (messages.empty()) {
        REPRISE_ASSIGN(start, end_batch(from, begin, lines));
      }
      FileWindow window(log_->fd(), log_->file());
      REPRISE_TRY(copy_bytes(window, 0, start, out, log_->file()));
    }
    return write_all(out, lines, log_->file());
  };
  LogPoint point;
  REPRISE_ASSIGN(const Described described, describe(*log_, from, messages));
  const auto record_truncation = [&](const fs::path& temporary) -> Result<> {
    if (options.operation && messages.empty()) {
      add_operation(after_, *options.operation, from, from);
    }
    REPRISE_ASSIGN(point, point_at_end(temporary));
    metadata_.after_truncation = ChatMetadata{after_, point, described};
    REPRISE_TRY(write_metadata(folder_, metadata_));
    return append_replaced(begin);
  };
  REPRISE_TRY(replace_file(log_->file(), fill, record_truncation));
  metadata_.current = {std::move(after_), point, described};
  metadata_.after_truncation.reset();
  // The replacement is complete. If this fails, the member `cut` says the same until the next
  // write.
  (void)write_metadata(folder_, metadata_);
  return {};
}

}  // namespace reprise::store::chatdir
