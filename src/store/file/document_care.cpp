#include "store/file/document_care.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/store_offers.h"
#include "store/file/documents.h"
#include "store/file/file_session.h"
#include "store/file/keep_aside.h"
#include "store/file/session_files.h"
#include "store/paths.h"

namespace reprise::store {
namespace {

namespace fs = std::filesystem;

constexpr int kCopyTries = 20;
constexpr std::string_view kSignatureFailed =
    "its signature does not match: another program changed it, or signed it on another host";

void count(const Document& document, VerifyReport& report) {
  for (const FileSession& session : document.sessions) {
    ++report.sessions;
    report.messages += session.stored.session.info.head.value;
    std::ranges::copy(session.damage, std::back_inserter(report.damage));
  }
  std::ranges::copy(document.damage, std::back_inserter(report.damage));
  if (document.aside) {
    report.damage.push_back(*document.aside);
  }
}

bool is_damaged(const Document& document) {
  return document.aside || std::ranges::any_of(document.sessions, [](const FileSession& session) {
           return !session.damage.empty();
         });
}

// `fill` writes beside the target; what it wrote takes the target's name when all of it is there.
Result<> appear(const fs::path& named, const std::function<Result<>(const fs::path&)>& fill) {
  REPRISE_ASSIGN(const fs::path target, resolve_folder_of(named));
  REPRISE_ASSIGN(const bool is_taken, is_there(target));
  if (is_taken) {
    return fail(Code::conflict, cat(target.native(), " exists already"));
  }
  REPRISE_TRY(make_private_folders(folder_of(target)));
  fs::path temporary = target;
  temporary += cat(".", ::getpid(), ".tmp");
  auto filled = fill(temporary);
  if (filled) {
    filled = move_file(temporary, target);
  }
  if (!filled) {
    (void)remove_tree(temporary);
  }
  return filled;
}

Result<> write_file(const fs::path& file, const std::string& bytes) {
  REPRISE_TRY(make_private_folders(folder_of(file)));
  return replace_file(file, bytes);
}

}  // namespace

Result<> DocumentCare::look_at(const fs::path& file, VerifyReport& report) {
  const auto document = documents_.load(file);
  if (document) {
    count(*document->document, report);
    const auto signature = files_.signature(file);
    if (signature == Signature::failed) {
      report.damage.push_back({file.native(), std::string(kSignatureFailed), ""});
    } else if (!signature && signature.error().code != Code::not_found) {
      report.damage.push_back({file.native(), signature.error().message, ""});
    }
    return {};
  }
  REPRISE_ASSIGN(const FileKind kind, kind_of(file));
  if (document.error().code == Code::not_found && kind != FileKind::link) {
    return {};  // moved or removed meanwhile
  }
  const auto bytes = read_file(file, static_cast<std::int64_t>(kExcerptMax) * 1'000);
  report.damage.push_back(
      {file.native(), document.error().message, bytes ? bytes->substr(0, kExcerptMax) : ""});
  return {};
}

Result<VerifyReport> DocumentCare::verify() {
  VerifyReport report;
  REPRISE_ASSIGN(const std::vector<fs::path> files, files_.files());
  for (const fs::path& file : files) {
    REPRISE_TRY(look_at(file, report));
  }
  return report;
}

// The place that the file has in a copy of the store.
fs::path DocumentCare::inside(const fs::path& target, const fs::path& file) const {
  if (file == files_.root()) {
    return target;
  }
  if (files_.is_folder()) {
    return target / file.lexically_relative(files_.root());
  }
  // A file beside the root: named after it.
  const std::string root = files_.root().native();
  fs::path beside = target;
  beside += file.native().starts_with(root) ? file.native().substr(root.size())
                                            : cat(".", file.filename().native());
  return beside;
}

Result<> DocumentCare::repair(const fs::path& file, const fs::path& target, VerifyReport& report) {
  REPRISE_TRY(look_at(file, report));
  auto bytes = read_file(file);
  if (!bytes) {
    return {};  // it is in the report
  }
  const auto document = documents_.load(file);
  if (document && !is_damaged(*document->document)) {
    return write_file(target, *bytes);
  }
  REPRISE_TRY(make_private_folders(folder_of(target)));
  std::optional<Document> mended =
      document ? std::optional(*document->document) : files_.salvage(file, *bytes);
  if (mended) {
    for (FileSession& session : mended->sessions) {  // written anew, what is damaged among it
      session.encoded = {};
      session.spelled.clear();
    }
    REPRISE_ASSIGN(const std::string text, files_.encode(*mended));
    REPRISE_TRY(write_file(target, text));
  }
  REPRISE_TRY(keep_aside(target, *bytes));
  return {};
}

Result<VerifyReport> DocumentCare::repair_into(const fs::path& target) {
  VerifyReport report;
  REPRISE_ASSIGN(const std::vector<fs::path> files, files_.files());
  const auto fill = [&](const fs::path& place) -> Result<> {
    for (const fs::path& file : files) {
      REPRISE_TRY(repair(file, inside(place, file), report));
    }
    return {};
  };
  REPRISE_TRY(appear(target, fill));
  return report;
}

Result<DocumentCare::State> DocumentCare::state() const {
  State state;
  REPRISE_ASSIGN(const std::vector<fs::path> files, files_.files());
  for (const fs::path& file : files) {
    // Of a folder or a link there are no bytes to save.
    REPRISE_ASSIGN(const FileKind kind, kind_of(file));
    if (kind != FileKind::file) {
      continue;
    }
    REPRISE_ASSIGN(const FileIdentity identity, identify(file));
    state.emplace(file, identity);
  }
  return state;
}

Result<> DocumentCare::copy_all(const State& state, const fs::path& place) const {
  for (const auto& [file, identity] : state) {
    auto bytes = read_file(file);
    if (!bytes && bytes.error().code == Code::not_found) {
      continue;  // it has moved: the state is another one by now
    }
    if (!bytes) {
      return std::unexpected(std::move(bytes).error());
    }
    REPRISE_TRY(write_file(inside(place, file), *bytes));
  }
  return {};
}

// Takes no lock, for the store may be one that can only be read: what was copied counts when
// nothing has changed meanwhile.
Result<> DocumentCare::backup(const fs::path& target) {
  return appear(target, [&](const fs::path& place) -> Result<> {
    for (int tries = 0; tries < kCopyTries; ++tries) {
      REPRISE_ASSIGN(const State before, state());
      REPRISE_TRY(copy_all(before, place));
      REPRISE_ASSIGN(const State after, state());
      if (before == after) {
        return {};
      }
      REPRISE_TRY(remove_tree(place));
    }
    return fail(Code::busy, cat(files_.root().native(), " changes faster than it can be copied"));
  });
}

}  // namespace reprise::store
