#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "base/encode.h"
#include "base/file.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/export.h"
#include "source/file.h"
#include "source/kinds.h"
#include "store/document/sidecar.h"  // IWYU pragma: export
#include "store/query.h"
#include "store/rules.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCachedBytesMax = 64U << 20;
constexpr std::size_t kPieceBytesMax = 1U << 20;

// Stops reading early; not a failure.
Error enough() {
  return {.code = Code::cancelled, .message = "enough was read"};
}

// Thread-safe.
class ExportedSource final : public Source,
                             public TodoReader,
                             public ArtefactReader,
                             public BlobReader {
 public:
  ExportedSource(std::vector<fs::path> files, ReadReport unlisted)
      : files_(std::move(files)), unlisted_(std::move(unlisted)) {
    capabilities_.lists_at_once = true;
    capabilities_.todo_reader = this;
    capabilities_.artefact_reader = this;
    capabilities_.blob_reader = this;
  }

  Result<std::optional<Session>> find(const SessionId& id) override {
    const std::lock_guard lock(mutex_);
    const Known* const known = find_known(id);
    return known == nullptr ? std::nullopt : std::optional(known->exported.session);
  }

  Result<SessionPage> list(const SessionQuery& query) override {
    REPRISE_ASSIGN(const store::CheckedQuery checked, store::check_query(query, capabilities_));
    const std::lock_guard lock(mutex_);
    refresh();
    std::vector<SessionInfo> matching;
    for (const auto& [id, known] : by_id_) {
      if (store::matches(known->exported.session.info, checked)) {
        matching.push_back(known->exported.session.info);
      }
    }
    SessionPage page = store::make_page(std::move(matching), query);
    page.damage = report_.damage;
    return page;
  }

  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    REPRISE_ASSIGN(const Known known, get_known(id));
    const auto [from, to] = store::clamp(range, known.exported.session.info.head);
    std::vector<Message> backwards;
    bool is_over = false;
    const auto done = read_export(
        known.file, {.on_message = [&, first = from, end = to](Message&& message) -> Result<> {
          if (message.seq.value >= end) {
            is_over = true;
          } else if (message.seq.value >= first && range.newest_first) {
            backwards.push_back(std::move(message));
          } else if (message.seq.value >= first) {
            is_over = sink(std::move(message)) == Flow::stop;
          }
          return is_over ? Result<>(std::unexpected(enough())) : Result<>();
        }});
    if (!done && !is_over) {
      return std::unexpected(done.error());
    }
    for (auto message = backwards.rbegin(); message != backwards.rend(); ++message) {
      if (sink(std::move(*message)) == Flow::stop) {
        break;
      }
    }
    return ReadReport{};
  }

  Result<std::vector<Todo>> todos(const SessionId& id) override {
    REPRISE_ASSIGN(const Known known, get_known(id));
    return known.exported.todos;
  }

  Result<std::optional<std::string>> find_artefact(const SessionId& id, Step step,
                                                   std::string_view name) override {
    REPRISE_ASSIGN(const Known known, get_known(id));
    const std::lock_guard lock(mutex_);
    const auto find = [&]() -> std::optional<std::string> {
      const auto found = artefacts_.bytes.find({step.value, std::string(name)});
      return found == artefacts_.bytes.end() ? std::nullopt : std::optional(found->second);
    };
    if (artefacts_.file == known.file && artefacts_.state == known.state) {
      if (auto found = find(); found) {
        return found;
      }
    }
    const auto cached = cache_artefacts(known, step, name);
    auto found = find();
    return cached || found ? Result<std::optional<std::string>>(std::move(found))
                           : std::unexpected(cached.error());
  }

  Result<std::vector<Entry>> list_artefacts(const SessionId& id) override {
    REPRISE_ASSIGN(const Known known, get_known(id));
    std::vector<Entry> entries;
    REPRISE_TRY(read_export(
        known.file, {.on_artefact = [&](ExportedArtefact&& artefact) -> Result<> {
          entries.push_back({artefact.step, std::move(artefact.name), std::ssize(artefact.bytes)});
          return {};
        }}));
    return entries;
  }

  Result<> read_blob(const BlobHash& hash,
                     const std::function<Flow(std::string_view)>& sink) override {
    REPRISE_ASSIGN(const std::string bytes, get_blob(hash));
    for (std::size_t at = 0; at < bytes.size(); at += kPieceBytesMax) {
      if (sink(std::string_view(bytes).substr(at, kPieceBytesMax)) == Flow::stop) {
        return {};
      }
    }
    REPRISE_ASSIGN(const BlobHash actual, sha256(bytes));
    return actual == hash ? Result<>()
                          : fail(Code::corrupt, cat("blob ", hash.str(), " has other bytes"));
  }

  const SourceCapabilities& capabilities() const override { return capabilities_; }

 private:
  struct Known {
    fs::path file;
    FileState state;
    ExportedSession exported;
  };

  // Reads the files that have changed. Requires the mutex.
  void refresh() {
    report_ = unlisted_;
    std::map<fs::path, Known> now;
    for (const fs::path& file : files_) {
      const auto state = state_of_file(file);
      const auto old = known_.find(file);
      if (state && old != known_.end() && old->second.state == *state) {
        now.insert(known_.extract(old));
        continue;
      }
      blob_files_.clear();
      scanned_.clear();
      auto exported = state ? read_export(file, {}) : std::unexpected(state.error());
      if (exported) {
        now.emplace(file, Known{file, *state, *std::move(exported)});
      } else {
        add_damage(report_, {file.native(), exported.error().message, ""});
      }
    }
    known_ = std::move(now);
    index_sessions();
  }

  // Of several exports of a session, the one of its latest activity counts.
  void index_sessions() {
    by_id_.clear();
    for (const auto& [file, known] : known_) {
      const SessionInfo& info = known.exported.session.info;
      const auto [present, is_new] = by_id_.try_emplace(info.id.str(), &known);
      if (!is_new && present->second->exported.session.info.updated_at < info.updated_at) {
        present->second = &known;
      }
    }
  }

  const Known* find_known(const SessionId& id) {
    auto found = by_id_.find(id.str());
    const auto is_same = [&] {
      const auto state = state_of_file(found->second->file);
      return state && *state == found->second->state;
    };
    if (found == by_id_.end() || !is_same()) {
      refresh();
      found = by_id_.find(id.str());
    }
    return found == by_id_.end() ? nullptr : found->second;
  }

  Result<Known> get_known(const SessionId& id) {
    const std::lock_guard lock(mutex_);
    const Known* const known = find_known(id);
    return known == nullptr ? Result<Known>(std::unexpected(store::no_session(id))) : *known;
  }

  // Caches this artefact and those that follow it in the file, up to the limit: they are usually
  // read in order. After an error, what precedes it is cached. Requires the mutex.
  Result<> cache_artefacts(const Known& known, Step step, std::string_view name) {
    artefacts_ = {.file = known.file, .state = known.state, .bytes = {}};
    std::size_t bytes = 0;
    REPRISE_TRY(
        read_export(known.file, {.on_artefact = [&](ExportedArtefact&& artefact) -> Result<> {
                      const bool is_first = artefact.step == step && artefact.name == name;
                      if (artefacts_.bytes.empty() && !is_first) {
                        return {};
                      }
                      bytes += artefact.bytes.size();
                      if (bytes > kCachedBytesMax && !artefacts_.bytes.empty()) {
                        return std::unexpected(enough());
                      }
                      artefacts_.bytes.emplace(std::pair(artefact.step.value, artefact.name),
                                               std::move(artefact.bytes));
                      return {};
                    }}));
    return {};
  }

  Result<std::string> get_blob(const BlobHash& hash) {
    const std::lock_guard lock(mutex_);
    if (!blobs_.contains(hash.str())) {
      REPRISE_TRY(find_blob(hash));
    }
    const auto found = blobs_.find(hash.str());
    return found == blobs_.end() ? fail(Code::not_found, cat("no blob ", hash.str()))
                                 : Result<std::string>(found->second);
  }

  // Caches the blob if a file has it. An error if none has, and one cannot be read. Requires the
  // mutex.
  Result<> find_blob(const BlobHash& hash) {
    if (const auto known = blob_files_.find(hash.str()); known != blob_files_.end()) {
      return cache_blobs(fs::path(known->second), hash);
    }
    Result<> failed;
    for (const fs::path& file : files_) {
      if (scanned_.contains(file)) {
        continue;
      }
      auto read = cache_blobs(file, hash);
      if (read) {
        scanned_.insert(file);
      }
      if (blobs_.contains(hash.str())) {
        return {};
      }
      failed = failed ? std::move(read) : std::move(failed);
    }
    return failed;
  }

  // Reading a file yields all its blobs: caches the requested one and others up to the limit.
  Result<> cache_blobs(const fs::path& file, const BlobHash& hash) {
    blobs_.clear();
    std::size_t bytes = 0;
    REPRISE_TRY(read_export(file, {.on_blob = [&](ExportedBlob&& blob) -> Result<> {
                              blob_files_.insert_or_assign(blob.hash.str(), file);
                              if (blob.hash == hash ||
                                  bytes + blob.bytes.size() <= kCachedBytesMax) {
                                bytes += blob.bytes.size();
                                blobs_.insert_or_assign(blob.hash.str(), std::move(blob.bytes));
                              }
                              return {};
                            }}));
    return {};
  }

  std::vector<fs::path> files_;
  const ReadReport unlisted_;
  SourceCapabilities capabilities_;
  std::mutex mutex_;
  std::map<fs::path, Known> known_;  // by file
  std::map<std::string, const Known*, std::less<>> by_id_;
  struct ArtefactCache {
    fs::path file;
    FileState state;
    std::map<std::pair<std::int64_t, std::string>, std::string> bytes;  // by step and name
  };
  ArtefactCache artefacts_;
  std::map<std::string, std::string, std::less<>> blobs_;
  std::map<std::string, fs::path, std::less<>> blob_files_;  // of the scanned files' blobs
  std::set<fs::path> scanned_;
  ReadReport report_;
};

Result<bool> begins_as_exported(const fs::path& file) {
  REPRISE_ASSIGN(const std::string head, read_beginning(file, store::kJsonHeadAnyVersion.size()));
  return head == store::kJsonHeadAnyVersion;
}

// Includes files that cannot be read; `report` is of those that cannot be listed.
Result<std::vector<fs::path>> exported_files(const fs::path& location, ReadReport& report) {
  REPRISE_ASSIGN(const FileKind kind, kind_of(location));
  std::vector<fs::path> files{location};
  if (kind == FileKind::folder) {
    files = files_below(
        location, 0, [](const fs::path& file) { return file.extension() == ".json"; }, report);
  }
  std::erase_if(files, [](const fs::path& file) {
    const auto begins = begins_as_exported(file);
    return begins ? !*begins : begins.error().code != Code::io;
  });
  return files;
}

}  // namespace

Result<bool> is_exported(const fs::path& location) {
  ReadReport ignored;  // opening it reports the same
  REPRISE_ASSIGN(const std::vector<fs::path> files, exported_files(location, ignored));
  return std::ranges::any_of(
      files, [](const fs::path& file) { return begins_as_exported(file).value_or(false); });
}

Result<std::unique_ptr<Source>> open_exported(const fs::path& location,
                                              const StoreOptions& /*options*/) {
  ReadReport report;
  REPRISE_ASSIGN(std::vector<fs::path> files, exported_files(location, report));
  if (files.empty() && report.damage.empty()) {
    return fail(Code::not_found,
                cat("no session exported with --format json at ", location.native()));
  }
  return std::make_unique<ExportedSource>(std::move(files), std::move(report));
}

}  // namespace reprise::source
