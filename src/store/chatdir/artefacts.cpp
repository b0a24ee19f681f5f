#include <fcntl.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <system_error>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "store/chatdir/chat.h"
#include "store/chatdir/chatdir_store.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/packed_chat.h"
#include "store/chatdir/step_recorder.h"
#include "store/paths.h"
#include "store/rules.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

// The keys by which the original knows its files, and their older names.
struct KnownArtefact {
  std::string_view key;
  std::string_view file;
  std::array<std::string_view, 2> older = {};
};
constexpr KnownArtefact kKnown[] = {
    {"input", "input.md"},
    {"prompt", "prompt.md"},
    {"answer", "answer.md"},
    {"reason", "reason.md"},
    {"stream", "stream.md"},
    {"todo", "todo.md"},
    {"model", "model.json"},
    {"response", "response.json"},
    {"usage", "usage.json"},
    {"fail", "fail.json"},
    {"time", "time.json"},
    {"files", "files.jsonl"},
    {"inputs", "inputs.jsonl"},
    {"parts", "stream.jsonl", {"parts.jsonl", "stream.json"}},
    {"chunks", "chunks.jsonl", {"chunks.json"}},
    {"unknowns", "unknowns.jsonl", {"unknown.json"}},
    {"messages", kMessagesFile},
    {"tests", "tests.jsonl"},
    {"testsInfo", "tests.json"},
    {"testsErr", "tests.err"},
    {"testsOut", "tests.out"},
};
constexpr std::string_view kStepAnswer = "answer-step";
constexpr std::string_view kAnswer = "answer.md";

const KnownArtefact* find_known(std::string_view name) {
  const auto* const found = std::ranges::find_if(kKnown, [name](const KnownArtefact& artefact) {
    return artefact.key == name || artefact.file == name;
  });
  return found == std::end(kKnown) ? nullptr : found;
}

std::string_view file_of(std::string_view name) {
  const KnownArtefact* const artefact = find_known(name);
  return artefact == nullptr ? name : artefact->file;
}

// The record is not an artefact; its quarantined parts and the replaced messages can be read as
// artefacts.
bool is_record(std::string_view file) {
  return std::ranges::any_of(std::array{kMessagesFile, kMetadataFile, kAnswerFile, kLockFile},
                             [file](std::string_view known) { return file == known; });
}

bool is_beside_record(std::string_view file) {
  return file.starts_with(kReplacedFile) || file.starts_with(kMessagesFile) ||
         file.starts_with(kMetadataFile);
}

fs::path folder_of_step(Step step) {
  return step.value == 0 ? fs::path() : fs::path("steps") / step_folder_name(step);
}

// The paths in the chat's folder where the artefact may be, the likeliest first.
std::vector<fs::path> candidates(Step step, std::string_view name) {
  std::vector<std::string_view> files = {file_of(name)};
  if (const KnownArtefact* const artefact = find_known(name); artefact != nullptr) {
    std::ranges::copy_if(artefact->older, std::back_inserter(files),
                         [](std::string_view older) { return !older.empty(); });
  }
  if (files.front() != name) {
    files.push_back(name);  // a file named like the key
  }
  std::vector<fs::path> paths;
  for (const std::string_view file : files) {
    paths.push_back(folder_of_step(step) / file);
    if (step.value > 0) {
      paths.push_back(fs::path("step") / step_folder_name(step) / file);
    }
  }
  if (step.value > 0 && files.front() == kAnswer) {
    paths.emplace_back(cat(kStepAnswer, step.value, ".md"));
  }
  return paths;
}

// A file in the folder of a step: "steps/001/answer.md", or "step/001/…" of a related program.
struct StepFile {
  Step step;
  std::string_view name;
};
std::optional<StepFile> step_file_of(std::string_view path) {
  const std::size_t first = path.find('/');
  const std::size_t second = path.find('/', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view steps = path.substr(0, first);
  const std::string_view number = path.substr(first + 1, second - first - 1);
  const auto step = parse_number<std::int64_t>(number);
  const bool is_step = (steps == "steps" || steps == "step") && step && *step > 0 &&
                       number == step_folder_name({*step});
  return is_step ? std::optional(StepFile{{*step}, path.substr(second + 1)}) : std::nullopt;
}

// Whether an artefact may be written.
Result<> check_writable(Step step, std::string_view name) {
  REPRISE_TRY(check_artefact(step, name));
  const std::string_view file = file_of(name);
  if (step.value == 0 && (is_record(file) || is_beside_record(file))) {
    return fail(Code::invalid_argument,
                cat(file, " is the record of the session, not an artefact"));
  }
  if (step.value == 0 && step_file_of(name)) {
    return fail(Code::invalid_argument, cat(name, " belongs to a step: name the step"));
  }
  if (is_temporary_name(fs::path(name).filename().native())) {
    return fail(Code::invalid_argument, cat(name, " is the name of an unfinished file"));
  }
  return {};
}

// The path for writing the artefact; creates its folders. sync_folders_of() syncs their names.
Result<fs::path> prepare_artefact_path(const fs::path& chat, Step step, std::string_view name) {
  const fs::path file = folder_of_step(step) / file_of(name);
  if (file.has_parent_path()) {
    REPRISE_TRY(make_private_folders(chat / file.parent_path()));
  }
  return chat / file;
}

// Syncs the folders between the chat's own and the file, whether or not we created them.
Result<> sync_folders_of(const fs::path& chat, const fs::path& file) {
  for (fs::path folder = file.parent_path(); folder != chat;) {
    folder = folder.parent_path();
    REPRISE_TRY(sync_folder(folder));
  }
  return {};
}

// The first unused name among replaced/003, replaced/003.1…
Result<fs::path> new_replaced_folder(const fs::path& chat, Step step) {
  const fs::path name = chat / kReplacedFolder / step_folder_name(step);
  REPRISE_TRY(make_private_folders(name.parent_path()));
  fs::path unused = name;
  for (int number = 1;; ++number) {
    REPRISE_ASSIGN(const bool is_used, file_exists(unused));
    if (!is_used) {
      return unused;
    }
    unused = beside(name, cat(".", number));
  }
}

// Moves those of the files that exist into the folder, which is created.
Result<> move_files(const fs::path& from, std::span<const std::string_view> names,
                    const fs::path& to) {
  REPRISE_TRY(make_private_folders(to));
  for (const std::string_view name : names) {
    REPRISE_ASSIGN(const FileKind kind, kind_of(from / name));
    if (kind == FileKind::file) {
      REPRISE_TRY(move_file(from / name, to / name));
    }
  }
  return {};
}

// A file of a chat, by its name in the chat's folder.
struct ChatFile {
  std::string name;
  std::int64_t bytes = 0;
};

struct ChatEntries {
  std::vector<ChatFile> files = {};
  std::vector<std::string> others = {};  // "steps/001/x, a link"
};

// The entries below a folder of the chat; links to folders are not followed.
Result<> add_entries(const fs::path& chat, const fs::path& folder, ChatEntries& found) {
  REPRISE_ASSIGN(const auto entries, list_if_exists(chat / folder));
  if (entries.empty() && !folder.empty()) {
    found.others.push_back(cat(folder.native(), ", an empty folder"));
  }
  for (const fs::directory_entry& entry : entries) {
    const fs::path name = folder / entry.path().filename();
    REPRISE_ASSIGN(const FileKind kind, kind_of_entry(entry));
    if (kind == FileKind::folder) {
      REPRISE_TRY(add_entries(chat, name, found));
    } else if (kind == FileKind::file) {
      std::error_code error;
      const std::uintmax_t bytes = entry.file_size(error);
      if (error == std::errc::no_such_file_or_directory) {
        continue;  // another process has replaced or removed it meanwhile
      }
      if (error) {
        return std::unexpected(os_error("access", entry.path(), error.value()));
      }
      found.files.push_back({name.string(), static_cast<std::int64_t>(bytes)});
    } else if (kind != FileKind::none) {
      found.others.push_back(
          cat(name.native(), kind == FileKind::link ? ", a link" : ", a pipe or device"));
    }
  }
  return {};
}

// The entries of a packed chat, which has no links.
ChatEntries entries_of_packed(std::vector<std::pair<std::string, std::int64_t>> packed) {
  ChatEntries entries;
  std::ranges::sort(packed);
  for (auto entry = packed.begin(); entry != packed.end(); ++entry) {
    auto& [name, bytes] = *entry;
    const auto next = std::next(entry);
    if (!name.ends_with('/')) {
      entries.files.push_back({std::move(name), bytes});
    } else if (next == packed.end() || !next->first.starts_with(name)) {
      name.pop_back();
      entries.others.push_back(cat(name, ", an empty folder"));
    }
  }
  return entries;
}

// "answer-step2.md"
std::optional<Step> step_of_answer(std::string_view name) {
  constexpr std::string_view kEnd = ".md";
  if (!name.starts_with(kStepAnswer) || !name.ends_with(kEnd)) {
    return std::nullopt;
  }
  name.remove_prefix(kStepAnswer.size());
  name.remove_suffix(kEnd.size());
  const auto number = parse_number<std::int64_t>(name);
  return number && *number > 0 ? std::optional(Step{*number}) : std::nullopt;
}

// nullopt if the file is not an artefact.
std::optional<Artefacts::Entry> entry_of(const ChatFile& file) {
  if (is_temporary_name(fs::path(file.name).filename().native())) {
    return std::nullopt;
  }
  if (const auto in_step = step_file_of(file.name); in_step) {
    return Artefacts::Entry{in_step->step, std::string(in_step->name), file.bytes};
  }
  if (const auto step = step_of_answer(file.name); step) {
    return Artefacts::Entry{*step, std::string(kAnswer), file.bytes};
  }
  return is_record(file.name) ? std::nullopt
                              : std::optional(Artefacts::Entry{{0}, file.name, file.bytes});
}

std::vector<Artefacts::Entry> entries_of(const std::vector<ChatFile>& files) {
  std::vector<Artefacts::Entry> entries;
  for (const ChatFile& file : files) {
    if (auto entry = entry_of(file); entry) {
      entries.push_back(*std::move(entry));
    }
  }
  const auto key_of = [](const Artefacts::Entry& entry) {
    return std::pair<std::int64_t, std::string_view>(entry.step.value, entry.name);
  };
  std::ranges::stable_sort(entries, {}, key_of);
  // The same artefact may exist under an old and a new name.
  const auto doubles = std::ranges::unique(entries, {}, key_of);
  entries.erase(doubles.begin(), doubles.end());
  return entries;
}

}  // namespace

Result<> ChatdirStore::save_artefact(const SessionId& id, Step step, std::string_view name,
                                     std::string_view bytes) {
  auto refused = check_writable(step, name);
  const bool is_replaced = step.value == 0 && name == kReplacedFile;
  if (!refused && !is_replaced) {
    return refused;
  }
  return chats_.with(id, [&](Chat& chat) -> Result<> {
    REPRISE_ASSIGN(const LockFile::Hold hold, chat.lock());
    REPRISE_ASSIGN(const bool has_replaced, file_exists(chat.location().folder / kReplacedFile));
    if (is_replaced && has_replaced) {
      return std::move(refused);  // so that copying a chat does not stop at it
    }
    REPRISE_ASSIGN(const fs::path file, prepare_artefact_path(chat.location().folder, step, name));
    REPRISE_TRY(replace_file(file, bytes));
    return sync_folders_of(chat.location().folder, file);
  });
}

Result<> ChatdirStore::replace_step(const SessionId& id, Step step) {
  return chats_.with(id, [&](Chat& chat) -> Result<> {
    REPRISE_ASSIGN(const LockFile::Hold hold, chat.lock());
    const fs::path& folder = chat.location().folder;
    if (step.value == 0) {
      REPRISE_ASSIGN(const fs::path to, new_replaced_folder(folder, step));
      std::vector<std::string_view> prompt_files(kCopiedFiles.begin(), kCopiedFiles.end());
      std::erase(prompt_files, kModelFile);  // the original goes on with it
      return move_files(folder, prompt_files, to);
    }
    for (const char* const steps : {"steps", "step"}) {
      const fs::path from = folder / steps / step_folder_name(step);
      REPRISE_ASSIGN(const FileKind kind, kind_of(from));
      if (kind == FileKind::folder) {
        REPRISE_ASSIGN(const fs::path to, new_replaced_folder(folder, step));
        REPRISE_TRY(move_file(from, to));
      }
    }
    return {};
  });
}

Result<> ChatdirStore::append_artefact(const SessionId& id, Step step, std::string_view name,
                                       std::string_view bytes) {
  REPRISE_TRY(check_writable(step, name));
  return chats_.with(id, [&](Chat& chat) -> Result<> {
    REPRISE_ASSIGN(const LockFile::Hold hold, chat.lock());
    REPRISE_ASSIGN(const fs::path file, prepare_artefact_path(chat.location().folder, step, name));
    REPRISE_ASSIGN(Fd out, open_file(file, O_WRONLY | O_CREAT | O_APPEND, 0600));
    REPRISE_TRY(write_all(out.get(), bytes, file));
    return out.close(file);
  });
}

Result<std::optional<std::string>> ChatdirStore::find_artefact(const SessionId& id, Step step,
                                                               std::string_view name) {
  REPRISE_TRY(check_artefact(step, name));
  const std::vector<fs::path> paths = candidates(step, name);
  REPRISE_ASSIGN(const auto location, chats_.layout().find(id));
  if (location && location->is_packed()) {
    for (const fs::path& path : paths) {
      REPRISE_ASSIGN(auto bytes, read_packed_file(id, *location, path.native()));
      if (bytes) {
        return bytes;
      }
    }
    return std::nullopt;
  }
  return chats_.with(id, [&](Chat& chat) -> Result<std::optional<std::string>> {
    for (const fs::path& path : paths) {
      REPRISE_ASSIGN(auto bytes, if_exists(read_file(chat.location().folder / path)));
      if (bytes) {
        return bytes;
      }
    }
    return std::nullopt;
  });
}

namespace {

Result<ChatEntries> find_entries(Chats& chats, const SessionId& id) {
  REPRISE_ASSIGN(const auto location, chats.layout().find(id));
  if (location && location->is_packed()) {
    REPRISE_ASSIGN(auto packed, list_packed(id, *location));
    return entries_of_packed(std::move(packed));
  }
  return chats.with(id, [](Chat& chat) -> Result<ChatEntries> {
    ChatEntries entries;
    REPRISE_TRY(add_entries(chat.location().folder, "", entries));
    return entries;
  });
}

}  // namespace

Result<std::vector<Artefacts::Entry>> ChatdirStore::list_artefacts(const SessionId& id) {
  REPRISE_ASSIGN(const ChatEntries entries, find_entries(chats_, id));
  return entries_of(entries.files);
}

Result<std::vector<std::string>> ChatdirStore::list_unlisted(const SessionId& id) {
  REPRISE_ASSIGN(ChatEntries entries, find_entries(chats_, id));
  std::ranges::sort(entries.others);
  return std::move(entries.others);
}

}  // namespace reprise::store::chatdir
