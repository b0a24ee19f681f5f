#include "engine/builtin_tools.h"

// Files are opened inside one folder. The kernel enforces this (openat2, RESOLVE_BENEATH): no "..",
// absolute path or link leads outside, even if it changes concurrently.

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "engine/reply.h"
#include "reprise/tool.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

Error outside(const std::string& name) {
  return {Code::invalid_argument, cat("\"", name, "\" is outside the session's folder")};
}

// Converts the kernel's error.
Error open_error(const std::string& name, int os_errno) {
  if (os_errno == EXDEV || os_errno == ELOOP) {
    return outside(name);
  }
  if (os_errno == ENOSYS) {
    return {Code::unsupported, "this kernel cannot confine files to a folder (Linux 5.6 or later)"};
  }
  return os_error("open", name, os_errno);
}

Result<Fd> open_beneath(int folder, const std::string& name, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags) | static_cast<unsigned>(O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempts = 0;; ++attempts) {
    const long fd = ::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how);
    if (fd >= 0) {
      return Fd(static_cast<int>(fd));
    }
    // EAGAIN: something was renamed during the lookup.
    if ((errno != EINTR && errno != EAGAIN) || attempts > 100) {
      return std::unexpected(open_error(name, errno));
    }
  }
}

// Converts a path below the root to one relative to it.
std::string relative_name(const fs::path& root, const std::string& name) {
  if (!name.starts_with('/')) {
    return name.empty() ? "." : name;
  }
  const std::string prefix = root.native().ends_with('/') ? root.native() : root.native() + '/';
  if (name == root.native()) {
    return ".";
  }
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

constexpr std::size_t kNameBytesMax = 64;

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, [](char c) {
    return is_ascii_alnum(c) || c == '_' || c == '-';
  });
}

}  // namespace

std::string_view ToolArguments::raw(std::string_view name) const {
  const std::string_view value = json::find_member(input_.text(), name);
  return value == "null" ? "" : value;
}

std::optional<std::string> ToolArguments::text(std::string_view name) {
  const std::string_view value = raw(name);
  if (value.empty()) {
    return std::nullopt;
  }
  auto out = json::text_in(value);
  if (!out) {
    error_ = cat("\"", name, "\" must be a string");
  }
  return out;
}

std::optional<std::int64_t> ToolArguments::integer(std::string_view name) {
  const std::string_view value = raw(name);
  if (value.empty()) {
    return std::nullopt;
  }
  const auto out = json::integer_in(value);
  if (!out) {
    error_ = cat("\"", name, "\" must be an integer");
  }
  return out;
}

Result<> ToolArguments::check() const {
  return error_.empty() ? Result<>() : fail(Code::invalid_argument, error_);
}

RawJson object_schema(std::string_view properties, std::string_view required) {
  return json::take(cat(R"({"type":"object","properties":{)", properties, R"(},"required":[)",
                        required, R"(],"additionalProperties":false})"));
}

void add_builtin_tools(ToolRegistry& registry) {
  for (const auto make :
       {make_read_file_tool, make_list_dir_tool, make_todo_write_tool, make_recall_tool}) {
    // A registered tool of the same name has precedence: it is the caller's own.
    (void)registry.add(make());
  }
}

Result<Fd> open_inside(const fs::path& root, const std::string& name, EntryKind kind) {
  if (root.empty()) {
    return fail(Code::invalid_argument, "the session has no folder to read in");
  }
  if (name.find('\0') != std::string::npos) {
    return fail(Code::invalid_argument, "a file name cannot hold a NUL byte");
  }
  REPRISE_ASSIGN(const fs::path real, resolve_path(root));
  REPRISE_ASSIGN(const Fd folder, open_file(real, O_PATH | O_DIRECTORY));
  const std::string relative = relative_name(root, name);
  // The type is checked before the file is opened: opening a pipe blocks, opening a device may have
  // effects.
  REPRISE_ASSIGN(const Fd opened, open_beneath(folder.get(), relative, O_PATH));
  REPRISE_ASSIGN(const struct stat status, status_of(opened.get(), name));
  const bool is_expected_kind =
      kind == EntryKind::file ? S_ISREG(status.st_mode) : S_ISDIR(status.st_mode);
  if (!is_expected_kind) {
    return fail(Code::invalid_argument, cat("\"", name, "\" is not a ",
                                            kind == EntryKind::file ? "regular file" : "folder"));
  }
  // Opens the file that was checked, whatever its name refers to now.
  const int flags = kind == EntryKind::file ? O_RDONLY | O_NOCTTY : O_RDONLY | O_DIRECTORY;
  Fd file(::open(cat("/proc/self/fd/", opened.get()).c_str(), flags | O_CLOEXEC));
  return file.is_open() ? Result<Fd>(std::move(file))
                        : std::unexpected(os_error("open", name, errno));
}

Result<> ToolRegistry::add(Tool tool) {
  const std::string name = tool.spec.name;
  if (!is_tool_name(name)) {
    return fail(Code::invalid_argument,
                cat("tool name \"", name, "\" is not 1 to 64 of [A-Za-z0-9_-]"));
  }
  if (!is_object(tool.spec.parameters)) {
    return fail(Code::invalid_argument,
                cat("the parameters of tool ", name, " are not a JSON object"));
  }
  if (!tool.run) {
    return fail(Code::invalid_argument, cat("tool ", name, " has no function"));
  }
  if (!tools_.emplace(name, std::move(tool)).second) {
    return fail(Code::conflict, cat("tool ", name, " already exists"));
  }
  return {};
}

const Tool* ToolRegistry::find(std::string_view name) const {
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : &found->second;
}

std::vector<ToolSpec> ToolRegistry::specs() const {
  std::vector<ToolSpec> out;
  out.reserve(tools_.size());
  for (const auto& [name, tool] : tools_) {
    out.push_back(tool.spec);
  }
  return out;
}

}  // namespace reprise
