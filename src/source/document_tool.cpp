#include "source/document_tool.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "source/list_cache.h"
#include "source/values.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTriedDocumentsMax = 4;

class DocumentTool final : public Tool {
 public:
  DocumentTool(fs::path location, const DocumentForm& form, const StoreOptions& options)
      : location_(std::move(location)),
        form_(form),
        cache_(options.cache_folder, cat(form.name, ":", location_.native())) {}

  Result<std::vector<Listed>> list(ReadReport& report) override {
    find_files(report);
    std::vector<Listed> sessions;
    for (const auto& [id, file] : files_) {
      HeadState state;
      state.add_file(file);
      SharedHead head = cache_.find(id, state);
      if (!head) {
        head = read_head(id, file, state, report);
      }
      if (!head) {
        continue;
      }
      if (const auto& info = head->info) {
        sessions.push_back({*info, head->is_child});
      }
    }
    cache_.save([&](std::string_view id) {
      const auto session = SessionId::parse(id);
      return session && files_.contains(*session);
    });
    return sessions;
  }

  Result<std::shared_ptr<const OpenSession>> open(const SessionId& id) override {
    auto found = files_.find(id);
    if (found == files_.end()) {
      ReadReport ignored;
      find_files(ignored);
      found = files_.find(id);
    }
    if (found == files_.end()) {
      return nullptr;
    }
    REPRISE_ASSIGN(auto open, form_.open(found->second));
    complete_title(*open);
    open->session.info.id = id;
    return open;
  }

  std::string state_of(const SessionId& id) override {
    const auto found = files_.find(id);
    if (found == files_.end()) {
      return "";
    }
    std::string state = state_text(found->second);
    for (const fs::path& file : sidecars_of(found->second)) {
      state += cat(" ", state_text(file));
    }
    return state;
  }

 private:
  // Damaged documents are not cached, so that each listing reports the damage.
  SharedHead read_head(const SessionId& id, const fs::path& file, const HeadState& state,
                       ReadReport& report) {
    CachedHead head;
    head.files = sidecars_of(file);
    const auto open = form_.open(file);
    if (!open) {
      if (open.error().code != Code::not_found) {  // else it was removed meanwhile
        add_damage(report, {file.native(), open.error().message, ""});
      }
      return nullptr;
    }
    complete_title(**open);
    head.is_child = (*open)->is_child;
    if (!(*open)->tree.nodes().empty()) {
      head.info = (*open)->session.info;
      head.info->id = id;
    }
    for (const Damage& damage : (*open)->report.damage) {
      add_damage(report, damage);
    }
    if ((*open)->report.damaged == 0) {
      return cache_.put(id, state, std::move(head));
    }
    return ListCache::share(state, std::move(head));
  }

  std::vector<fs::path> sidecars_of(const fs::path& file) const {
    return form_.sidecar_files == nullptr ? std::vector<fs::path>() : form_.sidecar_files(file);
  }

  // Files of the same name in two folders are two sessions.
  void find_files(ReadReport& report) {
    files_.clear();
    for (const fs::path& file : form_.files(location_, report)) {
      const SessionId id = form_.id_of(file);
      const bool is_unique = form_.has_unique_id == nullptr || form_.has_unique_id(file, location_);
      if (!is_unique || !files_.try_emplace(id, file).second) {
        files_.try_emplace(session_id_in_folder(id.str(), file), file);
      }
    }
  }

  fs::path location_;
  const DocumentForm& form_;
  ListCache cache_;
  std::map<SessionId, fs::path> files_;
};

}  // namespace

std::unique_ptr<Source> open_documents(const fs::path& location, const DocumentForm& form,
                                       const StoreOptions& options) {
  return make_tool_source(std::make_unique<DocumentTool>(location, form, options));
}

bool has_documents(const fs::path& location, const DocumentForm& form) {
  ReadReport ignored;
  std::vector<fs::path> files = form.files(location, ignored);
  files.resize(std::min(files.size(), kTriedDocumentsMax));
  return std::ranges::any_of(files, [&](const fs::path& file) {
    const auto open = form.open(file);
    return open && !(*open)->tree.nodes().empty();
  });
}

Result<std::shared_ptr<const std::string>> read_document(const fs::path& file) {
  REPRISE_ASSIGN(const Fd fd, open_foreign(file));
  REPRISE_ASSIGN(const FileState state, state_of_file(file));
  if (state.bytes > kDocumentBytesMax) {
    return fail(Code::corrupt, cat("larger than ", kDocumentBytesMax >> 20U, " MiB"));
  }
  REPRISE_ASSIGN(std::string text,
                 read_range(fd.get(), 0, static_cast<std::size_t>(state.bytes), file));
  return std::make_shared<const std::string>(std::move(text));
}

Result<std::shared_ptr<const std::string>> read_json_document(const fs::path& file,
                                                              std::string_view member,
                                                              ReadReport& report) {
  REPRISE_ASSIGN(auto text, read_document(file));
  if (is_json_object(*text)) {
    return text;
  }
  std::string parts = intact_beginning(*text);
  if (JsonView(parts)[member].raw().size() <= 2) {  // not more than "[]"
    return fail(Code::corrupt, "not a JSON object");
  }
  add_damage(report, {file.native(), std::string(kCutDocument), ""});
  return std::make_shared<const std::string>(std::move(parts));
}

Result<Session> session_of_file(const SessionId& id, const fs::path& file) {
  REPRISE_ASSIGN(const FileState state, state_of_file(file));
  Session session{.info = {.id = id, .state = SessionState::closed}};
  session.info.created_at = state.changed_at;
  session.info.updated_at = state.changed_at;
  return session;
}

}  // namespace reprise::source
