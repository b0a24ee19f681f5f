// Replaces a file by a changed document, if that is allowed, and moves sessions to the place of
// their state.

#include <algorithm>
#include <mutex>

#include "base/assert.h"
#include "base/file.h"
#include "base/reserve.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/document/document_format.h"
#include "store/document/documents.h"
#include "store/document/partial_file.h"
#include "store/paths.h"
#include "store/stored_session.h"

namespace reprise::store {

namespace fs = std::filesystem;

namespace {

Result<> prepare_move(const fs::path& from, const fs::path& to) {
  REPRISE_TRY(check_target(from));
  remove_temporary_files(from);  // nobody writes there any more
  return make_private_folders(folder_of(to));
}

}  // namespace

Result<Signature> Documents::signature(const Found& found) {
  REPRISE_ASSIGN(const Signature signature, format_.signature(found.file));
  if (signature != Signature::failed) {
    const std::lock_guard lock(mutex_);
    if (verified_.size() >= kCachedMax) {
      verified_.clear();
    }
    verified_[found.file] = found.loaded.identity;
  }
  return signature;
}

// Checks the signature of what another program has written since.
Result<> Documents::check_signature(const Found& found) {
  const FileIdentity& identity = found.loaded.identity;
  {
    const std::lock_guard lock(mutex_);
    const auto ours = written_.find(found.file);
    const auto verified = verified_.find(found.file);
    if ((ours != written_.end() && ours->second.identity == identity) ||
        (verified != verified_.end() && verified->second == identity)) {
      return {};
    }
  }
  REPRISE_ASSIGN(const Signature signature, this->signature(found));
  if (signature == Signature::failed) {
    return fail(Code::corrupt, cat("the signature of ", found.file.native(),
                                   " does not match: another program changed it, or signed it on "
                                   "another host"));
  }
  return {};
}

// Whether a file beside the root has become empty and can be removed.
bool Documents::is_obsolete(const fs::path& file, const Document& document) const {
  return !format_.is_folder() && file != format_.root() && document.sessions.empty() &&
         document.raw_entries.empty() && !document.unreadable;
}

Result<bool> Documents::write(const Target& target, Document document) {
  REPRISE_ASSERT(is_locked());  // (1)
  const fs::path& file = target.file;
  if (is_obsolete(file, document)) {
    REPRISE_TRY(remove_file(file));
    return true;
  }
  bool is_target = true;
  FileIdentity written;
  const auto check = [&](const fs::path& temporary) -> Result<> {
    REPRISE_ASSIGN(const auto now, if_exists(identify(file)));
    is_target = now == target.identity;
    if (!is_target) {
      return fail(Code::conflict, cat(file.native(), " was replaced by another program"));
    }
    REPRISE_ASSIGN(written, identify(temporary));
    return {};
  };
  REPRISE_ASSIGN(const std::string bytes, encoded(file, document));
  REPRISE_TRY(quarantine_bytes(file, document));
  REPRISE_TRY(format_.before_write(file, bytes));
  if (auto replaced = replace_file(file, bytes, check); !replaced) {
    return is_target ? Result<bool>(std::unexpected(std::move(replaced).error())) : false;
  }
  record_written(file, written, std::move(document));
  return true;
}

Result<std::string> Documents::encoded(const fs::path& file, Document& document) const {
  REPRISE_ASSIGN(std::string bytes, format_.encode(document));
  if (static_cast<std::int64_t>(bytes.size()) > format_.file_bytes_max()) {
    return fail(Code::unsupported,
                cat("cannot write ", file.native(), ": it would have ", bytes.size(),
                    " bytes, and the format allows ", format_.file_bytes_max()));
  }
  return bytes;
}

Result<> Documents::quarantine_bytes(const fs::path& file, Document& document) {
  if (!document.unreadable && document.outlived.empty()) {
    return {};
  }
  REPRISE_ASSIGN(const std::string bytes, read_file(file, format_.file_bytes_max()));
  REPRISE_ASSIGN(const fs::path name, quarantine(file, bytes, format_.quarantine_suffix()));
  if (options_.on_warning) {
    options_.on_warning(cat(file.native(), ": ",
                            document.unreadable ? document.unreadable->reason : document.outlived,
                            "; it is saved as ", name.native()));
  }
  document.unreadable.reset();
  document.outlived.clear();
  return {};
}

// Does not record a file that another program has already replaced as ours.
void Documents::record_written(const fs::path& file, const FileIdentity& written,
                               Document document) {
  const auto now = identify(file);
  const bool is_ours = now && now->inode == written.inode && now->size == written.size &&
                       now->modified_ns == written.modified_ns;
  Loaded loaded{std::make_shared<const Document>(std::move(document)), is_ours ? *now : written};
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Document> ours = loaded.document;
  const auto is_others = [this](const FileSession& session) {
    return !changed_.contains(session.stored.session.info.id);
  };
  if (std::ranges::any_of(ours->sessions, is_others)) {
    Document part = *ours;
    std::erase_if(part.sessions, is_others);
    ours = std::make_shared<const Document>(std::move(part));
  }
  cache_document(written_, file, {std::move(ours), loaded.identity});
  if (is_ours) {
    cache_document(cache_, file, std::move(loaded));
  } else {
    cache_.erase(file);
  }
}

fs::path Documents::path_for(const StoredSession& stored) const {
  return stored.session.info.state == SessionState::trashed
             ? format_.trash_path(stored.session, stored.state_before_trash)
             : format_.path_of(stored.session);
}

// An earlier attempt may have failed in the final sync, when the change was visible but not
// durable. A retry must be durable when it succeeds.
Result<> Documents::sync_folders(const fs::path& file, const StoredSession& stored) const {
  REPRISE_TRY(sync_folder(folder_of(file)));
  Session before = stored.session;
  if (before.info.state == SessionState::trashed) {
    before.info.state = stored.state_before_trash;
  }
  const fs::path folder = folder_of(format_.path_of(before));
  REPRISE_ASSIGN(const bool has_folder, file_exists(folder));
  return has_folder && folder != folder_of(file) ? sync_folder(folder) : Result<>();
}

// Works on a full disk and with a failed signature, because the bytes do not change.
Result<> Documents::move_unchanged(const fs::path& from, const fs::path& to) {
  REPRISE_TRY(prepare_move(from, to));
  return move_file(from, to);
}

// The session is in exactly one place at any time; steps that are likely to fail come before any
// visible change. A session that becomes inactive is written first and then moved, so that a crash
// in between leaves it active. A session that becomes active is moved first, so that until then its
// file is unchanged.
Result<bool> Documents::move_session_file(const Found& from, const fs::path& to,
                                          Document document) {
  REPRISE_ASSERT(is_locked());  // (1)
  REPRISE_TRY(prepare_move(from.file, to));
  const SessionState before = from.session->stored.session.info.state;
  const SessionState after = document.sessions.front().stored.session.info.state;
  const bool becomes_active = after != SessionState::trashed &&
                              (after == SessionState::active || before == SessionState::trashed);
  REPRISE_ASSIGN(const std::string bytes, encoded(to, document));
  REPRISE_TRY(format_.before_write(to, bytes));
  REPRISE_ASSIGN(PreparedFile content, PreparedFile::write(from.file, bytes));
  REPRISE_ASSIGN(const FileIdentity written, identify(content.name()));
  REPRISE_ASSIGN(const auto now, if_exists(identify(from.file)));
  if (!now || *now != from.loaded.identity) {
    return false;
  }
  if (!becomes_active) {
    REPRISE_TRY(content.replace(from.file));
    REPRISE_TRY(move_file(from.file, to));
  } else {
    Result<> done = move_file(from.file, to);
    const auto source = identify(from.file);
    if (done) {
      done = content.replace(to);
    }
    // After a failed sync, the new content may be in place: it does not belong where it was.
    const auto target = identify(to);
    const bool is_replaced = target && target->inode == written.inode;
    if (!done && !is_replaced && !source && source.error().code == Code::not_found) {
      // If this fails too, the first error is reported.
      (void)move_file(to, from.file);
    }
    REPRISE_TRY(done);
  }
  record_written(to, written, std::move(document));
  return true;
}

// Between two files with several sessions, the session is briefly in both; the one that find_file()
// returns counts.
Result<bool> Documents::move(const Target& from, const fs::path& to, Document document,
                             const SessionId& id) {
  REPRISE_TRY(make_private_folders(folder_of(to)));
  REPRISE_ASSIGN(Draft target, draft_at(to));
  REPRISE_ASSIGN(const fs::path trashed, format_.partial_file(id));
  if (to == format_.root()) {
    REPRISE_TRY(check_partial_path(id));
  }
  std::erase_if(target.document.sessions, has_id(id));
  const auto moved = find_session(document, id);
  target.document.sessions.push_back(std::move(*moved));
  document.sessions.erase(moved);
  auto written = write({to, target.identity}, std::move(target.document));
  if (!written && is_disk_full(written.error()) && can_be_linked(from.file, to, id)) {
    REPRISE_TRY(link_with_pending_turn(from.file, to, id));
    written = true;
  }
  REPRISE_TRY(written);
  if (!*written) {
    return false;
  }
  if (to == format_.root()) {
    REPRISE_TRY(restore_partial(trashed));
  }
  return write(from, std::move(document));
}

// Links the whole file, with its pending turn, because the file beside it may belong to another
// session by the time this one is restored.
Result<> Documents::link_with_pending_turn(const fs::path& file, const fs::path& to,
                                           const SessionId& id) const {
  REPRISE_ASSIGN(const bool has_turn, has_pending_turn(id));
  const fs::path in_trash = format_.partial_in_trash(id);
  REPRISE_ASSIGN(const fs::path partial, format_.partial_file(id));
  if (has_turn && partial != in_trash) {
    REPRISE_TRY(remove_if_exists(in_trash));
    REPRISE_TRY(link_file(partial, in_trash));
  }
  return link_file(file, to);
}

Result<> Documents::check_partial_path(const SessionId& id) const {
  const fs::path in_use = format_.pending_file();
  REPRISE_ASSIGN(const fs::path partial, format_.partial_file(id));
  if (partial != format_.partial_in_trash(id)) {
    return {};
  }
  REPRISE_ASSIGN(const auto pending, read_pending_turn(in_use));
  if (pending && pending->session != id && pending->has_content()) {
    return fail(Code::busy, cat(in_use.native(),
                                " has an unfinished turn of another conversation: "
                                "try again when it has ended"));
  }
  return {};
}

Result<> Documents::restore_partial(const fs::path& trashed) const {
  const fs::path in_use = format_.pending_file();
  REPRISE_ASSIGN(const bool has_moved, file_exists(trashed));
  if (in_use.empty() || trashed == in_use || !has_moved) {
    return {};
  }
  REPRISE_TRY(remove_if_exists(in_use));
  return move_file(trashed, in_use);
}

// Whether the file contains only this session and may be linked into the trash: on a full disk, a
// second link is all that fits.
bool Documents::can_be_linked(const fs::path& file, const fs::path& to, const SessionId& id) const {
  const auto has_turn = has_pending_turn(id);
  const auto bytes = read_file(file, format_.file_bytes_max());
  if (!has_turn || !bytes || (*has_turn && format_.partial_in_trash(id).empty())) {
    return false;
  }
  const auto linked = format_.decode(to, *bytes);
  if (!linked || linked->sessions.size() != 1) {
    return false;
  }
  const SessionInfo& info = linked->sessions.front().stored.session.info;
  return info.id == id && info.state == SessionState::trashed;
}

}  // namespace reprise::store
