#pragma once

// The names of entries in zip files, and the sources and targets of libzip. It opens no file by
// itself: all files of a store are opened in one way, which follows no links.

#include <sys/stat.h>
#include <zip.h>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "base/file.h"
#include "reprise/error.h"

namespace reprise::store::chatdir {

// A file to be added to the zip. It is opened when libzip reads it: a chat may have more files than
// a process may open.
struct FileSource {
  std::filesystem::path file;
  struct stat status;
  Fd fd = {};
  int os_errno = 0;
};
// A zip_source_callback; `source` is a FileSource, which libzip does not own.
zip_int64_t use_file_source(void* source, void* data, zip_uint64_t size, zip_source_cmd_t command);

// The zip, open for reading and writing.
struct ZipTarget {
  std::filesystem::path file;
  Fd fd;
  int os_errno = 0;

  // Makes the file and its name durable. conflict if another file has the name now.
  Result<> finish();
};
// The same for the ZipTarget `target`, to write a whole new zip.
zip_int64_t use_zip_target(void* target, void* data, zip_uint64_t size, zip_source_cmd_t command);

// Relative, and nowhere else on this system.
bool is_relative_name(std::string_view name);
// The same on any system.
bool is_safe_name(std::string_view name);
// The name of an entry for a file with this name, which all programs accept.
std::string name_of_entry(std::string_view name);

// The names so far, and the folders that they require.
class ZipNames {
 public:
  // false if the name exists, or if a file has the name of a required folder.
  bool add(std::string_view name);

 private:
  std::set<std::string> files_;
  std::set<std::string> folders_;
  std::set<std::string> named_;  // folders that have their own entry
};

}  // namespace reprise::store::chatdir
