#pragma once

// A format whose files are read and replaced as a whole, and what a file contains. The format
// defines bytes and file names; the rules of a store (who may write when, what an append is) are in
// document_store.h.

#include <algorithm>
#include <filesystem>  // IWYU pragma: export

#include "reprise/store.h"
#include "store/stored_session.h"

namespace reprise::store {

// An entry among the messages of the file that is not a message; it is written back in its place.
struct RawEntry {
  std::int64_t before = 0;  // the seq of the following message
  RawJson json;
  std::string bytes = {};  // as in the file, if the format writes them back unchanged
  friend bool operator==(const RawEntry&, const RawEntry&) = default;
};

// The first `count` messages (and the raw entries before them), encoded in a form private to the
// format. Saves encoding all messages again for each append.
struct EncodedMessages {
  std::string text;
  std::int64_t count = 0;
  // The end of each message's text; a format that does not record it encodes everything again when
  // messages are replaced.
  std::vector<std::size_t> ends = {};
  // The signed form of the text, if it is known; "" if it is `text` itself.
  bool signed_is_known = false;
  std::string signed_as = {};

  // Keeps at most the first `messages`.
  void truncate(std::int64_t messages);
};

// A part of the file that another program spelled differently from us, or that cannot be read. As
// long as we would write `written` for it ("" for nothing), its bytes are preserved.
struct PreservedText {
  std::string position;
  std::string written;
  std::string bytes;
};

struct FileSession {
  StoredSession stored;
  std::vector<RawEntry> raw_entries = {};  // by position
  std::vector<RawEntry> raw_todos = {};    // the same among the todos
  std::vector<Damage> damage = {};         // parts of the file that could not be read
  std::vector<Damage> gaps = {};           // parts that never existed: reported, but not as damage
  EncodedMessages encoded = {};
  std::vector<PreservedText> preserved = {};
};

// A new session with the given fields, except those derived from messages.
FileSession new_file_session(const Session& session);

// Appends a decoded message: sets its seq and counts its usage.
void add_message(StoredSession& stored, Message message);

// The intact members, and entries of "conversation", of a truncated JSON object as an object; "" if
// no entry is intact.
std::string salvage_truncated(std::string_view json);

// The contents of one file: one session, or several in the order of the file.
struct Document {
  std::vector<FileSession> sessions;
  Extra extra = {};                        // of the file, outside the sessions
  std::vector<RawEntry> raw_entries = {};  // entries that are not sessions, by position
  std::vector<Damage> damage = {};         // damage outside the sessions
  // Set if the file's bytes contain something that the members above cannot represent. The bytes
  // are quarantined (quarantine_suffix()) before the file is replaced.
  std::optional<Damage> unreadable = {};
  // Set if a part of ours is not in the sessions because it was about something that another
  // program has replaced: why. The bytes are quarantined likewise.
  std::string outlived = {};
};

inline auto has_id(const SessionId& id) {
  return [&id](const FileSession& session) { return session.stored.session.info.id == id; };
}
// The session's position in the document.
auto find_session(auto& document, const SessionId& id) {
  return std::ranges::find_if(document.sessions, has_id(id));
}

// The first part of the suffix of quarantined files.
inline constexpr std::string_view kQuarantineSuffix = "bak";

// For changes, called under the store's locks; for reading, from any thread. Its only state is
// internally synchronized.
class DocumentFormat {
 public:
  virtual ~DocumentFormat() = default;

  // What its sessions can hold. The store adds the interfaces.
  virtual SourceCapabilities capabilities() const = 0;
  // Larger files are refused: invalid_argument when reading, unsupported when writing.
  virtual std::int64_t file_bytes_max() const { return std::int64_t{1} << 30; }
  // The suffix of quarantined files: FILE.SUFFIX, beginning with kQuarantineSuffix.
  virtual std::string quarantine_suffix() const { return std::string(kQuarantineSuffix); }
  // The folder or the single file of the store.
  virtual const std::filesystem::path& root() const = 0;
  // A property of the format, constant while the store is open; the disk is not consulted.
  virtual bool is_folder() const { return false; }
  // Whether the file contains only whole turns: a running one is stored beside it (partial_file.h).
  virtual bool stores_whole_turns() const { return false; }
  // Then the pending turn of its only session is in this file.
  virtual std::filesystem::path pending_file() const { return {}; }
  // The bytes of the pending turn for a copy of the store: a session's id may depend on the path.
  virtual std::string pending_bytes_for(const std::filesystem::path& /*copy*/,
                                        std::string bytes) const {
    return bytes;
  }
  // The lock of writers, beside the root or in it; never a file of the format.
  virtual std::filesystem::path lock_file() const = 0;
  virtual Result<std::filesystem::path> partial_file(const SessionId& id) const = 0;
  // The partial file's path in the trash, if a session's file is moved there unchanged; "" if it
  // cannot be.
  virtual std::filesystem::path partial_in_trash(const SessionId& /*id*/) const { return {}; }

  // The file that should contain the session, determined without reading it; nullopt if there is
  // none.
  virtual Result<std::optional<std::filesystem::path>> find_file(const SessionId& id) const = 0;
  // Every file of the store, for verify() and backup().
  virtual Result<std::vector<std::filesystem::path>> files() const = 0;
  // The file for a session in this state. If it differs from the current one, the session is moved
  // there.
  virtual std::filesystem::path path_of(const Session& session) const = 0;
  // The same for a trashed session; the path may depend on the state that it had before.
  virtual std::filesystem::path trash_path(const Session& session, SessionState /*before*/) const {
    return path_of(session);
  }
  // The folders that the store writes to. They are created with the first write, since it may be
  // impossible on a full disk.
  virtual std::vector<std::filesystem::path> folders() const { return {}; }

  // corrupt for bytes that are not in this format at all; partial damage is in the sessions. `file`
  // determines what the bytes do not contain (the id, the state).
  virtual Result<Document> decode(const std::filesystem::path& file,
                                  std::string_view bytes) const = 0;
  // The readable parts of a file that decode() refuses or finds unreadable, for repairs; nullopt if
  // there are none.
  virtual std::optional<Document> salvage(const std::filesystem::path& /*file*/,
                                          std::string_view /*bytes*/) const {
    return std::nullopt;
  }
  // May update the sessions' `encoded`. unsupported, with the reason, for what the format cannot
  // hold.
  virtual Result<std::string> encode(Document& document) const = 0;

  // For formats without messages: unsupported for messages that cannot be appended, and the effect
  // of an append. after_append() returns the result of append().
  virtual Result<> check_append(const std::vector<Message>& /*messages*/) const { return {}; }
  virtual AppendResult after_append(StoredSession& /*stored*/, const AppendOptions& /*options*/,
                                    const AppendResult& appended) const {
    return appended;
  }

  // Called if a program that ignores the lock has replaced the file, so that parts of `written` may
  // be missing in `found`. Returns both merged.
  virtual Document merge(const Document& /*written*/, Document found) const { return found; }

  // What the format keeps beside its files: written before a file is replaced, removed before it is
  // removed, copied by backups and repairs. Called under the lock; sweep() by each process once.
  virtual Result<> before_write(const std::filesystem::path& /*file*/,
                                std::string_view /*bytes*/) const {
    return {};
  }
  virtual Result<> before_remove(const SessionId& /*id*/) const { return {}; }
  virtual Result<std::vector<std::filesystem::path>> files_beside() const {
    return std::vector<std::filesystem::path>();
  }
  virtual void sweep() const {}

  // Called if another program has made the file while the first turn of this new session, which it
  // has no room for, was running. Makes what is in the file the beginning of the session; false if
  // that is a session of ours.
  virtual bool join(Document& /*found*/, const FileSession& /*session*/) const { return false; }

  virtual bool has_signatures() const { return false; }
  // The current file's signature. If it is failed, the store refuses to change the file.
  virtual Result<Signature> signature(const std::filesystem::path& /*file*/) const {
    return Signature::not_signed;
  }

  // The list entries of all sessions, in any order, if they can be determined without reading whole
  // files; otherwise nullopt. Omitted sessions are reported in `damage`.
  virtual Result<std::optional<std::vector<SessionInfo>>> infos(
      std::vector<Damage>& /*damage*/) const {
    return std::nullopt;
  }
};

}  // namespace reprise::store
