#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "engine/builtin_tools.h"
#include "reprise/tool.h"

namespace reprise {
namespace {

constexpr std::int64_t kFileBytesMax = 16 << 20;
constexpr std::int64_t kLinesMax = 2000;
constexpr std::size_t kOutputBytesMax = 256 << 10;
constexpr std::size_t kEntriesMax = 1000;
constexpr std::size_t kSniffBytes = 8192;

Result<std::string> read_contents(const Fd& file, const std::string& name) {
  REPRISE_ASSIGN(const struct stat status, status_of(file.get(), name));
  if (status.st_size > kFileBytesMax) {
    return fail(Code::invalid_argument, cat("\"", name, "\" has ", status.st_size,
                                            " bytes; at most ", kFileBytesMax, " can be read"));
  }
  std::string bytes;
  std::string buffer(64 << 10, '\0');
  while (static_cast<std::int64_t>(bytes.size()) <= kFileBytesMax) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno != EINTR) {
      return std::unexpected(os_error("read", name, errno));
    }
    if (count == 0) {
      return bytes;
    }
    bytes.append(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return fail(Code::invalid_argument, cat("\"", name, "\" grows while it is read"));
}

bool is_binary(std::string_view bytes) {
  return bytes.substr(0, kSniffBytes).find('\0') != std::string_view::npos;
}

// The lines from `offset` (starting at 1), at most `limit` and kOutputBytesMax bytes.
std::string lines_of(std::string_view text, std::int64_t offset, std::int64_t limit) {
  std::string out;
  std::int64_t line = 1;
  while (!text.empty() && line < offset + limit) {
    const auto end = text.find('\n');
    const std::string_view full_line =
        text.substr(0, end == std::string_view::npos ? end : end + 1);
    if (line >= offset) {
      if (out.size() + full_line.size() > kOutputBytesMax && !out.empty()) {
        break;
      }
      out += full_line.substr(0, kOutputBytesMax);
    }
    text.remove_prefix(full_line.size());
    ++line;
  }
  if (!text.empty()) {
    out += cat(out.ends_with('\n') || out.empty() ? "" : "\n", "[more from line ", line, " on]\n");
  }
  return out;
}

Result<ToolOutput> read_file_tool(const ToolContext& context, const RawJson& input) {
  ToolArguments arguments(input);
  const std::string path = arguments.text("path").value_or("");
  const std::int64_t offset = arguments.integer("offset").value_or(1);
  const std::int64_t limit = arguments.integer("limit").value_or(kLinesMax);
  REPRISE_TRY(arguments.check());
  if (path.empty() || offset < 1 || limit < 1) {
    return fail(Code::invalid_argument,
                "read_file needs a path; offset and limit count lines from 1");
  }
  REPRISE_ASSIGN(const Fd file,
                 open_inside(context.session.info.working_dir, path, EntryKind::file));
  REPRISE_ASSIGN(const std::string bytes, read_contents(file, path));
  if (is_binary(bytes)) {
    return ToolOutput{cat("\"", path, "\" is a binary file of ", bytes.size(), " bytes"), true};
  }
  return ToolOutput{lines_of(bytes, offset, std::min(limit, kLinesMax))};
}

struct FolderCloser {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::string entry_line(int folder, const std::string& name) {
  struct stat status{};
  std::string line = clean_line(name);
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return line;
  }
  if (S_ISDIR(status.st_mode)) {
    line += '/';
  } else if (S_ISLNK(status.st_mode)) {
    line += '@';
  } else if (S_ISREG(status.st_mode)) {
    line += cat("  ", status.st_size);
  }
  return line;
}

// The names in the opened folder, in no order; if it has too many, one more than kEntriesMax.
Result<std::vector<std::string>> names_in(const Fd& opened, const std::string& path) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): there is no other function for this.
  const int fd = ::fcntl(opened.get(), F_DUPFD_CLOEXEC, 0);
  const std::unique_ptr<DIR, FolderCloser> folder(fd < 0 ? nullptr : ::fdopendir(fd));
  if (folder == nullptr) {
    const Error error = os_error("list", path, errno);
    if (fd >= 0) {
      ::close(fd);
    }
    return std::unexpected(error);
  }
  std::vector<std::string> names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): safe on different streams, which this one is.
  for (const dirent* entry = nullptr; errno = 0, (entry = ::readdir(folder.get())) != nullptr;) {
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
    if (names.size() > kEntriesMax) {
      return names;
    }
  }
  if (errno != 0) {
    return std::unexpected(os_error("list", path, errno));
  }
  return names;
}

Result<ToolOutput> list_dir_tool(const ToolContext& context, const RawJson& input) {
  ToolArguments arguments(input);
  const std::string path = arguments.text("path").value_or(".");
  REPRISE_TRY(arguments.check());
  REPRISE_ASSIGN(const Fd opened,
                 open_inside(context.session.info.working_dir, path, EntryKind::folder));
  REPRISE_ASSIGN(std::vector<std::string> names, names_in(opened, path));
  const bool has_more = names.size() > kEntriesMax;
  names.resize(std::min(names.size(), kEntriesMax));
  std::ranges::sort(names);
  std::string out;
  for (const std::string& name : names) {
    out += cat(entry_line(opened.get(), name), "\n");
  }
  out += has_more ? cat("[more than ", kEntriesMax, " entries]\n") : std::string();
  return ToolOutput{out.empty() ? "(empty)" : out};
}

}  // namespace

Tool make_read_file_tool() {
  return {{"read_file",
           "Reads a text file of the project by its path relative to the project's folder.",
           object_schema(R"("path":{"type":"string"},)"
                         R"("offset":{"type":"integer","description":"first line, from 1"},)"
                         R"("limit":{"type":"integer","description":"number of lines"})",
                         R"("path")")},
          read_file_tool};
}

Tool make_list_dir_tool() {
  return {
      {"list_dir", "Lists a folder of the project: folders end in /, links in @, files show bytes.",
       object_schema(R"("path":{"type":"string","description":"relative; the project's )"
                     R"(folder when missing"})",
                     "")},
      list_dir_tool};
}

}  // namespace reprise
