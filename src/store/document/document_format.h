#pragma once

// A format whose files are read whole and replaced whole. It knows bytes and places; the rules of
// a store (who may write when, what an append is) are in document_store.h.

#include "store/document/file_session.h"
#include "store/stored_session.h"

namespace reprise::store {

// What one file holds: one session, or several in the order of the file.
struct Document {
  std::vector<FileSession> sessions;
  Extra extra = {};                        // of the file, beside the sessions
  std::vector<RawEntry> raw_entries = {};  // entries that are no session, by place
  std::vector<Damage> damage = {};         // what belongs to no session; its bytes are in `kept`
  // The file's bytes say something that none of the above holds. Before the file is replaced they
  // are kept beside it (aside_suffix).
  std::optional<Damage> aside = {};
};

// With it begins what follows the name of a file in the names of those kept aside.
inline constexpr std::string_view kAside = "bak";

// Called under the store's locks for changes, from any thread for reading; it keeps no state but
// what it guards itself.
class DocumentFormat {
 public:
  virtual ~DocumentFormat() = default;

  // What its sessions can hold; its interfaces are the store's to give.
  virtual SourceCapabilities holds() const = 0;
  // A larger file is refused: invalid_argument when reading, unsupported when writing.
  virtual std::int64_t file_bytes_max() const { return std::int64_t{1} << 30; }
  // What a file that is kept aside is called: FILE.SUFFIX, which begins with kAside.
  virtual std::string aside_suffix() const { return std::string(kAside); }
  // The folder or the one file that the store is.
  virtual const std::filesystem::path& root() const = 0;
  // Of the format, and so for as long as the store is open: what the disk says is not asked.
  virtual bool is_folder() const { return false; }
  // The file holds whole turns only: one that runs is held beside it (pending_turn.h).
  virtual bool holds_whole_turns() const { return false; }
  // Then it is this one, of the only session there is.
  virtual std::filesystem::path pending_file() const { return {}; }
  // Its bytes as they belong beside a copy of the store: a session may be named by its place.
  virtual std::string pending_bytes_for(const std::filesystem::path& /*copy*/,
                                        std::string bytes) const {
    return bytes;
  }
  // Where writers queue. Beside the root or in it; never a file of the format.
  virtual std::filesystem::path lock_file() const = 0;
  virtual std::filesystem::path partial_file(const SessionId& id) const = 0;
  // Where it goes with a session whose file goes to the trash as it is; "" where it cannot.
  virtual std::filesystem::path partial_in_trash(const SessionId& /*id*/) const { return {}; }

  // The file that holds the session, as far as can be told without reading it; nullopt: none.
  virtual Result<std::optional<std::filesystem::path>> find_file(const SessionId& id) const = 0;
  // Every file of the store, for verify() and backup().
  virtual Result<std::vector<std::filesystem::path>> files() const = 0;
  // The file that a session in this state belongs into. Another one than where it is now: it is
  // moved there.
  virtual std::filesystem::path place(const Session& session) const = 0;
  // The same for one in the trash, where the place may tell which state it had.
  virtual std::filesystem::path trash_place(const Session& session, SessionState /*before*/) const {
    return place(session);
  }
  // Those that the store writes into, made when it is first written to: on a full disk none could
  // be made.
  virtual std::vector<std::filesystem::path> folders() const { return {}; }

  // corrupt for what cannot be this format at all; damage in parts is in the sessions. `file` says
  // what the bytes do not (the id, the state).
  virtual Result<Document> decode(const std::filesystem::path& file,
                                  std::string_view bytes) const = 0;
  // What can still be read of a file that decode() refuses, for repairs; nullopt: nothing.
  virtual std::optional<Document> salvage(const std::filesystem::path& /*file*/,
                                          std::string_view /*bytes*/) const {
    return std::nullopt;
  }
  // May bring the sessions' `encoded` up to date. unsupported for what the format cannot hold,
  // naming it.
  virtual Result<std::string> encode(Document& document) const = 0;

  // Of a format without messages: unsupported for what cannot be appended, and what becomes of what
  // was. Returns what append() returns.
  virtual Result<> check_append(const std::vector<Message>& /*messages*/) const { return {}; }
  virtual Appended after_append(StoredSession& /*stored*/, const AppendOptions& /*options*/,
                                const Appended& appended) const {
    return appended;
  }

  // The file was replaced by a program that does not know the lock, so that what was `written`
  // may be missing in what was `found`. Both together.
  virtual Document merge(const Document& /*written*/, Document found) const { return found; }

  virtual bool has_signatures() const { return false; }
  // Of the file as it is now. Failed: the store refuses to change it.
  virtual Result<Signature> signature(const std::filesystem::path& /*file*/) const {
    return Signature::not_signed;
  }

  // What lists say of all sessions, where less than whole files tells it; nullopt: it does not. In
  // any order; nothing is left out but with damage.
  virtual Result<std::optional<std::vector<SessionInfo>>> infos(
      std::vector<Damage>& /*damage*/) const {
    return std::nullopt;
  }
};

}  // namespace reprise::store
