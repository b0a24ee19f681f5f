#pragma once

// The documents of a store whose files are read and replaced as a whole: lookup, a cache that is
// valid while the file is unchanged, and changes, one at a time.
//
//  (1) A change is made under the lock, to the current contents of the file: read, edit, write,
//      replace. So no writer that takes the lock overwrites the changes of another, in any process.
//  (2) Readers take no lock: files are replaced as a whole, and loaded documents are immutable.
//  (3) A document whose write failed is not cached.
//  (4) Programs that ignore the lock are detected: a file that changed since it was read is read
//      again before it is replaced, and what this object wrote is merged with what they wrote
//      (DocumentFormat::merge). The window between this check and the rename is microseconds.

#include <map>
#include <mutex>
#include <set>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/reserve.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/document/document_format.h"

namespace reprise::store {

// Thread-safe.
class Documents {
 public:
  // `format` must outlive the object.
  Documents(const DocumentFormat& format, const StoreOptions& options)
      : format_(format), options_(options) {}

  const StoreOptions& options() const { return options_; }

  struct Loaded {
    std::shared_ptr<const Document> document;
    FileIdentity identity;
  };
  // A session with its document.
  struct Found {
    std::filesystem::path file;
    Loaded loaded;
    const FileSession* session;
    bool is_unsaved = false;  // not in the file yet
  };
  // Includes the pending turn beside the file.
  Result<std::optional<Found>> find(const SessionId& id);
  // not_found for an unknown session.
  Result<Found> get(const SessionId& id);
  Result<Loaded> load(const std::filesystem::path& file);
  // The list entries of all sessions, in any order.
  Result<std::vector<SessionInfo>> infos(std::vector<Damage>& damage);
  // Verified once for each version of a file.
  Result<Signature> signature(const Found& found);

  // The lock, held for the lifetime of the result.
  Result<LockFile::Hold> lock();
  // Whether the calling thread holds it.
  bool is_locked();

  // moved: only the state has changed, which the path of the file may represent. pending: the
  // change is beside the file.
  enum class Outcome : std::uint8_t { changed, moved, pending, unchanged };
  using Edit = std::function<Result<Outcome>(FileSession& session)>;
  enum class Trust : std::uint8_t { signature, any };
  // Changes one session and moves it to the place of its new state. Durable on disk. corrupt for a
  // file whose signature failed. `on_done` is called before others may change it.
  Result<> edit(const SessionId& id, const Edit& edit, Trust trust = Trust::signature,
                const std::function<void()>& on_done = {});
  // conflict if the id exists.
  Result<> add(FileSession session);
  // The same for a session that is added to the file with its first turn (if the store holds whole
  // turns): until then it is beside the file together with the pending part of that turn, and
  // before that in memory. A cancelled turn leaves no trace.
  Result<> begin(FileSession session);
  // The session's JSON beside the file; "" for a session that was not begun by this object.
  Result<std::string> encode_unsaved(const SessionId& id);
  Result<> remove(const SessionId& id);
  // The quarantined files of all sessions.
  Result<std::vector<Remnant>> remnants() const;
  // Runs a deletion; on a full disk, with the reserved space.
  Result<> delete_with_reserve(const std::function<Result<>()>& work) {
    return with_reserve(format_.lock_file(), work);
  }

 private:
  void sweep() const;
  // The folders that contain files of the store.
  std::vector<std::filesystem::path> folders() const;
  bool is_ours(const std::filesystem::path& folder, std::string_view name) const;
  using LoadedFiles = std::map<std::filesystem::path, Loaded>;
  static constexpr std::size_t kCachedMax = 16;

  // A file to be replaced, with its identity when it was read; none if it did not exist.
  struct Target {
    std::filesystem::path file;
    std::optional<FileIdentity> identity;
  };

  Result<std::optional<Found>> find_in_file(const SessionId& id);  // or in memory, or beside it
  Result<std::optional<Found>> find_written(const SessionId& id);
  Result<std::optional<Found>> find_unsaved(const SessionId& id);
  Result<FileSession> read_unsaved(const std::string& json) const;
  bool update_unsaved(const SessionId& id, const FileSession& changed);
  Result<> check_room(const FileSession& session);
  void forget_unsaved(const SessionId& id);
  std::vector<SessionId> unsaved_ids(std::vector<Damage>& damage);
  void add_unsaved(const std::vector<SessionId>& ids, std::vector<SessionInfo>& infos,
                   std::vector<Damage>& damage);
  // A document to be written, and the identity of the file when it was read.
  struct Draft {
    Document document;
    std::optional<FileIdentity> identity;
  };
  Result<Draft> draft_of(const Found& found, bool may_join = false);
  Result<Draft> draft_to_edit(const Found& found, const SessionId& id);
  // Of a file as it is now; empty if there is none.
  Result<Draft> draft_at(const std::filesystem::path& file);
  Result<bool> has_pending_turn(const SessionId& id) const;
  // Adds a pending turn to the file before its session is moved, because the file beside it is
  // shared by all sessions.
  Result<> merge_pending_turn(FileSession& session) const;
  std::shared_ptr<const Document> cached(const std::filesystem::path& file,
                                         const FileIdentity& identity);
  std::shared_ptr<const Document> last_written(const std::filesystem::path& file);
  static void cache_document(LoadedFiles& cache, const std::filesystem::path& file, Loaded loaded);
  void record_written(const std::filesystem::path& file, const FileIdentity& written,
                      Document document);
  void mark_changed(const SessionId& id);
  Result<> retry(const std::function<Result<bool>()>& attempt);
  Result<bool> edit_once(const SessionId& id, const Edit& edit, Trust trust);
  Result<> sync_folders(const std::filesystem::path& file, const StoredSession& stored) const;
  Result<> check_signature(const Found& found);
  // false if the file is no longer the target; then nothing is changed.
  Result<bool> write(const Target& target, Document document);
  Result<std::string> encoded(const std::filesystem::path& file, Document& document) const;
  Result<> quarantine_bytes(const std::filesystem::path& file, Document& document);
  Result<bool> move(const Target& from, const std::filesystem::path& to, Document document,
                    const SessionId& id);
  bool can_be_linked(const std::filesystem::path& file, const std::filesystem::path& to,
                     const SessionId& id) const;
  Result<> link_with_pending_turn(const std::filesystem::path& file,
                                  const std::filesystem::path& to, const SessionId& id) const;
  Result<> remove_partial_of(const SessionId& id) const;
  Result<> check_partial_path(const SessionId& id) const;
  Result<> restore_partial(const std::filesystem::path& trashed) const;
  std::filesystem::path path_for(const StoredSession& stored) const;
  static Result<> move_unchanged(const std::filesystem::path& from,
                                 const std::filesystem::path& to);
  Result<bool> move_session_file(const Found& from, const std::filesystem::path& to,
                                 Document document);
  bool is_obsolete(const std::filesystem::path& file, const Document& document) const;

  const DocumentFormat& format_;
  StoreOptions options_;
  std::mutex mutex_;  // guards the members below
  std::unique_ptr<LockFile> lock_;
  LoadedFiles cache_;
  LoadedFiles written_;  // the last versions that this object wrote
  std::set<SessionId> changed_;
  std::map<SessionId, FileSession> unsaved_;
  std::map<std::filesystem::path, FileIdentity> verified_;  // files with valid or no signatures
};

}  // namespace reprise::store
