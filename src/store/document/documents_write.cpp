// Replaces a file by a changed document, if that is allowed.

#include <algorithm>
#include <mutex>

#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/document/document_format.h"
#include "store/document/documents.h"
#include "store/document/quarantine.h"

namespace reprise::store {

namespace fs = std::filesystem;

Result<Signature> Documents::signature(const Found& found) {
  REPRISE_ASSIGN(const Signature signature, files_.signature(found.file));
  if (signature != Signature::failed) {
    const std::lock_guard lock(mutex_);
    if (proven_.size() >= kCachedMax) {
      proven_.clear();
    }
    proven_[found.file] = found.loaded.identity;
  }
  return signature;
}

// Checks the signature of what another program has written since.
Result<> Documents::check_signature(const Found& found) {
  const FileIdentity& identity = found.loaded.identity;
  {
    const std::lock_guard lock(mutex_);
    const auto ours = written_.find(found.file);
    const auto proven = proven_.find(found.file);
    if ((ours != written_.end() && ours->second.identity == identity) ||
        (proven != proven_.end() && proven->second == identity)) {
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
  return !files_.is_folder() && file != files_.root() && document.sessions.empty() &&
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
  if (auto replaced = replace_file(file, bytes, check); !replaced) {
    return is_target ? Result<bool>(std::unexpected(std::move(replaced).error())) : false;
  }
  wrote(file, written, std::move(document));
  return true;
}

Result<std::string> Documents::encoded(const fs::path& file, Document& document) const {
  REPRISE_ASSIGN(std::string bytes, files_.encode(document));
  if (static_cast<std::int64_t>(bytes.size()) > files_.file_bytes_max()) {
    return fail(Code::unsupported,
                cat("cannot write ", file.native(), ": it would have ", bytes.size(),
                    " bytes, and the format allows ", files_.file_bytes_max()));
  }
  return bytes;
}

Result<> Documents::quarantine_bytes(const fs::path& file, Document& document) {
  if (!document.unreadable) {
    return {};
  }
  REPRISE_ASSIGN(const std::string bytes, read_file(file, files_.file_bytes_max()));
  REPRISE_ASSIGN(const fs::path name, quarantine(file, bytes, files_.quarantine_suffix()));
  if (options_.on_notice) {
    options_.on_notice(
        cat(file.native(), ": ", document.unreadable->reason, "; it is saved as ", name.native()));
  }
  document.unreadable.reset();
  return {};
}

// Does not record a file that another program has already replaced as ours.
void Documents::wrote(const fs::path& file, const FileIdentity& written, Document document) {
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
  keep(written_, file, {std::move(ours), loaded.identity});
  if (is_ours) {
    keep(cache_, file, std::move(loaded));
  } else {
    cache_.erase(file);
  }
}

}  // namespace reprise::store
