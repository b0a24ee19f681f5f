#include "cli/program/last_list.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/owner.h"
#include "reprise/types.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "lists";
constexpr std::int64_t kFileBytesMax = 1 << 20;
constexpr std::chrono::hours kAgeMax{24};
constexpr std::chrono::hours kUnusedMax{24 * 30};

// Identifies the terminal session by its leader's pid and start time, as pids are reused.
std::string this_terminal() {
  const pid_t session = ::getsid(0);
  return cat(session, ":", started_ticks(session).value_or(0));
}

fs::path file_of(const LastListKey& key, std::string_view terminal) {
  const std::uint64_t hash = fnv1a(cat(key.store_url, "\n", key.folder, "\n", terminal));
  std::string name;
  for (int shift = 60; shift >= 0; shift -= 4) {
    name += "0123456789abcdef"[hash >> shift & 15U];
  }
  return key.state_folder / kFolder / cat(name, ".json");
}

// Removes the lists of closed terminals.
void remove_unused(const fs::path& folder) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    const auto used = fs::last_write_time(entry->path(), unknown);
    if (!unknown && now - used > kUnusedMax) {
      fs::remove(entry->path(), unknown);
    }
  }
}

bool read_ids(json::Scanner& scanner, std::vector<SessionId>& ids) {
  return scanner.array([&] {
    std::string text;
    if (!scanner.string(text)) {
      return false;
    }
    auto id = SessionId::parse(text);
    if (!id) {
      return false;
    }
    ids.push_back(*std::move(id));
    return true;
  });
}

}  // namespace

bool is_old(const LastList& list, Time now) {
  const auto age = now - list.shown_at;
  return age > kAgeMax || age < -kAgeMax;
}

Result<> save_last_list(const LastListKey& key, const LastList& list) {
  const std::string terminal = this_terminal();
  std::string out;
  json::ObjectWriter object(out);
  object.field("store", key.store_url)
      .field("folder", key.folder)
      .field("terminal", terminal)
      .field("shown_at", format_time(list.shown_at))
      .key("ids");
  json::ArrayWriter array(out);
  for (const SessionId& id : list.ids) {
    array.item();
    json::append_string(out, id.str());
  }
  array.close();
  object.close();
  out += '\n';
  // Not synced and not replaced atomically: a torn list only means that numbers do not work, and a
  // sync would cost more than everything else in `reprise list`.
  const fs::path path = file_of(key, terminal);
  std::error_code unknown;
  if (!fs::exists(path, unknown)) {
    REPRISE_TRY(make_private_folders(path.parent_path()));
    remove_unused(path.parent_path());
  }
  REPRISE_ASSIGN(Fd file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  REPRISE_TRY(write_all(file.get(), out, path));
  return file.close(path);
}

std::optional<LastList> load_last_list(const LastListKey& key) {
  const std::string terminal = this_terminal();
  const auto text = read_file(file_of(key, terminal), kFileBytesMax);
  if (!text) {
    return std::nullopt;
  }
  json::Scanner scanner(*text);
  LastListKey written;
  std::string written_in;
  std::string shown_at;
  LastList list{};
  const bool read = scanner.object([&](std::string_view name) {
    if (name == "ids") {
      return read_ids(scanner, list.ids);
    }
    std::string* const member = name == "store"      ? &written.store_url
                                : name == "folder"   ? &written.folder
                                : name == "terminal" ? &written_in
                                : name == "shown_at" ? &shown_at
                                                     : nullptr;
    return member == nullptr ? scanner.skip() : scanner.string(*member);
  });
  const auto time = parse_time(shown_at);
  if (!read || !time || written.store_url != key.store_url || written.folder != key.folder ||
      written_in != terminal) {
    return std::nullopt;
  }
  list.shown_at = *time;
  return list;
}

}  // namespace reprise::cli
