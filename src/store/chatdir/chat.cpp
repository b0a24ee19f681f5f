#include "store/chatdir/chat.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <mutex>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/chat_writer.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/message_log.h"
#include "store/chatdir/move_journal.h"
#include "store/chatdir/step_usage.h"
#include "store/document/partial_file.h"
#include "store/paths.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

// After this many attempts, the last version of constantly changing metadata is used.
constexpr int kAttempts = 10;

}  // namespace

Result<std::shared_ptr<Chat>> Chat::open(Layout layout, SessionId id, Location location,
                                         ChatSettings settings) {
  REPRISE_ASSIGN(const Identity identity, identity_of(location.folder));
  return std::shared_ptr<Chat>(new Chat(std::move(layout), std::move(id), std::move(location),
                                        std::move(settings), identity));
}

Chat::Chat(Layout layout, SessionId id, Location location, ChatSettings settings, Identity identity)
    : layout_(std::move(layout)),
      id_(std::move(id)),
      location_(std::move(location)),
      settings_(std::move(settings)),
      identity_(identity) {}

Result<Chat::Identity> Chat::identity_of(const fs::path& folder) {
  REPRISE_ASSIGN(const auto status, find_status(folder));
  return status ? Identity({status->st_dev, status->st_ino}) : Identity();
}

Result<bool> Chat::is_in_place() const {
  REPRISE_ASSIGN(const Identity now, identity_of(location_.folder));
  return identity_ && now == identity_;
}

Result<bool> Chat::has_pending_move() const {
  const auto unfinished = find_pending_move(layout_);
  if (!unfinished && unfinished.error().code == Code::corrupt) {
    return true;
  }
  REPRISE_TRY(unfinished);
  const std::optional<PendingMove>& moving = *unfinished;
  return moving && moving->id == id_;
}

namespace {

// Removes temporary files that killed processes left in the folder and those below it. The caller
// holds the chat's lock, under which all of its files are written.
void sweep_folders(const fs::path& folder) {
  sweep_temporary_files(folder, [](std::string_view) { return true; });
  const auto entries = list_if_exists(folder);
  if (!entries) {
    return;  // only a cleanup
  }
  for (const fs::directory_entry& entry : *entries) {
    const auto kind = kind_of_entry(entry);
    if (kind && *kind == FileKind::folder) {
      sweep_folders(entry.path());
    }
  }
}

}  // namespace

Result<LockFile::Hold> Chat::lock() {
  if (settings_.access == Access::read) {
    return std::unexpected(read_only(layout_.root().native()));
  }
  LockFile* file = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (lock_ == nullptr) {
      REPRISE_ASSIGN(lock_, LockFile::open(this->file(kLockFile)));
    }
    file = lock_.get();
  }
  auto hold = take_lock(*file, std::chrono::steady_clock::now() + settings_.busy_timeout);
  REPRISE_ASSIGN(const bool is_in_place, is_in_place());
  if (!is_in_place) {
    return std::unexpected(no_session(id_));
  }
  if (!hold) {
    return hold;
  }
  REPRISE_ASSIGN(const bool is_moving, has_pending_move());
  if (is_moving) {
    return fail(Code::busy, cat("session ", id_.str(), " is being archived or restored"));
  }
  if (!is_swept_.exchange(true)) {
    sweep_folders(location_.folder);
  }
  return hold;
}

Chat::Stamp Chat::stamp_of(const struct stat& status) {
  return {
      status.st_ino, status.st_size,
      (static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000) + status.st_mtim.tv_nsec};
}

Result<Chat::Stamp> Chat::stamp_of_metadata() const {
  REPRISE_ASSIGN(const auto status, find_status(file(kMetadataFile)));
  return status ? stamp_of(*status) : Stamp();
}

Result<Chat::ReadMetadata> Chat::metadata() {
  REPRISE_ASSIGN(const Stamp before, stamp_of_metadata());
  {
    const std::lock_guard lock(mutex_);
    if (metadata_ && metadata_->stamp == before) {
      return *metadata_;
    }
  }
  ReadMetadata read{.metadata = nullptr, .stamp = {}, .damage = {}};
  REPRISE_ASSIGN(auto opened, if_exists(open_file(file(kMetadataFile), O_RDONLY)));
  std::optional<std::string> bytes;
  if (opened) {
    REPRISE_ASSIGN(const struct stat status, status_of(opened->get(), file(kMetadataFile)));
    read.open = std::make_shared<const Fd>(*std::move(opened));
    read.stamp = stamp_of(status);
    REPRISE_ASSIGN(bytes, if_exists(read_file(file(kMetadataFile))));
  }
  auto metadata = bytes ? metadata_from_json(id_, *bytes)
                        : derive_metadata(layout_, location_.folder, id_, settings_.working_dir,
                                          settings_.scope);
  if (!metadata) {
    if (!bytes) {
      return std::unexpected(std::move(metadata).error());
    }
    read.damage =
        Damage{cat(id_.str(), "/", kMetadataFile), metadata.error().message, excerpt_of(*bytes)};
    metadata =
        derive_metadata(layout_, location_.folder, id_, settings_.working_dir, settings_.scope);
    REPRISE_TRY(metadata);
  }
  read.metadata = std::make_shared<const MetadataFile>(*std::move(metadata));
  REPRISE_ASSIGN(const Stamp after, stamp_of_metadata());
  if (after == read.stamp) {
    const std::lock_guard lock(mutex_);
    metadata_ = read;
  }
  return read;
}

Result<std::shared_ptr<MessageLog>> Chat::open_log() {
  std::shared_ptr<MessageLog> log;
  {
    const std::lock_guard lock(mutex_);
    log = log_;
  }
  if (log == nullptr) {
    return log;
  }
  REPRISE_ASSIGN(const bool same, log->refresh());
  return same ? log : nullptr;
}

void Chat::cache_log(std::shared_ptr<MessageLog> log) {
  const std::lock_guard lock(mutex_);
  log_ = std::move(log);
  log_indexes_replaced_ = false;
}

Result<std::shared_ptr<MessageLog>> Chat::log() {
  REPRISE_ASSIGN(std::shared_ptr<MessageLog> log, open_log());
  if (log == nullptr) {
    REPRISE_ASSIGN(log, MessageLog::open(file(kMessagesFile)));
    cache_log(log);
  }
  return log;
}

Result<LogState> Chat::state() {
  REPRISE_ASSIGN(std::shared_ptr<MessageLog> log, open_log());
  if (log != nullptr) {
    return log->state();
  }
  REPRISE_ASSIGN(auto peeked, if_exists(peek_state(file(kMessagesFile))));
  if (!peeked) {
    return LogState::of_nothing();
  }
  if (*peeked) {
    return **std::move(peeked);
  }
  REPRISE_ASSIGN(log, this->log());
  return log->state();
}

Result<StoredSession> Chat::session(const MetadataFile& metadata, const LogState& state) {
  StoredSession stored = session_at(metadata, state);
  if (settings_.scope == MetadataScope::all && lacks_usage_of_others(metadata, state)) {
    REPRISE_ASSIGN(const std::shared_ptr<MessageLog> log, this->log());
    const std::int64_t from = metadata.at(point_of(state)).log.end;
    REPRISE_ASSIGN(const Usage others, usage_added_by_others(*log, from, location_.folder));
    add_usage(stored.session.usage, others);
  }
  return stored;
}

Result<StoredSession> Chat::load() {
  for (int tries = 1;; ++tries) {
    REPRISE_ASSIGN(const ReadMetadata metadata, this->metadata());
    REPRISE_ASSIGN(const LogState state, this->state());
    // One write changes both files, so they must be read at the same state.
    REPRISE_ASSIGN(const Stamp now, stamp_of_metadata());
    if (now != metadata.stamp && tries < kAttempts) {
      continue;
    }
    REPRISE_ASSIGN(const bool is_described, this->is_described(*metadata.metadata, state));
    REPRISE_ASSIGN(StoredSession stored,
                   is_described ? session(*metadata.metadata, state) : session_anew(state));
    if (location_.is_trashed()) {
      stored.state_before_trash = std::exchange(stored.session.info.state, SessionState::trashed);
    }
    return stored;
  }
}

Result<StoredSession> Chat::load_with_lease() {
  REPRISE_ASSIGN(StoredSession stored, load());
  if (stored.partial) {
    REPRISE_ASSIGN(const auto lease, read_lease(file(kAnswerFile), stored.partial->answer));
    if (lease) {
      set_lease(stored, *lease);
    }
  }
  return stored;
}

Result<std::vector<Damage>> Chat::damage() {
  std::vector<Damage> damage;
  REPRISE_ASSIGN(ReadMetadata metadata, this->metadata());
  if (metadata.damage) {
    damage.push_back(*std::move(metadata.damage));
  }
  REPRISE_ASSIGN(const bool has_messages, file_exists(file(kMessagesFile)));
  if (!has_messages) {
    damage.push_back({id_.str(), cat("has no ", kMessagesFile), ""});
  }
  return damage;
}

// Bytes that are being written, or that were completed meanwhile, are not damage.
Result<bool> Chat::is_damage(const LogState& state) const {
  REPRISE_ASSIGN(const bool is_written_to, LockFile::is_held(file(kLockFile)));
  if (is_written_to) {
    return false;
  }
  REPRISE_ASSIGN(const auto now, if_exists(point_at_end(file(kMessagesFile))));
  return now && now->end == state.size;
}

// A chat in its place may have no messages yet.
Result<ReadReport> Chat::empty_if_no_log(Error error) const {
  if (error.code == Code::not_found) {
    REPRISE_ASSIGN(const bool is_in_place, is_in_place());
    if (is_in_place) {
      return ReadReport{};
    }
  }
  return std::unexpected(std::move(error));
}

Result<ReadReport> Chat::read(const ReadRange& requested, const MessageSink& sink) {
  const std::string name = cat(id_.str(), "/", kMessagesFile);
  AnswerUsages usages(location_.folder);
  LogReading reading{[this](const LogState& state) { return is_damage(state); }, name, &usages};
  REPRISE_ASSIGN(std::shared_ptr<MessageLog> log, open_log());
  ReadRange range = requested;
  if (log == nullptr && range.newest_first) {
    const auto newest = read_newest(file(kMessagesFile), range, sink);
    if (!newest) {
      return empty_if_no_log(newest.error());
    }
    if (newest->is_complete) {
      return ReadReport{};
    }
    range.to = newest->next;
  }
  if (log == nullptr && range.from.value <= 0 && range.to == kSeqEnd && !range.newest_first) {
    auto first = read_first(file(kMessagesFile), kSeqEnd, reading, sink);
    if (first && first->log != nullptr) {
      cache_log(std::move(first->log));
    }
    return first ? std::move(first->report) : empty_if_no_log(std::move(first).error());
  }
  if (log == nullptr) {
    auto opened = this->log();
    if (!opened) {
      return empty_if_no_log(std::move(opened).error());
    }
    log = *std::move(opened);
  }
  if (log->has_lines_of_others()) {
    usages.begin_in(*log, range.newest_first);
  } else {
    reading.usages = nullptr;
  }
  return read_messages(*log, range, reading, sink);
}

Result<std::optional<Partial>> Chat::find_partial() {
  REPRISE_ASSIGN(StoredSession stored, load_with_lease());
  if (stored.partial) {
    REPRISE_ASSIGN(stored.partial->blocks, read_partial(file(kAnswerFile), stored.partial->answer));
  }
  return std::move(stored.partial);
}

// The caller holds the lock, so that the answer cannot end, and another one start, in between.
Result<> Chat::check_runs(const OperationId& answer) {
  REPRISE_ASSIGN(const StoredSession stored, load());
  if (!stored.partial || stored.partial->answer != answer) {
    return std::unexpected(answer_not_running(id_, answer));
  }
  return {};
}

Result<> Chat::add_partial(const OperationId& answer, std::span<const Block> delta) {
  REPRISE_ASSIGN(const LockFile::Hold hold, lock());
  REPRISE_TRY(check_runs(answer));
  return store::add_partial(file(kAnswerFile), answer, delta);
}

Result<> Chat::renew(const OperationId& answer, const Lease& lease) {
  REPRISE_ASSIGN(const LockFile::Hold hold, lock());
  REPRISE_TRY(check_runs(answer));
  return add_lease(file(kAnswerFile), answer, lease);
}

// The log including the operations of replaced messages; created if it is missing. The caller holds
// the lock.
Result<std::shared_ptr<MessageLog>> Chat::log_to_write() {
  REPRISE_ASSIGN(const auto opened, if_exists(this->log()));
  if (!opened) {
    REPRISE_TRY(open_file(file(kMessagesFile), O_WRONLY | O_CREAT, 0600));
    REPRISE_TRY(sync_folder(location_.folder));
  }
  REPRISE_ASSIGN(std::shared_ptr<MessageLog> log, opened ? *opened : this->log());
  {
    const std::lock_guard lock(mutex_);
    if (log_indexes_replaced_) {
      return log;
    }
  }
  REPRISE_TRY(log->index_replaced(file(kReplacedFile)));
  const std::lock_guard lock(mutex_);
  log_indexes_replaced_ = log_ == log;
  return log;
}

Result<AppendResult> Chat::write(std::optional<Seq> from, const std::vector<Message>& messages,
                                 const AppendOptions& options) {
  REPRISE_ASSIGN(const LockFile::Hold hold, lock());
  REPRISE_TRY(put_aside_replaced());
  REPRISE_ASSIGN(const std::shared_ptr<MessageLog> log, log_to_write());
  REPRISE_ASSIGN(const ReadMetadata metadata, this->metadata());
  ChatWriter writer(location_.folder, *metadata.metadata, log, settings_.messages_max);
  auto done = writer.write(from, messages, options);
  if (done && !done->repeated && options.end_partial) {
    // A leftover file would belong to an answer that is no longer running, so nobody reads it.
    (void)remove_if_exists(file(kAnswerFile));
  }
  return done;
}

Result<StoredSession> Chat::change(const std::function<Result<>(StoredSession&)>& edit) {
  REPRISE_ASSIGN(const LockFile::Hold hold, lock());
  REPRISE_TRY(put_aside_replaced());
  REPRISE_ASSIGN(const ReadMetadata read, this->metadata());
  REPRISE_ASSIGN(const LogState state, this->state());
  MetadataFile metadata = *read.metadata;
  REPRISE_ASSIGN(StoredSession session, this->session(metadata, state));
  if (location_.is_trashed()) {
    session.state_before_trash = std::exchange(session.session.info.state, SessionState::trashed);
  }
  REPRISE_TRY(edit(session));
  REPRISE_ASSIGN(const auto log, if_exists(this->log()));
  REPRISE_ASSIGN(Described described,
                 log ? describe(**log, state.head) : Result<Described>(Described()));
  metadata.current = {session, point_of(state), std::move(described)};
  metadata.after_truncation.reset();
  if (location_.is_trashed()) {
    metadata.current.stored.session.info.state = session.state_before_trash;
  }
  REPRISE_TRY(write_metadata(location_.folder, metadata));
  return session;
}

}  // namespace reprise::store::chatdir
