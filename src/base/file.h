#pragma once

// The file system, checked: every write, sync, close and rename is looked at, because a write that
// was not checked did not happen. Errors carry the path and errno.
//
// No function here follows a symbolic link, neither at the end of a path nor on the way, but the
// two that say so: what somebody puts into a folder must not decide which file is read or written.
// The path that a person names is resolved once, where it comes in (resolve_path), and what is
// below it is opened as it stands.

#include <sys/stat.h>  // IWYU pragma: export

#include <cstddef>     // IWYU pragma: export
#include <filesystem>  // IWYU pragma: export
#include <functional>  // IWYU pragma: export
#include <optional>
#include <span>  // IWYU pragma: export

#include "base/fd.h"              // IWYU pragma: export
#include "base/temporary_file.h"  // IWYU pragma: export
#include "reprise/error.h"        // IWYU pragma: export

namespace reprise {

// "cannot WHAT PATH: REASON" with the code that fits errno (not_found, io…).
Error os_error(std::string_view what, const std::filesystem::path& path, int os_errno);

// What has a name. An error is no answer: only the system's own "no such file" means that nothing
// has it, and whoever takes anything else for that loses what is there.
enum class FileKind : std::uint8_t { none, file, folder, link, other };
// Links are not followed.
Result<FileKind> kind_of(const std::filesystem::path& path);
// Of what a link leads to; none for one that leads nowhere.
Result<FileKind> kind_behind(const std::filesystem::path& path);
// A link is there, wherever it leads.
Result<bool> is_there(const std::filesystem::path& path);
// Or a link to one.
Result<bool> is_folder(const std::filesystem::path& path);

// Of an open file; `path` is what errors name.
Result<struct stat> status_of(int fd, const std::filesystem::path& path);
// Of what has that name, a link included; nullopt: nothing has it.
Result<std::optional<struct stat>> find_status(const std::filesystem::path& path);

// not_found when nothing has it.
Result<struct stat> get_status(const std::filesystem::path& path);

// not_found becomes nullopt.
template <class Value>
Result<std::optional<Value>> if_there(Result<Value> found) {
  if (found) {
    return std::optional<Value>(*std::move(found));
  }
  return found.error().code == Code::not_found ? Result<std::optional<Value>>(std::nullopt)
                                               : std::unexpected(std::move(found).error());
}

// open(2) with O_CLOEXEC, retried on EINTR. invalid_argument (ELOOP) for a path with a link in it
// and, but with O_DIRECTORY or O_PATH, for what is no regular file, which is not waited for either;
// io (EACCES) for a file of another user, unless the folder is that user's, too. What is the
// system's own (root's) may be read, and the system itself may read everybody's.
Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode = 0600);
// The same for reading, whosever it is.
Result<Fd> open_named_file(const std::filesystem::path& path);

// At most `bytes_max`; a larger file, a folder or a device is invalid_argument.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::int64_t bytes_max = std::int64_t{1} << 30);
// The same, whosever it is: for a file that a person names.
Result<std::string> read_named_file(const std::filesystem::path& path, std::int64_t bytes_max);

// Fills `into` from `offset` on, as far as the file reaches: how many bytes that are.
Result<std::size_t> read_at(int fd, std::span<char> into, std::int64_t offset,
                            const std::filesystem::path& path);

Result<> write_all(int fd, std::string_view bytes, const std::filesystem::path& path);
Result<> sync_file(int fd, const std::filesystem::path& path);
Result<> sync_folder(const std::filesystem::path& folder);

// A path without links to what a person names, there or not: the links in it are that person's own.
// What has none stays as it was named, else it is absolute.
Result<std::filesystem::path> resolve_path(const std::filesystem::path& named);
// The same for a name that is to be new: only its folder is resolved.
Result<std::filesystem::path> resolve_folder_of(const std::filesystem::path& named);
// invalid_argument, naming it, for a path with a link in it. What is not there is none.
Result<> refuse_links(const std::filesystem::path& path);

// A file's new content, written and synced under a temporary name, so that giving it its name is
// all that is left to fail. Removed when it never gets one.
class PreparedFile {
 public:
  // Beside the file it will replace, whose mode it takes; 0600 where there is none.
  static Result<PreparedFile> write(const std::filesystem::path& target, std::string_view bytes);
  // The same for bytes that are too many to be held: `fill` writes them to the open file.
  static Result<PreparedFile> write(const std::filesystem::path& target,
                                    const std::function<Result<>(int fd)>& fill);

  const std::filesystem::path& name() const { return file_.name(); }
  // Once, for a file on the same disk. The folder is synced. invalid_argument when the target is a
  // link.
  Result<> replace(const std::filesystem::path& target);

 private:
  explicit PreparedFile(TemporaryFile file) : file_(std::move(file)) {}
  TemporaryFile file_;
};

// Whether the file, where there is one, may be written or replaced: invalid_argument for a link, io
// (EACCES) for another user's.
Result<> check_target(const std::filesystem::path& path);
// The same for reading.
Result<> check_source(const std::filesystem::path& path);

// The one way a file is replaced: a temporary file beside it, written, synced, closed, renamed,
// the folder synced. A reader sees the old or the new file, a power cut leaves one of them. New
// files are 0600, an existing file keeps its mode, a symbolic link is refused.
// `before_rename` is shown the temporary file when all of it is on disk; after its error, which is
// returned, nothing has changed.
Result<> replace_file(
    const std::filesystem::path& path, std::string_view bytes,
    const std::function<Result<>(const std::filesystem::path& temporary)>& before_rename = {});

// The same with content that `fill` writes to the open temporary file.
Result<> replace_file(
    const std::filesystem::path& path, const std::function<Result<>(int fd)>& fill,
    const std::function<Result<>(const std::filesystem::path& temporary)>& before_rename = {});

// Gives a file or folder another name on the same disk, both folders synced. conflict when `to`
// exists.
Result<> move_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Another name for a file, which takes no room; the folder is synced. conflict when `to` exists,
// unless it is that very file.
Result<> link_file(const std::filesystem::path& from, const std::filesystem::path& to);

// With the temporary files that killed processes have left of it. The folder is synced.
Result<> remove_file(const std::filesystem::path& file);
// Nothing is synced; one that is not there is no error.
Result<> remove_if_there(const std::filesystem::path& file);
// A folder with all that is in it; links in it go, what they lead to stays. Nothing is synced; one
// that is not there is no error.
Result<> remove_tree(const std::filesystem::path& folder);

// The folder that the file is in.
std::filesystem::path folder_of(const std::filesystem::path& path);

// All missing folders, 0700, each synced into its parent.
Result<> make_private_folders(const std::filesystem::path& folder);

}  // namespace reprise
