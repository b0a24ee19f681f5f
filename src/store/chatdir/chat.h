#pragma once

// One chat in its folder. Readers take no locks; whoever changes something holds the chat's lock
// file during the change.

#include <sys/stat.h>
#include <sys/types.h>

#include <atomic>
#include <mutex>

#include "base/file.h"
#include "base/lock_file.h"
#include "reprise/store.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {

class MessageLog;

// Thread-safe. Returns not_found once its folder has been moved.
class Chat {
 public:
  static Result<std::shared_ptr<Chat>> open(Layout layout, SessionId id, Location location,
                                            ChatSettings settings);

  // Whether the folder is still in its original place.
  Result<bool> is_in_place() const;
  // Whether an archiving or restoring was interrupted by a crash: lock() refuses the chat until
  // that is finished.
  Result<bool> has_pending_move() const;
  const Location& location() const { return location_; }
  const SessionId& id() const { return id_; }

  // Loads the session for reading: its todos and its running answer without the text, and with the
  // lease that the answer started with.
  Result<StoredSession> load();
  // The same with the current lease.
  Result<StoredSession> load_with_lease();
  // Whether the messages are those that our other files describe. Another program may have removed
  // them and begun another conversation.
  Result<bool> is_described();
  // The damage of the chat except that of its messages.
  Result<std::vector<Damage>> damage();
  Result<ReadReport> read(const ReadRange& requested, const MessageSink& sink);
  Result<std::optional<Partial>> find_partial();

  // append() if `from` is not set, otherwise replace_suffix().
  Result<AppendResult> write(std::optional<Seq> from, const std::vector<Message>& messages,
                             const AppendOptions& options);
  // Changes reprise.json. Returns the changed session.
  Result<StoredSession> change(const std::function<Result<>(StoredSession&)>& edit);
  Result<> add_partial(const OperationId& answer, std::span<const Block> delta);
  Result<> renew(const OperationId& answer, const Lease& lease);

  // The lock for changing or moving the chat. not_found if it was moved meanwhile.
  Result<LockFile::Hold> lock();

 private:
  // Distinguishes the folder from another one with the same name; nullopt if there is none.
  using Identity = std::optional<std::pair<dev_t, ino_t>>;
  struct Stamp {
    ino_t inode = 0;
    std::int64_t size = -1;
    std::int64_t changed = 0;  // nanoseconds
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct ReadMetadata {
    std::shared_ptr<const MetadataFile> metadata;
    Stamp stamp;
    std::optional<Damage> damage;
    // Kept open so that the inode number in the stamp is not reused.
    std::shared_ptr<const Fd> open = {};
  };

  Chat(Layout layout, SessionId id, Location location, ChatSettings settings, Identity identity);

  std::filesystem::path file(std::string_view name) const { return location_.folder / name; }
  static Result<Identity> identity_of(const std::filesystem::path& folder);
  static Stamp stamp_of(const struct stat& status);
  Result<Stamp> stamp_of_metadata() const;
  Result<ReadMetadata> metadata();
  // The log if it is already open and up to date, otherwise null.
  Result<std::shared_ptr<MessageLog>> open_log();
  Result<std::shared_ptr<MessageLog>> log();
  Result<std::shared_ptr<MessageLog>> log_to_write();
  Result<LogState> state();
  Result<StoredSession> session(const MetadataFile& metadata, const LogState& state);
  Result<bool> is_described(const MetadataFile& metadata, const LogState& state);
  Result<MetadataFile> derive_anew();
  Result<StoredSession> session_anew(const LogState& state);
  Result<> put_aside_replaced();
  Result<> check_runs(const OperationId& answer);
  void cache_log(std::shared_ptr<MessageLog> log);
  Result<bool> is_damage(const LogState& state) const;
  Result<ReadReport> empty_if_no_log(Error error) const;

  const Layout layout_;
  const SessionId id_;
  const Location location_;
  const ChatSettings settings_;
  const Identity identity_;
  std::mutex mutex_;  // guards the members below
  std::unique_ptr<LockFile> lock_;
  std::optional<ReadMetadata> metadata_;
  std::shared_ptr<MessageLog> log_;
  std::atomic<bool> is_swept_ = false;  // lock() was held before
  bool log_indexes_replaced_ = false;   // the log includes the operations of replaced messages
};

}  // namespace reprise::store::chatdir
