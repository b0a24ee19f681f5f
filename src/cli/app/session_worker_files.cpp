// The worker's part of attachments.

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/encode.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/app/session_worker.h"
#include "cli/repl/chat_session.h"
#include "cli/session/prompt.h"
#include "cli/settings/program_config.h"
#include "model/attachment.h"

namespace reprise::cli::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFilesListedMax = 200;

bool is_web_address(std::string_view path) {
  return path.contains("://");
}

// A stored image has only the hash of its bytes, or its URL.
bool is_same_image(const ImageBlock& stored, const ImageBlock& now) {
  constexpr std::string_view kMark = ";base64,";
  const std::size_t mark = now.url.find(kMark);
  if (!stored.blob || mark == std::string::npos) {
    return stored.blob == now.blob && stored.url == now.url;
  }
  const auto bytes = base64_decode(std::string_view(now.url).substr(mark + kMark.size()));
  const auto hash = bytes ? sha256(*bytes) : Result<BlobHash>(fail(Code::corrupt, "not base64"));
  return hash && *hash == *stored.blob;
}

bool is_same_file(const Block& stored, const Block& now) {
  const auto* const image = std::get_if<ImageBlock>(&stored);
  const auto* const other = std::get_if<ImageBlock>(&now);
  if (image != nullptr && other != nullptr) {
    return is_same_image(*image, *other);
  }
  const auto name = attached_name(stored);
  return name && name == attached_name(now);
}

// `named` as the user wrote it.
Result<Block> attach_named(ProgramConfig& config, const std::string& named) {
  return attach_file(is_web_address(named) ? named : config.path_named(named).string());
}

Result<std::vector<Block>> blocks_of_last_question(ChatSession& session) {
  std::vector<Block> blocks;
  if (session.store() == nullptr) {
    return blocks;
  }
  REPRISE_TRY(session.store()->read(session.id(), {.newest_first = true}, [&](Message&& message) {
    if (!is_question(message)) {
      return Flow::proceed;
    }
    blocks = std::move(message.blocks);
    return Flow::stop;
  }));
  return blocks;
}

}  // namespace

void SessionWorker::add_earlier_files(TabId tab, std::vector<Block>& blocks) {
  const Live live = find(tab);
  if (live == nullptr) {
    return;
  }
  live->wait();
  auto earlier = blocks_of_last_question(live->session());
  if (!earlier) {
    return announce(
        Announcement::Kind::warning,
        cat("files of the last question are not sent again: ", earlier.error().message));
  }
  std::int64_t count = 0;
  for (Block& block : *earlier) {
    const bool is_file = std::holds_alternative<ImageBlock>(block) || attached_name(block);
    const bool is_present = std::ranges::any_of(
        blocks, [&block](const Block& now) { return is_same_file(block, now); });
    if (is_file && !is_present) {
      blocks.push_back(std::move(block));
      ++count;
    }
  }
  if (count > 0) {
    announce(Announcement::Kind::notice,
             cat("attached again: ", counted(count, "file"), " of the last question"));
  }
}

Result<std::vector<Block>> SessionWorker::blocks_of(const Ask& ask) {
  std::vector<Block> blocks;
  std::vector<std::string> names;
  blocks.emplace_back(text_block(ask.text));
  const Live live = find(ask.tab);
  if (live == nullptr) {
    return blocks;
  }
  ProgramConfig& config = live->session().context().config();
  const auto add = [&](const std::string& named) -> Result<> {
    REPRISE_ASSIGN(Block block, attach_named(config, named));
    blocks.push_back(std::move(block));
    names.push_back(terminal_line(named));
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
  for (const std::string& name : names) {
    announce(Announcement::Kind::notice, cat("attached ", name));
  }
  return blocks;
}

Result<> SessionWorker::check_file(LiveSession& live, const CheckFile& request) {
  const auto block = attach_named(live.session().context().config(), request.file);
  if (!block) {
    parts_.events.post(
        FileRefused{.tab = request.tab, .file = request.file, .reason = block.error().message});
  }
  return {};
}

Result<> SessionWorker::list_files(LiveSession& live, const ListFiles& request) {
  FilesListed listed{.tab = request.tab, .prefix = request.prefix, .paths = {}};
  const std::size_t slash = request.prefix.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : request.prefix.substr(0, slash + 1);
  const std::string name = request.prefix.substr(folder.size());
  const fs::path where =
      live.session().context().config().path_named(folder.empty() ? "." : folder);
  std::error_code error;
  for (fs::directory_iterator entry(where, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string found = entry->path().filename().string();
    std::error_code none;
    // A name that cannot be displayed unchanged cannot be chosen.
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
