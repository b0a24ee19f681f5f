#include "store/chatdir/packed_chat.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <ranges>
#include <system_error>

#include "base/file.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/secrets.h"
#include "base/text.h"
#include "model/known_time.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/message_log.h"
#include "store/chatdir/zip_file.h"
#include "store/paths.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMetadataBytesMax = std::int64_t{64} << 20;

// The chat's files with their names in the zip; those of folders end with '/'.
Result<> list_files(const fs::path& folder, const std::string& prefix,
                    std::vector<std::pair<std::string, fs::path>>& files) {
  REPRISE_ASSIGN(const auto entries, list_folder(folder));
  for (const fs::directory_entry& entry : entries) {
    const std::string name = prefix + entry.path().filename().string();
    if (name == kLockFile) {
      continue;
    }
    REPRISE_ASSIGN(const FileKind kind, kind_of_entry(entry));
    if (kind == FileKind::folder) {
      files.emplace_back(name + "/", entry.path());
      REPRISE_TRY(list_files(entry.path(), name + "/", files));
    } else if (kind == FileKind::file) {
      files.emplace_back(name, entry.path());
    } else {
      return fail(Code::unsupported, cat("cannot archive ", entry.path().native(),
                                         ": it is neither a file nor a folder"));
    }
  }
  return {};
}

Result<> write_zip(const std::vector<std::pair<std::string, fs::path>>& files,
                   const fs::path& target, Packing packing) {
  REPRISE_ASSIGN(ZipWriter zip, ZipWriter::create(target, packing));
  for (const auto& [name, file] : files) {
    if (name.ends_with('/')) {
      REPRISE_TRY(zip.add_folder(name, file));
    } else if (file.filename() == kResponseFile) {
      REPRISE_ASSIGN(const std::string bytes, read_file(file));
      REPRISE_TRY(zip.add_bytes(name, file, redact_headers(bytes)));
    } else {
      REPRISE_TRY(zip.add_file(name, file));
    }
  }
  return zip.close();
}

std::string describe(const Packed& packed) {
  const StoredSession& stored = packed.session;
  const SessionInfo& info = stored.session.info;
  MetadataFile metadata(info.id);
  metadata.current.stored = stored;
  std::string out;
  json::ObjectWriter object(out);
  object.field("id", info.id.str())
      .field("date", format_time(packed.when))
      .raw("usage", step_usage_to_json(stored.session.usage))
      .field("title", info.title)
      .field("messages", info.head.value);
  const std::string metadata_json = metadata_to_json(metadata);
  object.raw("reprise", trimmed(metadata_json));
  const auto& [mode, modified] = packed.folder_metadata;
  object.raw("reprise_folder",
             json::object_of("mode", std::int64_t{mode}, "seconds", std::int64_t{modified.tv_sec},
                             "nanoseconds", std::int64_t{modified.tv_nsec}));
  object.close();
  out += '\n';
  return out;
}

// Reads the members of the original program; ours, if present, has all of the same and more.
Result<StoredSession> read_description(const SessionId& id, std::string_view json) {
  json::Scanner check(json);
  if (check.kind() != json::Kind::object || !check.skip() || !check.end()) {
    return std::unexpected(check.fault());
  }
  const JsonView view(json);
  MetadataFile metadata(id);
  if (const std::string_view metadata_json = view["reprise"].raw(); !metadata_json.empty()) {
    REPRISE_ASSIGN(metadata, metadata_from_json(id, metadata_json));
  }
  StoredSession& stored = metadata.current.stored;
  SessionInfo& info = stored.session.info;
  info.head.value = json::integer_in(view["messages"].raw()).value_or(info.head.value);
  if (!is_valid_head(info.head)) {
    return fail(Code::corrupt, head_out_of_range(info.head));
  }
  if (info.title.empty()) {
    info.title = view["title"].text();
  }
  if (const auto date = parse_time(view["date"].text()); date) {
    info.created_at = is_known(info.created_at) ? info.created_at : *date;
    info.updated_at = is_known(info.updated_at) ? info.updated_at : *date;
  }
  if (stored.session.usage == Usage{}) {
    stored.session.usage = step_usage_from_json(view["usage"].raw());
  }
  return std::move(stored);
}

// In archives of the whole folder, each name is prefixed with that of the folder.
std::string_view without_folder(std::string_view name, const SessionId& id) {
  const std::string folder = id.str() + "/";
  return name.starts_with(folder) ? name.substr(folder.size()) : name;
}

// Sets the mode and time from an archive; `may` are permissions that the owner always gets.
Result<> set_mode_and_time(int fd, const std::optional<mode_t>& mode, mode_t minimum,
                           const std::optional<timespec>& modified, const fs::path& path) {
  if (mode && ::fchmod(fd, *mode | minimum) != 0) {
    return std::unexpected(os_error("set the mode of", path, errno));
  }
  const std::array<timespec, 2> times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
                                         modified.value_or(timespec{})};
  if (modified && ::futimens(fd, times.data()) != 0) {
    return std::unexpected(os_error("set the time of", path, errno));
  }
  return {};
}

Result<> unpack_entry(const ZipReader& zip, const ZipReader::Entry& entry, const fs::path& target) {
  REPRISE_TRY(make_private_folders(folder_of(target)));
  REPRISE_ASSIGN(Fd out, open_file(target, O_WRONLY | O_CREAT | O_EXCL, 0600));
  REPRISE_TRY(
      zip.read(entry, [&](std::string_view bytes) { return write_all(out.get(), bytes, target); }));
  REPRISE_TRY(set_mode_and_time(out.get(), entry.mode, 0600, entry.modified, target));
  REPRISE_TRY(sync_file(out.get(), target));
  return out.close(target);
}

// Must be the last step, since creating anything in a folder changes its time.
Result<> set_folder(const std::optional<mode_t>& mode, const std::optional<timespec>& modified,
                    const fs::path& folder) {
  REPRISE_ASSIGN(const Fd open, open_file(folder, O_RDONLY | O_DIRECTORY));
  return set_mode_and_time(open.get(), mode, 0700, modified, folder);
}

// Sets the mode and time of the chat's own folder from chat.json; archives of the original program
// have none.
Result<> set_folder_of_chat(const fs::path& zip, const fs::path& folder) {
  const auto description = read_file(folder_of(zip) / kZipMetadataFile, kMetadataBytesMax);
  if (!description) {
    return {};  // the chat is complete without it
  }
  const JsonView metadata = JsonView(*description)["reprise_folder"];
  const auto mode = json::integer_in(metadata["mode"].raw());
  const auto seconds = json::integer_in(metadata["seconds"].raw());
  const auto nanoseconds = json::integer_in(metadata["nanoseconds"].raw());
  if (!mode || !seconds || !nanoseconds) {
    return {};
  }
  constexpr std::int64_t kPermissions = 0777;
  constexpr std::int64_t kNanosecondsMax = 999'999'999;
  const timespec modified{.tv_sec = *seconds,
                          .tv_nsec = std::clamp<std::int64_t>(*nanoseconds, 0, kNanosecondsMax)};
  return set_folder(static_cast<mode_t>(*mode & kPermissions), modified, folder);
}

Result<> sync_folders(const fs::path& folder) {
  REPRISE_ASSIGN(const auto entries, list_folder(folder));
  for (const fs::directory_entry& entry : entries) {
    REPRISE_ASSIGN(const FileKind kind, kind_of_entry(entry));
    if (kind == FileKind::folder) {
      REPRISE_TRY(sync_folders(entry.path()));
    }
  }
  return sync_folder(folder);
}

// An unlinked temporary file, so that no text is left outside the archive.
Result<Fd> unnamed_file() {
  std::error_code none;
  const fs::path temporary = fs::temp_directory_path(none);
  REPRISE_ASSIGN(const fs::path folder, resolve_path(none ? fs::path("/tmp") : temporary));
  auto file = open_file(folder, O_TMPFILE | O_RDWR | O_EXCL, 0600);
  if (file) {
    return file;
  }
  Fd memory(::memfd_create("messages", MFD_CLOEXEC));
  return memory.is_open() ? Result<Fd>(std::move(memory)) : std::move(file);
}

}  // namespace

Result<FolderMetadata> metadata_of_folder(const fs::path& chat) {
  REPRISE_ASSIGN(const struct stat status, get_status(chat));
  constexpr mode_t kPermissions = 0777;
  return FolderMetadata{.mode = status.st_mode & kPermissions, .modified = status.st_mtim};
}

Result<> pack_chat(const Packed& packed, const fs::path& folder) {
  std::vector<std::pair<std::string, fs::path>> files;
  REPRISE_TRY(list_files(packed.chat, "", files));
  std::ranges::sort(files);
  const fs::path zip = folder / kZipFile;
  REPRISE_TRY(write_zip(files, zip, Packing::deflated));
  if (!check_zip(zip)) {
    // A very high compression ratio would be taken for a zip bomb: store without compression.
    REPRISE_TRY(remove_if_exists(zip));
    REPRISE_TRY(write_zip(files, zip, Packing::stored));
    REPRISE_TRY(check_zip(zip));
  }
  return replace_file(folder / kZipMetadataFile, describe(packed));
}

Result<> unpack_chat(const fs::path& zip, const SessionId& id, const fs::path& folder) {
  REPRISE_ASSIGN(const ZipReader reader, ZipReader::open(zip));
  REPRISE_ASSIGN(const std::vector<ZipReader::Entry> entries, reader.entries());
  REPRISE_TRY(make_private_folders(folder));
  for (const ZipReader::Entry& entry : entries) {
    const std::string_view name = without_folder(entry.name, id);
    if (name.empty()) {
      continue;
    }
    if (name.ends_with('/')) {
      REPRISE_TRY(make_private_folders(folder / name.substr(0, name.size() - 1)));
    } else {
      REPRISE_TRY(unpack_entry(reader, entry, folder / name));
    }
  }
  for (const ZipReader::Entry& entry : entries | std::views::reverse) {
    if (const std::string_view name = without_folder(entry.name, id);
        !name.empty() && name.ends_with('/')) {
      REPRISE_TRY(set_folder(entry.mode, entry.modified, folder / name.substr(0, name.size() - 1)));
    }
  }
  REPRISE_TRY(set_folder_of_chat(zip, folder));
  return sync_folders(folder);
}

PackedSession read_packed_session(const SessionId& id, const Location& location) {
  const fs::path file = location.folder / kZipMetadataFile;
  const auto bytes = read_file(file, kMetadataBytesMax);
  auto described =
      bytes ? read_description(id, *bytes) : Result<StoredSession>(std::unexpected(bytes.error()));
  PackedSession packed{.stored = {.session = {.info = {.id = id}}}, .damage = {}};
  if (described) {
    packed.stored = *std::move(described);
  } else {
    packed.damage.push_back({cat(id.str(), "/", kZipMetadataFile), described.error().message,
                             bytes ? excerpt_of(*bytes) : ""});
  }
  SessionInfo& info = packed.stored.session.info;
  info.answering.reset();
  if (info.working_dir.empty()) {
    std::error_code error;
    info.working_dir = fs::weakly_canonical(location.folder / "../..", error).string();
    if (error) {
      packed.damage.push_back(
          {id.str(), os_error("find", location.folder, error.value()).message, ""});
    }
  }
  packed.stored.state_before_trash = SessionState::archived;
  info.state = location.is_trashed() ? SessionState::trashed : SessionState::archived;
  return packed;
}

Result<std::vector<std::pair<std::string, std::int64_t>>> list_packed(const SessionId& id,
                                                                      const Location& location) {
  REPRISE_ASSIGN(const ZipReader reader, ZipReader::open(location.folder / kZipFile));
  REPRISE_ASSIGN(const std::vector<ZipReader::Entry> entries, reader.entries());
  std::vector<std::pair<std::string, std::int64_t>> files;
  for (const ZipReader::Entry& entry : entries) {
    if (const std::string_view name = without_folder(entry.name, id); !name.empty()) {
      files.emplace_back(name, entry.size);
    }
  }
  return files;
}

Result<std::optional<std::string>> read_packed_file(const SessionId& id, const Location& location,
                                                    std::string_view name) {
  REPRISE_ASSIGN(const ZipReader reader, ZipReader::open(location.folder / kZipFile));
  REPRISE_ASSIGN(const std::vector<ZipReader::Entry> entries, reader.entries());
  const auto found = std::ranges::find_if(entries, [&](const ZipReader::Entry& entry) {
    return without_folder(entry.name, id) == name;
  });
  if (found == entries.end()) {
    return std::nullopt;
  }
  std::string bytes;
  REPRISE_TRY(reader.read(*found, [&bytes](std::string_view piece) -> Result<> {
    bytes += piece;
    return {};
  }));
  return bytes;
}

Result<ReadReport> read_packed(const SessionId& id, const Location& location,
                               const ReadRange& range, const MessageSink& sink) {
  const fs::path zip = location.folder / kZipFile;
  REPRISE_ASSIGN(const ZipReader reader, ZipReader::open(zip));
  REPRISE_ASSIGN(const std::vector<ZipReader::Entry> entries, reader.entries());
  const auto messages = std::ranges::find_if(entries, [&](const ZipReader::Entry& entry) {
    return without_folder(entry.name, id) == kMessagesFile;
  });
  if (messages == entries.end()) {
    return ReadReport{};
  }
  REPRISE_ASSIGN(Fd unpacked, unnamed_file());
  REPRISE_TRY(reader.read(
      *messages, [&](std::string_view bytes) { return write_all(unpacked.get(), bytes, zip); }));
  REPRISE_ASSIGN(const auto log, MessageLog::open(std::move(unpacked), zip));
  const auto is_damage = [](const LogState&) { return true; };
  return read_messages(*log, range, {is_damage, cat(id.str(), "/", kZipFile, "/", kMessagesFile)},
                       sink);
}

Result<> check_zip(const fs::path& zip) {
  REPRISE_ASSIGN(const ZipReader reader, ZipReader::open(zip));
  REPRISE_ASSIGN(const std::vector<ZipReader::Entry> entries, reader.entries());
  for (const ZipReader::Entry& entry : entries) {
    REPRISE_TRY(reader.read(entry, [](std::string_view) { return Result<>(); }));
  }
  return {};
}

}  // namespace reprise::store::chatdir
