// The worker's part of the picker's list of other tools' sessions.

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/app/event.h"
#include "cli/app/picker/picker.h"
#include "cli/app/session_worker.h"
#include "cli/program/context.h"
#include "cli/program/search_files.h"
#include "reprise/sessions.h"

namespace reprise::cli::app {

// Lists all sessions of other tools by activity.
void SessionWorker::load_others(int generation) {
  PageLoaded page{.generation = generation, .rows = {}, .next = {}};
  histories_ = find_histories(parts_.context, "");
  for (const FoundHistory& history : histories_) {
    auto found = find_all_sessions(*history.source);
    if (!found) {
      page.failure = found.error().message;
      continue;
    }
    for (const SessionInfo& info : found->sessions) {
      PickerRow row = picker_row(info, "");
      row.id.insert(0, history.url);
      row.mode = history.url.substr(0, history.url.size() - 1);
      page.rows.push_back(std::move(row));
    }
  }
  std::ranges::sort(page.rows,
                    [](const PickerRow& a, const PickerRow& b) { return is_newer(a, b); });
  parts_.events.post(std::move(page));
}

// The source of another tool's row, and the session's id in it.
std::optional<std::pair<Source*, SessionId>> SessionWorker::find_other(std::string_view row) {
  for (const FoundHistory& history : histories_) {
    if (row.starts_with(history.url)) {
      auto id = SessionId::parse(row.substr(history.url.size()));
      return id ? std::optional(std::pair(history.source.get(), *std::move(id))) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace reprise::cli::app
