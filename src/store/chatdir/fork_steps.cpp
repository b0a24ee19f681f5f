// The files of a fork's steps. They are copies: a chat does not share anything with another one.

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/json_view.h"
#include "base/text.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/step_recorder.h"
#include "store/paths.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kStepsBytesMax = std::int64_t{1} << 30;

// The number in the name of a step's folder; 0 for other names.
std::int64_t number_of(const fs::path& folder) {
  const std::string name = folder.filename();
  const auto number = parse_number<std::int64_t>(name);
  return number && *number > 0 && name == step_folder_name({*number}) ? *number : 0;
}

Result<bool> has_step(const fs::path& folder, const ForkedSteps& steps) {
  const std::int64_t number = number_of(folder);
  if (number == 0 || number <= steps.answers || !steps.is_whole) {
    return number > 0 && number <= steps.answers;
  }
  // Of a chat that has lost messages, or one without an answer yet.
  return file_exists(folder / "answer.md");
}

Result<> copy_if_exists(const fs::path& from, const fs::path& to) {
  REPRISE_ASSIGN(const auto bytes, if_exists(read_file(from)));
  return bytes ? replace_file(to, *bytes) : Result<>();
}

// One line for each step.
Result<> copy_steps_file(const fs::path& from, const fs::path& to, const std::set<Step>& copied) {
  REPRISE_ASSIGN(const auto bytes, if_exists(read_file(from, kStepsBytesMax)));
  std::string kept;
  for (std::string_view remaining(bytes ? std::string_view(*bytes) : ""); !remaining.empty();) {
    const std::size_t end = std::min(remaining.find('\n'), remaining.size() - 1) + 1;
    const std::string_view line = remaining.substr(0, end);
    remaining.remove_prefix(end);
    if (copied.contains(Step{JsonView(line)["step"].count()})) {
      kept += line;
    }
  }
  return kept.empty() ? Result<>() : replace_file(to, kept);
}

}  // namespace

Result<> copy_steps(const fs::path& from, const fs::path& to, const ForkedSteps& steps) {
  std::set<Step> copied;
  fs::path newest;
  for (const char* const name : {"step", "steps"}) {
    REPRISE_ASSIGN(const FileKind kind, kind_of(from / name));
    if (kind != FileKind::folder) {
      continue;
    }
    REPRISE_ASSIGN(auto entries, list_folder(from / name));
    std::ranges::sort(entries, {}, [](const auto& entry) { return number_of(entry.path()); });
    for (const fs::directory_entry& entry : entries) {
      REPRISE_ASSIGN(const FileKind entry_kind, kind_of_entry(entry));
      REPRISE_ASSIGN(const bool is_copied, entry_kind == FileKind::folder
                                               ? has_step(entry.path(), steps)
                                               : Result<bool>(false));
      if (is_copied) {
        newest = fs::path(name) / entry.path().filename();
        copied.insert({number_of(newest)});
        REPRISE_TRY(copy_folder(from / newest, to / newest));
      }
    }
  }
  for (std::int64_t number = 1; number <= steps.answers; ++number) {
    const std::string answer = cat("answer-step", number, ".md");
    REPRISE_TRY(copy_if_exists(from / answer, to / answer));
  }
  // What the chat's own folder has of its newest step, and the model to go on with.
  for (const std::string_view name : kCopiedFiles) {
    if (name == kModelFile) {
      REPRISE_TRY(copy_if_exists(from / name, to / name));
    } else if (!newest.empty()) {
      REPRISE_TRY(copy_if_exists(to / newest / name, to / name));
    }
  }
  return copy_steps_file(from / "steps.jsonl", to / "steps.jsonl", copied);
}

}  // namespace reprise::store::chatdir
