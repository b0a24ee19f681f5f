#include "source/codex/codex_files.h"

#include <algorithm>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "reprise/source.h"
#include "reprise/types.h"
#include "source/file.h"
#include "source/lines.h"
#include "source/records.h"

namespace reprise::source::codex {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "rollout-";
// Older files may be compressed; the first version wrote a single JSON document.
constexpr std::string_view kEndings[] = {".jsonl", ".jsonl.zst", ".json"};
constexpr std::size_t kTimeBytes = 20;  // "2026-11-20T10-00-00-"
constexpr std::size_t kDayBytes = 11;   // "2025-05-02-", in the first version
constexpr std::int64_t kHeadBytes = 1 << 20;

bool is_rollout(const fs::path& file) {
  const std::string name = file.filename().native();
  return name.starts_with(kPrefix) &&
         std::ranges::any_of(kEndings, [&](std::string_view end) { return name.ends_with(end); });
}

std::string stem_of(const fs::path& file) {
  std::string name = file.filename().native();
  for (const std::string_view end : kEndings) {
    if (name.ends_with(end)) {
      name.resize(name.size() - end.size());
      break;
    }
  }
  return name;
}

// "<thread>" or "<thread>_<segment>".
std::string_view thread_name(std::string_view stem) {
  if (stem.starts_with(kPrefix) && stem.size() > kPrefix.size() + kTimeBytes) {
    stem.remove_prefix(kPrefix.size());
    stem.remove_prefix(stem[kDayBytes - 1] == 'T' ? kTimeBytes : kDayBytes);
  }
  return stem;
}

Result<std::optional<Base>> base_of(const fs::path& file) {
  ReadReport ignored;
  REPRISE_ASSIGN(const Fd fd, open_unpacked(file, ignored));
  LineReader lines(fd.get(), file, 0, kHeadBytes);
  Line first;
  REPRISE_ASSIGN(const bool has_line, lines.next(first));
  if (!has_line || !is_json_object(first.text)) {
    return std::nullopt;
  }
  const JsonView pointer = JsonView(first.text)["payload"]["history_base"];
  if (!pointer.is(json::Kind::object)) {
    return std::nullopt;
  }
  return Base{pointer["thread_id"].text(), pointer["end_ordinal_exclusive"].count(),
              pointer["end_byte_offset"].count()};
}

// Whether the record that ends at the base's byte is the last one before its ordinal.
Result<bool> ends_before(const fs::path& file, const Base& base) {
  ReadReport ignored;
  REPRISE_ASSIGN(const Fd fd, open_unpacked(file, ignored));
  bool is_match = false;
  const std::int64_t begin = std::max<std::int64_t>(0, base.byte_end - kHeadBytes);
  REPRISE_TRY(for_each_record(fd.get(), {.file = file, .begin = begin, .end = base.byte_end},
                              begin > 0 ? is_not_cut : LineFilter(), ignored,
                              [&](const Record& record) {
                                is_match = record.json["ordinal"].count() + 1 == base.ordinal_end &&
                                           record.at + record.bytes() + 2 >= base.byte_end;
                              }));
  return is_match;
}

}  // namespace

ThreadFiles ThreadFiles::find(const fs::path& location, ReadReport& report) {
  ThreadFiles found;
  if (const auto kind = kind_of(location); kind && *kind == FileKind::file) {
    found.add(location, false, report);
    return found;
  }
  const fs::path sessions = location / "sessions";
  const fs::path archived = location / "archived_sessions";
  const bool has_sessions = has_folder(sessions, report);
  const bool is_whole = has_sessions || has_folder(archived, report);
  for (const fs::path& file : files_below(is_whole ? sessions : location, 4, is_rollout, report)) {
    found.add(file, false, report);
  }
  if (!is_whole) {
    return found;
  }
  for (const fs::path& file : files_below(archived, 0, is_rollout, report)) {
    found.add(file, true, report);
  }
  const fs::path index = location / "session_index.jsonl";
  const auto opened = if_exists(open_foreign(index));
  Result<> read = opened ? Result<>() : std::unexpected(opened.error());
  if (const std::optional<Fd> none; const auto& fd = opened ? *opened : none) {
    read = for_each_record(fd->get(), {.file = index}, {}, report, [&](const Record& record) {
      found.names_.insert_or_assign(record.json["id"].text(), record.json["thread_name"].text());
    });
  }
  if (!read) {  // titles are the first questions then
    add_damage(report, {index.native(), read.error().message, ""});
  }
  return found;
}

void ThreadFiles::add(const fs::path& file, bool is_archived, ReadReport& report) {
  const std::string stem = stem_of(file);
  const std::string_view name = thread_name(stem);
  const auto id = SessionId::parse(name.substr(0, name.find('_')));
  if (!id) {
    return add_damage(report, {file.native(), id.error().message, ""});
  }
  // Files are sorted by time, so a thread's first file comes before its segments.
  const auto [known, is_new] = indexes_.emplace(id->str(), threads_.size());
  if (is_new) {
    threads_.push_back({*id, {file}, is_archived});
    return;
  }
  Thread& present = threads_[known->second];
  if (stem_of(present.files.back()) == stem) {
    return;  // the same file, compressed or archived
  }
  if (name.contains('_')) {
    present.files.push_back(file);
  } else {
    add_damage(
        report,
        {file.native(),
         cat("ignored: the thread is already read from ", present.files.front().native()), ""});
  }
}

const ThreadFiles::Thread* ThreadFiles::thread(std::string_view id) const {
  const auto known = indexes_.find(id);
  return known == indexes_.end() ? nullptr : &threads_[known->second];
}

std::vector<Located> ThreadFiles::sessions() const {
  std::vector<Located> sessions;
  for (const Thread& thread : threads_) {
    Located located{.id = thread.id, .parts = {{.file = thread.files.back()}}};
    located.is_archived = thread.is_archived;
    if (const auto name = names_.find(thread.id.str()); name != names_.end()) {
      located.title = name->second;
    }
    sessions.push_back(std::move(located));
  }
  return sessions;
}

// Null if it does not exist. After repeated reverts, the ordinal tells which of a thread's files is
// meant.
Result<const fs::path*> ThreadFiles::file_of(const Base& base, const fs::path& successor) const {
  const Thread* const base_thread = thread(base.thread);
  const fs::path* found = nullptr;
  for (const fs::path& file :
       base_thread != nullptr ? std::span(base_thread->files) : std::span<const fs::path>()) {
    bool is_base = file != successor;
    if (is_base && found != nullptr) {
      REPRISE_ASSIGN(is_base, ends_before(file, base));
    }
    found = is_base ? &file : found;
  }
  return found;
}

Result<std::vector<FilePart>> ThreadFiles::parts_of(const SessionId& id, ReadReport& report) const {
  std::vector<FilePart> parts;  // the newest first
  const Thread* const newest = thread(id.str());
  if (newest == nullptr) {
    return parts;
  }
  parts.push_back({.file = newest->files.back()});
  while (true) {
    FilePart& part = parts.back();
    REPRISE_ASSIGN(const std::optional<Base> base, base_of(part.file));
    if (!base) {
      break;
    }
    REPRISE_ASSIGN(const fs::path* const file, file_of(*base, part.file));
    if (file == nullptr || std::ranges::find(parts, *file, &FilePart::file) != parts.end()) {
      add_damage(report, {cat(part.file.native(), ": earlier messages"),
                          file == nullptr ? cat("the thread ", base->thread, " does not exist")
                                          : "cyclic references between files",
                          ""});
      break;
    }
    const std::string stem = stem_of(part.file);
    const std::string_view name = thread_name(stem);
    const bool is_same = name.substr(0, name.find('_')) == base->thread;
    FilePart before{.file = *file, .is_inherited = part.is_inherited || !is_same};
    if (!is_same) {
      before.end = base->byte_end;  // what follows belongs to the other session
    }
    part.after_byte = base->byte_end;
    parts.push_back(std::move(before));
  }
  std::ranges::reverse(parts);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    parts[i].after_part = i - 1;
  }
  return parts;
}

}  // namespace reprise::source::codex
