// The files of a context store: FILE itself, FILE.lock, FILE.answer (the text of a running answer),
// FILE.trash/ID.json (a trashed conversation, as a file of the same format), and
// FILE.trash/ID.json.answer (its running answer, if it was trashed together with the file).

#include <algorithm>

#include "base/file.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "store/context/codec.h"
#include "store/document/document_format.h"
#include "store/document/document_store.h"
#include "store/document/one_file.h"
#include "store/paths.h"

namespace reprise {
namespace store::context {
namespace {

namespace fs = std::filesystem;

class ContextFiles final : public OneFile {
 public:
  // The file's path must be absolute and not a link.
  explicit ContextFiles(Origin origin) : OneFile(origin.file), origin_(std::move(origin)) {}

  SourceCapabilities capabilities() const override {
    return {.many_sessions = false, .many_folders = false, .open_questions = false};
  }
  bool stores_whole_turns() const override { return true; }
  std::filesystem::path pending_file() const override;
  Result<std::filesystem::path> partial_file(const SessionId& id) const override;
  std::filesystem::path partial_in_trash(const SessionId& id) const override;
  std::string pending_bytes_for(const std::filesystem::path& copy,
                                std::string bytes) const override;
  std::string quarantine_suffix() const override;
  Result<Document> decode(const std::filesystem::path& file, std::string_view bytes) const override;
  std::optional<Document> salvage(const std::filesystem::path& file,
                                  std::string_view bytes) const override;
  Result<std::string> encode(Document& document) const override;
  Document merge(const Document& written, Document found) const override;
  bool join(Document& found, const FileSession& session) const override;

 private:
  std::filesystem::path trash_of(const SessionId& id) const override;
  Result<std::vector<std::filesystem::path>> trashed() const override;

  const Origin origin_;
};

}  // namespace

// Uses the time rather than a number, since other programs that repair the file would not agree on
// the next number.
std::string ContextFiles::quarantine_suffix() const {
  std::string time = format_time(system_clock().now()).substr(0, 19);
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return cat(kQuarantineSuffix, "-", time, "Z");
}

fs::path ContextFiles::pending_file() const {
  return beside(root(), ".answer");
}

fs::path ContextFiles::partial_in_trash(const SessionId& id) const {
  return beside(trash_of(id), ".answer");
}

// An answer in the trash without the trashed session is left over from a session that was restored.
Result<fs::path> ContextFiles::partial_file(const SessionId& id) const {
  fs::path in_trash = partial_in_trash(id);
  REPRISE_ASSIGN(bool is_used, file_exists(in_trash));
  if (is_used) {
    REPRISE_ASSIGN(is_used, file_exists(trash_of(id)));
  }
  return is_used ? std::move(in_trash) : pending_file();
}

std::string ContextFiles::pending_bytes_for(const fs::path& copy, std::string bytes) const {
  const auto copied = origin_of(copy);
  if (!copied) {
    return bytes;
  }
  const auto member = [](const SessionId& id) {
    return cat(R"("session":)", json::quoted(id.str()));
  };
  const std::string old = member(origin_.unnamed);
  if (const auto at = bytes.find(old); at < bytes.find('\n')) {
    bytes.replace(at, old.size(), member(copied->unnamed));
  }
  return bytes;
}

fs::path ContextFiles::trash_of(const SessionId& id) const {
  return trash() / cat(id.str(), ".json");
}

Result<std::vector<fs::path>> ContextFiles::trashed() const {
  std::vector<fs::path> paths;
  REPRISE_ASSIGN(const auto entries, list_if_exists(trash()));
  for (const auto& entry : entries) {
    if (entry.path().extension() == ".json") {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

// A file in the trash may be an unchanged copy of the whole file, if the disk was too full for
// writing another.
Result<Document> ContextFiles::decode(const fs::path& file, std::string_view bytes) const {
  Document document = context::decode(origin_, bytes);
  if (file.parent_path() == trash()) {
    for (FileSession& session : document.sessions) {
      SessionState& state = session.stored.session.info.state;
      if (state != SessionState::trashed) {
        session.stored.state_before_trash = std::exchange(state, SessionState::trashed);
      }
    }
  }
  return document;
}

std::optional<Document> ContextFiles::salvage(const fs::path& file, std::string_view bytes) const {
  auto document = decode(file, salvage_truncated(bytes));
  return document && !document->unreadable ? std::optional(*std::move(document)) : std::nullopt;
}

Result<std::string> ContextFiles::encode(Document& document) const {
  return context::encode(origin_, document);
}

Document ContextFiles::merge(const Document& written, Document found) const {
  return context::merge(origin_, written, std::move(found));
}

// What the file determines stays: its messages, its prompt and its members.
bool ContextFiles::join(Document& found, const FileSession& session) const {
  if (found.sessions.size() != 1 || !has_id(origin_.unnamed)(found.sessions.front())) {
    return false;
  }
  StoredSession& stored = found.sessions.front().stored;
  Session joined = session.stored.session;
  joined.info.head = stored.session.info.head;
  joined.usage = stored.session.usage;
  joined.system_prompt = stored.session.system_prompt;
  joined.extra = stored.session.extra;
  stored.session = std::move(joined);
  return true;
}

}  // namespace store::context

Result<std::unique_ptr<Store>> open_context_store(const std::filesystem::path& file,
                                                  const StoreOptions& options) {
  REPRISE_ASSIGN(const std::filesystem::path target, store::resolved_path(file));
  REPRISE_ASSIGN(store::context::Origin origin, store::context::origin_of(target));
  auto files = std::make_unique<store::context::ContextFiles>(std::move(origin));
  REPRISE_TRY(store::check_file_exists(*files, file, options));
  return store::make_document_store(std::move(files), options);
}

}  // namespace reprise
