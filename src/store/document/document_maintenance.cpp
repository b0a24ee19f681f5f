#include "store/document/document_maintenance.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "store/document/document_format.h"
#include "store/document/documents.h"
#include "store/document/partial_file.h"
#include "store/paths.h"
#include "store/rules.h"

namespace reprise::store {
namespace {

namespace fs = std::filesystem;

constexpr int kAttemptsMax = 200;
constexpr std::string_view kSignatureFailed =
    "its signature does not match: another program changed it, or signed it on another host";

void count(const Document& document, VerifyReport& report) {
  for (const FileSession& session : document.sessions) {
    ++report.sessions;
    report.messages += session.stored.session.info.head.value;
    std::ranges::copy(session.damage, std::back_inserter(report.damage));
  }
  std::ranges::copy(document.damage, std::back_inserter(report.damage));
  if (document.unreadable) {
    report.damage.push_back(*document.unreadable);
  }
}

bool is_damaged(const Document& document) {
  return document.unreadable ||
         std::ranges::any_of(document.sessions,
                             [](const FileSession& session) { return !session.damage.empty(); });
}

// The suffixes of the files beside a single-file store.
Result<std::vector<std::string>> suffixes_beside(const fs::path& file) {
  const std::string name = file.filename().native();
  std::vector<std::string> suffixes;
  REPRISE_ASSIGN(const auto entries, list_if_exists(folder_of(file)));
  for (const fs::directory_entry& entry : entries) {
    if (const std::string sibling = entry.path().filename(); sibling.starts_with(name + ".")) {
      suffixes.push_back(sibling.substr(name.size()));
    }
  }
  return suffixes;
}

// Before the store's file itself is renamed.
Result<> move_beside(const fs::path& temporary, const fs::path& target) {
  REPRISE_ASSIGN(const auto suffixes, suffixes_beside(temporary));
  for (const std::string& suffix : suffixes) {
    REPRISE_TRY(move_file(beside(temporary, suffix), beside(target, suffix)));
  }
  return {};
}

Result<> remove_with_beside(const fs::path& temporary) {
  REPRISE_ASSIGN(const auto suffixes, suffixes_beside(temporary));
  for (const std::string& suffix : suffixes) {
    REPRISE_TRY(remove_tree(beside(temporary, suffix)));
  }
  return remove_tree(temporary);
}

// `fill` writes to a temporary path beside the target; when it is complete, it is renamed to the
// target.
Result<> create_atomically(
    const fs::path& path,
    const std::function<Result<>(const fs::path& staging, const fs::path& target)>& fill) {
  REPRISE_ASSIGN(const fs::path target, resolve_folder_of(path));
  REPRISE_TRY(check_new(target));
  REPRISE_TRY(make_private_folders(folder_of(target)));
  const fs::path temporary = beside(target, cat(".reprise-", ::getpid(), ".tmp"));
  auto filled = fill(temporary, target);
  if (filled) {
    filled = move_beside(temporary, target);
  }
  // The store may have only a pending turn beside its file.
  const auto has_file = file_exists(temporary);
  if (filled && !has_file) {
    filled = std::unexpected(has_file.error());
  }
  if (filled && *has_file) {
    filled = move_file(temporary, target);
  }
  if (!filled) {
    (void)remove_with_beside(temporary);
  }
  return filled;
}

Damage damage_of(const fs::path& file, const Error& error) {
  const auto bytes = read_file(file, static_cast<std::int64_t>(kExcerptMax) * 1'000);
  return {file.native(), error.message, bytes ? excerpt_of(*bytes) : ""};
}

Result<> write_file(const fs::path& file, const std::string& bytes) {
  REPRISE_TRY(make_private_folders(folder_of(file)));
  return replace_file(file, bytes);
}

}  // namespace

DocumentMaintenance::DocumentMaintenance(const DocumentFormat& format, Documents& documents)
    : format_(format), documents_(documents), progress_(documents.options().on_progress) {}

void DocumentMaintenance::report_progress(std::string_view work, std::int64_t done,
                                          std::size_t total) const {
  if (progress_) {
    progress_({work, done, static_cast<std::int64_t>(total)});
  }
}

Result<> DocumentMaintenance::verify_file(const fs::path& file, VerifyReport& report) {
  const auto document = documents_.load(file);
  if (document) {
    count(*document->document, report);
    const auto signature = format_.signature(file);
    if (signature == Signature::failed) {
      report.damage.push_back({file.native(), std::string(kSignatureFailed), ""});
    } else if (!signature && signature.error().code != Code::not_found) {
      report.damage.push_back({file.native(), signature.error().message, ""});
    }
    return {};
  }
  REPRISE_ASSIGN(const FileKind kind, kind_of(file));
  if (document.error().code == Code::not_found && kind != FileKind::link) {
    return {};  // was moved or removed meanwhile
  }
  report.damage.push_back(damage_of(file, document.error()));
  return {};
}

Result<VerifyReport> DocumentMaintenance::verify() {
  VerifyReport report;
  REPRISE_ASSIGN(const std::vector<fs::path> files, format_.files());
  std::int64_t done = 0;
  for (const fs::path& file : files) {
    report_progress("verifying", done++, files.size());
    REPRISE_TRY(verify_file(file, report));
  }
  verify_pending_turn(report);
  report_progress("verifying", done, files.size());
  return report;
}

// Verifies a turn that is not in its session's file yet.
void DocumentMaintenance::verify_pending_turn(VerifyReport& report) const {
  const fs::path file = format_.pending_file();
  const auto turn = file.empty() ? Result<std::optional<PendingTurn>>() : read_pending_turn(file);
  if (!turn) {
    report.damage.push_back(damage_of(file, turn.error()));
    return;
  }
  const std::optional<PendingTurn>& pending = *turn;
  if (!pending) {
    return;
  }
  if (const auto found = documents_.find(pending->session).value_or(std::nullopt); found) {
    report.sessions += found->is_unsaved ? 1 : 0;
    report.messages += found->session->stored.session.info.head.value - pending->first.value;
  }
}

// The file's path in a copy of the store.
fs::path DocumentMaintenance::inside(const fs::path& target, const fs::path& file) const {
  if (file == format_.root()) {
    return target;
  }
  if (format_.is_folder()) {
    return target / file.lexically_relative(format_.root());
  }
  // A file beside the root is named after it.
  const std::string root = format_.root().native();
  return beside(target, file.native().starts_with(root) ? file.native().substr(root.size())
                                                        : cat(".", file.filename().native()));
}

Result<> DocumentMaintenance::repair(const fs::path& file, const fs::path& target,
                                     VerifyReport& report) {
  REPRISE_TRY(verify_file(file, report));
  auto bytes = read_file(file);
  if (!bytes) {
    return {};  // already reported
  }
  const auto document = documents_.load(file);
  if (document && !is_damaged(*document->document)) {
    return write_file(target, *bytes);
  }
  REPRISE_TRY(make_private_folders(folder_of(target)));
  const bool is_readable = document && !document->document->unreadable;
  std::optional<Document> repaired = is_readable ? std::nullopt : format_.salvage(file, *bytes);
  for (const FileSession& session : repaired ? repaired->sessions : std::vector<FileSession>()) {
    ++report.sessions;
    report.messages += session.stored.session.info.head.value;
  }
  if (!repaired && document) {
    repaired = *document->document;
  }
  if (repaired) {
    for (FileSession& session : repaired->sessions) {  // encode them again, including damaged parts
      session.encoded = {};
      session.preserved.clear();
    }
    REPRISE_ASSIGN(const std::string text, format_.encode(*repaired));
    REPRISE_TRY(write_file(target, text));
  }
  REPRISE_TRY(quarantine(target, *bytes));
  return {};
}

Result<VerifyReport> DocumentMaintenance::repair_into(const fs::path& target) {
  VerifyReport report;
  REPRISE_ASSIGN(const std::vector<fs::path> files, format_.files());
  REPRISE_ASSIGN(const std::vector<fs::path> files_beside, format_.files_beside());
  const auto fill = [&](const fs::path& staging, const fs::path& resolved) -> Result<> {
    std::int64_t done = 0;
    for (const fs::path& file : files) {
      report_progress("repairing", done++, files.size());
      REPRISE_TRY(repair(file, inside(staging, file), report));
    }
    for (const fs::path& file : files_beside) {
      REPRISE_ASSIGN(const auto bytes, if_exists(read_file(file)));
      REPRISE_TRY(bytes ? write_file(inside(staging, file), *bytes) : Result<>());
    }
    report_progress("repairing", done, files.size());
    verify_pending_turn(report);
    const fs::path pending = format_.pending_file();
    if (const auto bytes = pending.empty() ? Result<std::string>() : read_file(pending);
        bytes && !bytes->empty()) {
      REPRISE_TRY(
          write_file(inside(staging, pending), format_.pending_bytes_for(resolved, *bytes)));
    }
    return {};
  };
  REPRISE_TRY(create_atomically(target, fill));
  return report;
}

Result<DocumentMaintenance::State> DocumentMaintenance::state() const {
  State state;
  REPRISE_ASSIGN(std::vector<fs::path> files, format_.files());
  REPRISE_ASSIGN(const std::vector<fs::path> files_beside, format_.files_beside());
  files.insert(files.end(), files_beside.begin(), files_beside.end());
  if (const fs::path pending = format_.pending_file(); !pending.empty()) {
    REPRISE_ASSIGN(const bool has_pending, file_exists(pending));
    if (has_pending) {
      files.push_back(pending);
    }
  }
  for (const fs::path& file : files) {
    // Folders and links have no bytes to save.
    REPRISE_ASSIGN(const FileKind kind, kind_of(file));
    if (kind != FileKind::file) {
      continue;
    }
    REPRISE_ASSIGN(const auto identity, if_exists(identify(file)));
    if (identity) {
      state.emplace(file, *identity);
    }
  }
  return state;
}

// Updates the copy to the state. Its busy files were read together with it, because they would have
// changed again. false if a file has changed; it is then busy.
Result<bool> DocumentMaintenance::copy_changed(const State& state, const Contents& contents,
                                               Copy& copy) const {
  for (const auto& [file, identity] : copy.state) {
    if (!state.contains(file)) {
      REPRISE_TRY(remove_tree(inside(copy.staging, file)));
    }
  }
  std::erase_if(copy.state, [&](const auto& entry) { return !state.contains(entry.first); });
  for (const auto& [file, identity] : state) {
    report_progress("backing up", std::ssize(copy.state), state.size());
    if (const auto done = copy.state.find(file);
        done != copy.state.end() && done->second == identity) {
      continue;
    }
    const auto known = contents.find(file);
    Result<std::string> bytes = known != contents.end() ? known->second : read_file(file);
    if (!bytes && bytes.error().code != Code::not_found) {
      return std::unexpected(bytes.error());
    }
    const auto now = identify(file);
    const bool is_same = bytes && (known != contents.end() || (now && *now == identity));
    if (!is_same) {
      // The file may move before the next attempt, so an earlier copy of it is removed.
      copy.busy.insert(file);
      copy.state.erase(file);
      REPRISE_TRY(remove_if_exists(inside(copy.staging, file)));
      continue;
    }
    const bool is_pending = file == format_.pending_file();
    REPRISE_TRY(write_file(
        inside(copy.staging, file),
        is_pending ? format_.pending_bytes_for(copy.target, *std::move(bytes)) : *bytes));
    copy.state.insert_or_assign(file, identity);
  }
  report_progress("backing up", std::ssize(copy.state), state.size());
  return copy.state.size() == state.size();
}

// Takes no lock, because the store may be read-only. Two identical listings mean that nothing
// changed in between; files that changed since the previous copy are copied again.
Result<> DocumentMaintenance::backup(const fs::path& target) {
  return create_atomically(
      target, [&](const fs::path& staging, const fs::path& resolved) -> Result<> {
        Copy copy{.staging = staging, .target = resolved};
        for (int attempts = 0; attempts < kAttemptsMax; ++attempts) {
          REPRISE_ASSIGN(const State before, state());
          Contents contents;
          for (const fs::path& file : copy.busy) {
            if (before.contains(file)) {
              contents.emplace(file, read_file(file));
            }
          }
          REPRISE_ASSIGN(const State after, state());
          if (before != after) {
            continue;
          }
          REPRISE_ASSIGN(const bool is_complete, copy_changed(before, contents, copy));
          if (is_complete) {
            return {};
          }
        }
        return fail(Code::busy,
                    cat(format_.root().native(), " changes faster than it can be copied"));
      });
}

}  // namespace reprise::store
