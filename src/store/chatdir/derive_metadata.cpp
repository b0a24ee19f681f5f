// Derives the metadata of a chat from the files of another program.

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_view.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "reprise/source.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/message_log.h"
#include "store/paths.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSmallFileMax = std::int64_t{1} << 20;
constexpr std::size_t kTitleCharactersMax = 50;
constexpr Seq kTitleSearchEnd{20};  // the first question is among the first messages

// NOLINTBEGIN(misc-include-cleaner): statx() has no header of its own.
Time time_of(const struct statx_timestamp& time) {
  return Time(std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
}

// The creation time of the file or folder; if the file system does not record it, the modification
// time.
Result<Time> birth_of(const fs::path& path) {
  struct statx status{};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BTIME | STATX_MTIME, &status) != 0) {
    return std::unexpected(os_error("access", path, errno));
  }
  const Time changed = time_of(status.stx_mtime);
  const bool has_birth = (status.stx_mask & STATX_BTIME) != 0;
  return has_birth ? std::min(changed, time_of(status.stx_btime)) : changed;
}
// NOLINTEND(misc-include-cleaner)

// The time of the chat's creation: that of its oldest file, even if the folder was moved or
// unpacked since.
Result<Time> beginning_of(const fs::path& chat) {
  REPRISE_ASSIGN(Time beginning, birth_of(chat));
  for (const fs::path& folder : {chat, chat / "steps"}) {
    REPRISE_ASSIGN(const auto entries, list_if_exists(folder));
    for (const fs::directory_entry& entry : entries) {
      REPRISE_ASSIGN(const auto status, find_status(entry.path()));
      if (status) {
        beginning = std::min(beginning, chatdir::time_of(status->st_mtim));
      }
    }
  }
  return beginning;
}

// Reads the model from a small JSON file: "" if it or the file is missing.
Result<> read_model(const fs::path& file, std::string_view name, SessionInfo& info) {
  const auto bytes = read_file(file, kSmallFileMax);
  if (!bytes) {
    return bytes.error().code == Code::io ? Result<>(std::unexpected(bytes.error())) : Result<>();
  }
  info.model = JsonView(*bytes)[name].text();
  info.provider = JsonView(*bytes)["provider"].text();
  return {};
}

// The first non-blank line of the first question.
Result<std::string> title_of(const fs::path& messages) {
  std::string title;
  const auto visit = [&title](Message&& message) {
    if (message.role != role::kUser) {
      return Flow::proceed;
    }
    const std::string text = plain_text(message);
    std::string_view line = trimmed(text);
    line = trimmed(line.substr(0, line.find_first_of("\r\n")));
    title = trimmed(grapheme_prefix(line, kTitleCharactersMax));
    return title.empty() ? Flow::proceed : Flow::stop;
  };
  const auto read = read_first(messages, kTitleSearchEnd, {}, visit);
  // A damaged file has no title; reading the messages reports the damage.
  if (!read && read.error().code == Code::io) {
    return std::unexpected(read.error());
  }
  return title;
}

}  // namespace

Result<Described> describe(const MessageLog& log, Seq to, const std::vector<Message>& more) {
  Described described{.question = "", .messages = to.value + std::ssize(more)};
  const auto visit = [&described](const Message& message) {
    if (message.role != role::kUser) {
      return Flow::proceed;
    }
    described.question = std::to_string(fnv1a(plain_text(message)));
    return Flow::stop;
  };
  REPRISE_TRY(read_messages(log, {.to = std::min(to, kTitleSearchEnd)}, {}, visit));
  for (const Message& message : more) {
    if (!described.question.empty() || visit(message) == Flow::stop) {
      break;
    }
  }
  return described;
}

Result<MetadataFile> derive_metadata(const Layout& layout, const fs::path& folder,
                                     const SessionId& id, std::string_view working_dir,
                                     MetadataScope scope) {
  MetadataFile metadata(id);
  metadata.is_derived = true;
  SessionInfo& info = metadata.current.stored.session.info;
  REPRISE_ASSIGN(info.title, title_of(folder / kMessagesFile));
  REPRISE_TRY(read_model(folder / "model.json", "id", info));
  if (info.model.empty()) {
    REPRISE_TRY(read_model(layout.model_file(), "model", info));
  }
  info.working_dir = working_dir;
  REPRISE_ASSIGN(info.created_at, beginning_of(folder));
  info.updated_at = info.created_at;
  if (scope == MetadataScope::all) {
    REPRISE_ASSIGN(metadata.current.stored.session.usage, usage_of_steps(folder));
  }
  return metadata;
}

}  // namespace reprise::store::chatdir
