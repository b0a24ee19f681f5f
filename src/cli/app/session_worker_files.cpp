// What the worker does with files that go with a message.

#include <algorithm>
#include <system_error>

#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/app/effect.h"
#include "cli/app/event.h"
#include "cli/app/live_session.h"
#include "cli/app/session_worker.h"
#include "cli/commands/prompt.h"
#include "cli/program/context.h"
#include "cli/repl/chat_session.h"
#include "reprise/message.h"

namespace reprise::cli::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFilesListedMax = 200;

bool is_web_address(std::string_view path) {
  return path.find("://") != std::string_view::npos;
}

}  // namespace

Result<std::vector<Block>> SessionWorker::blocks_of(const Ask& ask) {
  std::vector<Block> blocks;
  blocks.emplace_back(text_block(ask.text));
  const Live live = find(ask.tab);
  if (live == nullptr) {
    return blocks;
  }
  ProgramConfig& config = live->session().context().config();
  const auto add = [&](const std::string& named) -> Result<> {
    const std::string path = is_web_address(named) ? named : config.path_named(named).string();
    REPRISE_ASSIGN(Block block, attach_file(path));
    blocks.push_back(std::move(block));
    say(Announcement::Kind::notice, cat("attached ", terminal_line(named)));
    return {};
  };
  for (const std::string& file : ask.attached.files) {
    REPRISE_TRY(add(file));
  }
  for (const std::string& name : ask.attached.mentioned) {
    std::error_code none;
    if (fs::is_regular_file(config.path_named(name), none)) {
      REPRISE_TRY(add(name));
    }
  }
  return blocks;
}

Result<> SessionWorker::list_files(LiveSession& live, const ListFiles& request) {
  FilesListed listed{.tab = request.tab, .begun = request.begun, .paths = {}};
  const std::size_t slash = request.begun.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : request.begun.substr(0, slash + 1);
  const std::string name = request.begun.substr(folder.size());
  const fs::path where =
      live.session().context().config().path_named(folder.empty() ? "." : folder);
  std::error_code error;
  for (fs::directory_iterator entry(where, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string found = entry->path().filename().string();
    std::error_code none;
    // What the terminal could not show as it is cannot be chosen.
    const bool plain = utf8::is_valid(found) && terminal_line(found) == found;
    const bool hidden = found.starts_with('.') && !name.starts_with('.');
    if (!plain || hidden || !found.starts_with(name)) {
      continue;
    }
    listed.paths.push_back(cat(folder, found, entry->is_directory(none) ? "/" : ""));
    if (listed.paths.size() == kFilesListedMax) {
      break;
    }
  }
  std::ranges::sort(listed.paths);
  parts_.events.post(std::move(listed));
  return {};
}

}  // namespace reprise::cli::app
