#pragma once

// One chat in its folder. What readers need they read, without waiting for anybody; who changes
// something holds the chat's lock file for as long as it takes.

#include <sys/stat.h>
#include <sys/types.h>

#include <mutex>

#include "base/file.h"
#include "base/lock_file.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {

class MessageLog;

// Thread-safe. It stays usable when its folder has been moved away, but says not_found then.
class Chat {
 public:
  static Result<std::shared_ptr<Chat>> open(Layout layout, SessionId id, Place place,
                                            ChatSettings settings);

  // Whether the folder is still where it was.
  Result<bool> is_in_place() const;
  // Whether a crash has left it half archived or restored: lock() refuses it until that is
  // finished.
  Result<bool> is_unfinished() const;
  const Place& place() const { return place_; }
  const SessionId& id() const { return id_; }

  // As a reader finds it: the session, its todos, its running answer without the text, whose lease
  // is the one that it began with.
  Result<StoredSession> load();
  // The same with the lease as it is now.
  Result<StoredSession> load_with_lease();
  // What is wrong with the chat apart from its messages.
  Result<std::vector<Damage>> damage();
  Result<ReadReport> read(const ReadRange& range, const MessageSink& sink);
  Result<std::optional<Partial>> find_partial();

  // append() without `from`, else replace_suffix().
  Result<Appended> write(std::optional<Seq> from, const std::vector<Message>& messages,
                         const AppendOptions& options);
  // Changes what stands in reprise.json. Returns the session as it is afterwards.
  Result<StoredSession> change(const std::function<Result<>(StoredSession&)>& edit);
  Result<> add_partial(const OperationId& answer, std::span<const Block> delta);
  Result<> renew(const OperationId& answer, const Lease& lease);

  // Held by whoever changes or moves the chat. not_found when it was moved away meanwhile.
  Result<LockFile::Hold> lock();

 private:
  // Tells the folder from another one of its name; nullopt: there is none.
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
    // Stays open, so that no other file gets the inode number in the stamp.
    std::shared_ptr<const Fd> open = {};
  };

  Chat(Layout layout, SessionId id, Place place, ChatSettings settings, Identity identity);

  std::filesystem::path file(std::string_view name) const { return place_.folder / name; }
  static Result<Identity> identity_of(const std::filesystem::path& folder);
  static Stamp stamp_of(const struct stat& status);
  Result<Stamp> stamp_of_metadata() const;
  Result<ReadMetadata> metadata();
  // The log when it is open already and good; null when it is not.
  Result<std::shared_ptr<MessageLog>> open_log();
  Result<std::shared_ptr<MessageLog>> log();
  Result<std::shared_ptr<MessageLog>> log_to_write();
  Result<LogState> state();
  Result<StoredSession> session(const MetadataFile& metadata, const LogState& state);
  Result<> check_runs(const OperationId& answer);
  void remember(std::shared_ptr<MessageLog> log);
  Result<bool> is_damage(const LogState& state) const;
  Result<ReadReport> nothing_or(Error error) const;

  const Layout layout_;
  const SessionId id_;
  const Place place_;
  const ChatSettings settings_;
  const Identity identity_;
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<LockFile> lock_;
  std::optional<ReadMetadata> metadata_;
  std::shared_ptr<MessageLog> log_;
  bool log_remembers_ = false;  // it knows the operations of what was replaced
};

}  // namespace reprise::store::chatdir
