#include "store/context/files.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/context/codec.h"
#include "store/context/merge.h"
#include "store/file/document_store.h"
#include "store/file/session_files.h"
#include "store/paths.h"

namespace reprise {
namespace store::context {
namespace {

namespace fs = std::filesystem;

}  // namespace

// The time of day, as no two programs that mend a file can be expected to agree on a number.
std::string ContextFiles::aside_suffix() const {
  std::string time = format_time(system_clock().now()).substr(0, 19);
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return cat(kAside, "-", time, "Z");
}

fs::path ContextFiles::lock_file() const {
  return beside(file_, ".lock");
}

fs::path ContextFiles::held_file() const {
  return beside(file_, ".answer");
}

std::string ContextFiles::held_for(const fs::path& copy, std::string bytes) const {
  const auto there = origin_of(copy);
  if (!there) {
    return bytes;
  }
  const auto member = [](const SessionId& id) {
    return cat(R"("session":)", json::quoted(id.str()));
  };
  const std::string old = member(origin_.unnamed);
  if (const auto at = bytes.find(old); at < bytes.find('\n')) {
    bytes.replace(at, old.size(), member(there->unnamed));
  }
  return bytes;
}

fs::path ContextFiles::partial_file(const SessionId& /*id*/) const {
  return held_file();
}

fs::path ContextFiles::trash_of(const SessionId& id) const {
  return beside(file_, ".trash") / cat(id.str(), ".json");
}

// A session that is in both places was being moved when its process died: it is where it was.
Result<std::optional<fs::path>> ContextFiles::find_file(const SessionId& id) const {
  const fs::path trash = trash_of(id);
  REPRISE_ASSIGN(const bool in_trash, is_there(trash));
  REPRISE_ASSIGN(const bool has_file, is_there(file_));
  if (!has_file) {
    return in_trash ? std::optional(trash) : std::nullopt;
  }
  if (!in_trash) {
    return file_;
  }
  REPRISE_ASSIGN(const std::string bytes, read_file(file_));
  const Document document = context::decode(origin_, bytes);
  const bool is_here =
      !document.sessions.empty() && document.sessions.front().stored.session.info.id == id;
  return is_here ? file_ : trash;
}

Result<std::vector<fs::path>> ContextFiles::files() const {
  std::vector<fs::path> all;
  REPRISE_ASSIGN(const auto trashed, list_if_there(beside(file_, ".trash")));
  for (const auto& entry : trashed) {
    if (entry.path().extension() == ".json") {
      all.push_back(entry.path());
    }
  }
  std::ranges::sort(all);
  REPRISE_ASSIGN(const bool has_file, is_there(file_));
  if (has_file) {
    all.insert(all.begin(), file_);
  }
  return all;
}

fs::path ContextFiles::place(const Session& session) const {
  return session.info.state == SessionState::trashed ? trash_of(session.info.id) : file_;
}

Result<Document> ContextFiles::decode(const fs::path& /*file*/, std::string_view bytes) const {
  return context::decode(origin_, bytes);
}

Result<std::string> ContextFiles::encode(Document& document) const {
  return context::encode(origin_, document);
}

Document ContextFiles::merge(const Document& written, Document found) const {
  return context::merge(origin_, written, std::move(found));
}

}  // namespace store::context

Result<std::unique_ptr<Store>> open_context_store(const std::filesystem::path& file,
                                                  const StoreOptions& options) {
  REPRISE_ASSIGN(const std::filesystem::path target, store::whole_path(file));
  REPRISE_ASSIGN(const bool has_file, is_there(target));
  REPRISE_ASSIGN(store::context::Origin origin, store::context::origin_of(target));
  auto files = std::make_unique<store::context::ContextFiles>(std::move(origin));
  REPRISE_ASSIGN(const bool holds_turn, is_there(files->held_file()));
  if (options.access == Access::read && !has_file && !holds_turn) {
    return fail(Code::not_found, cat("there is no file ", file.native()));
  }
  return store::make_document_store(std::move(files), options);
}

}  // namespace reprise
