#include <algorithm>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "store/chatdir/chat.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/chat_writer.h"
#include "store/chatdir/chatdir_store.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/line.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/message_log.h"
#include "store/chatdir/move_journal.h"
#include "store/chatdir/packed_chat.h"
#include "store/chatdir/trailer.h"
#include "store/paths.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStrandedReason =
    "a session that no list shows, left by an unfinished rename: rename the folder to its id";
constexpr std::string_view kPartlyRemoved =
    "partly removed: creating, moving or removing a session removes the rest";

void add_damage(std::vector<Damage> damage, VerifyReport& report) {
  std::ranges::move(damage, std::back_inserter(report.damage));
}

// Reads all of one chat; any failure is damage of that chat only.
Result<ReadReport> check_chat(Chat& chat, VerifyReport& report) {
  REPRISE_ASSIGN(std::vector<Damage> damage, chat.damage());
  add_damage(std::move(damage), report);
  std::int64_t messages = 0;
  auto read = chat.read({}, [&messages](Message&&) {
    ++messages;
    return Flow::proceed;
  });
  report.messages += messages;
  if (read) {
    add_damage(read->damage, report);
  }
  return read;
}

// Writes the readable messages, each in a line of ours. Existing trailers keep their contents.
class NewLog {
 public:
  explicit NewLog(int out, const fs::path& file) : out_(out), file_(file) {}

  Result<> add(std::string_view bytes) {
    auto line = read_line(bytes);
    if (!line) {
      return {};  // already reported
    }
    Trailer trailer;
    if (auto found = find_trailer(bytes); found) {
      trailer = *found->trailer;
    }
    trailer.seq = {count_++};
    trailer.number = 1;
    trailer.of = 1;
    std::string text;
    add_tool_names(names_, line->message);
    REPRISE_TRY(append_line(text, end_, line->message, std::move(trailer), names_));
    end_ += static_cast<std::int64_t>(text.size());
    return write_all(out_, text, file_);
  }

 private:
  int out_;
  const fs::path& file_;
  std::int64_t end_ = 0;
  std::int64_t count_ = 0;
  ToolNames names_;
};

Result<> write_messages(const fs::path& from, const fs::path& to) {
  REPRISE_ASSIGN(const auto opened, if_exists(MessageLog::open(from)));
  if (!opened) {
    return replace_file(to, "");
  }
  const std::shared_ptr<MessageLog>& log = *opened;
  return replace_file(to, [&](int out) -> Result<> {
    NewLog messages(out, to);
    FileWindow window(log->fd(), from);
    const Seq head = log->state().head;
    for (Seq at; at < head;) {
      const auto entries = log->entries(at, head, 1, false);
      if (entries.empty()) {
        break;
      }
      const MessageLog::LogEntry& entry = entries.front();
      REPRISE_ASSIGN(const std::string_view bytes,
                     window.view(entry.offset, static_cast<std::size_t>(entry.length)));
      REPRISE_TRY(messages.add(bytes));
      at = entry.seq.next();
    }
    return {};
  });
}

Damage session_damage(const SessionId& id, const Error& error) {
  return {id.str(), error.message, ""};
}

// An unreadable file is reported as damage and skipped.
Result<> copy_unchanged(const fs::path& from, const fs::path& to, VerifyReport& report) {
  const auto bytes = read_file(from);
  if (bytes) {
    return replace_file(to, *bytes);
  }
  if (bytes.error().code != Code::not_found) {
    report.damage.push_back({from.native(), bytes.error().message, ""});
  }
  return {};
}

// What cannot be read is damage; an error is one of writing the copy.
Result<> repair_chat(Chat& chat, const fs::path& to, VerifyReport& report) {
  const std::size_t damage_before = report.damage.size();
  if (const auto checked = check_chat(chat, report); !checked) {
    report.damage.push_back(session_damage(chat.id(), checked.error()));
    return {};
  }
  const fs::path& from = chat.location().folder;
  REPRISE_TRY(copy_other_files(from, to, &report.damage));
  REPRISE_TRY(write_messages(from / kMessagesFile, to / kMessagesFile));
  if (report.damage.size() > damage_before) {
    for (const std::string_view name : {kMessagesFile, kMetadataFile}) {
      REPRISE_TRY(copy_unchanged(from / name, to / cat(name, ".bak"), report));
    }
  }
  auto session = chat.load();
  if (!session) {
    report.damage.push_back(session_damage(chat.id(), session.error()));
    return {};
  }
  if (chat.location().is_trashed()) {
    session->session.info.state = session->state_before_trash;
  }
  MetadataFile metadata(chat.id());
  REPRISE_ASSIGN(const LogPoint end, point_at_end(to / kMessagesFile));
  metadata.current = {*std::move(session), end, {}};
  return write_metadata(to, metadata);
}

// An archive is as intact as its zip.
void verify_packed(const Layout::Listed& listed, VerifyReport& report) {
  PackedSession packed = read_packed_session(listed.id, listed.location);
  add_damage(std::move(packed.damage), report);
  if (const auto checked = check_zip(listed.location.folder / kZipFile); !checked) {
    report.damage.push_back({listed.id.str(), checked.error().message, ""});
    return;
  }
  const auto read = read_packed(listed.id, listed.location, {}, [&report](Message&&) {
    ++report.messages;
    return Flow::proceed;
  });
  if (read) {
    add_damage(read->damage, report);
  }
}

Result<> copy_orphan(const fs::path& from, const fs::path& to, VerifyReport& report) {
  REPRISE_TRY(copy_other_files(from, to, &report.damage));
  for (const std::string_view name : {kMessagesFile, kMetadataFile}) {
    REPRISE_TRY(copy_unchanged(from / name, to / name, report));
  }
  return {};
}

// Whether the chat was moved or removed meanwhile.
bool has_moved(const Chat& chat) {
  const auto is_in_place = chat.is_in_place();
  return is_in_place && !*is_in_place;
}

}  // namespace

Result<VerifyReport> ChatdirStore::verify() {
  VerifyReport report;
  REPRISE_ASSIGN(const auto sessions, chats_.layout().list_all());
  for (const Layout::Listed& listed : sessions) {
    chats_.report_progress("verifying", report.sessions++, sessions.size());
    if (listed.location.is_packed()) {
      verify_packed(listed, report);
      continue;
    }
    const auto chat = chats_.at(listed);
    const auto read = chat ? check_chat(**chat, report) : std::unexpected(chat.error());
    if (!read && !(chat && has_moved(**chat))) {
      report.damage.push_back(session_damage(listed.id, read.error()));
    }
  }
  chats_.report_progress("verifying", report.sessions, sessions.size());
  REPRISE_ASSIGN(const Orphans orphans, find_orphans(chats_.layout()));
  for (const fs::path& folder : orphans.sessions) {
    report.damage.push_back({folder.native(), std::string(kStrandedReason), ""});
  }
  for (const fs::path& folder : orphans.removals) {
    report.damage.push_back({folder.native(), std::string(kPartlyRemoved), ""});
  }
  return report;
}

Result<VerifyReport> ChatdirStore::repair_into(const fs::path& named) {
  REPRISE_ASSIGN(const fs::path target, resolve_folder_of(named));
  VerifyReport report;
  REPRISE_TRY(create_directory(target, [&](const Layout& to) { return repair_all(to, report); }));
  return report;
}

Result<> ChatdirStore::repair_all(const Layout& to, VerifyReport& report) {
  REPRISE_ASSIGN(const auto sessions, chats_.layout().list_all());
  for (const Layout::Listed& listed : sessions) {
    chats_.report_progress("repairing", report.sessions++, sessions.size());
    const fs::path folder = to.folder_for(listed.id, listed.location);
    if (listed.location.is_packed()) {
      verify_packed(listed, report);
      REPRISE_TRY(copy_other_files(listed.location.folder, folder, &report.damage));
      continue;
    }
    const auto chat = chats_.at(listed);
    if (!chat) {
      report.damage.push_back(session_damage(listed.id, chat.error()));
      continue;
    }
    REPRISE_TRY(repair_chat(**chat, folder, report));
  }
  chats_.report_progress("repairing", report.sessions, sessions.size());
  REPRISE_ASSIGN(const Orphans orphans, find_orphans(chats_.layout()));
  for (const fs::path& folder : orphans.sessions) {
    report.damage.push_back({folder.native(), std::string(kStrandedReason), ""});
    REPRISE_TRY(
        copy_orphan(folder, to.root() / folder.lexically_relative(chats_.layout().root()), report));
  }
  for (const fs::path& file : {chats_.layout().current_file(), chats_.layout().model_file()}) {
    REPRISE_TRY(copy_unchanged(file, to.chats() / file.filename(), report));
  }
  return {};
}

}  // namespace reprise::store::chatdir
