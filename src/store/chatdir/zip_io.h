#pragma once

// What libzip reads from and writes to. It opens no file by itself: all files of a store are opened
// in one way, which follows no link.

#include <sys/stat.h>
#include <zip.h>

#include <filesystem>

#include "base/fd.h"
#include "reprise/error.h"

namespace reprise::store::chatdir {

// A file that goes into the zip. It is opened when libzip wants its bytes: a chat may have more
// files than a process may have open.
struct FileSource {
  std::filesystem::path file;
  struct stat status;
  Fd fd = {};
  int os_errno = 0;
};
// A zip_source_callback; `source` is the FileSource, which stays its owner's.
zip_int64_t use_file_source(void* source, void* data, zip_uint64_t size, zip_source_cmd_t command);

// The zip, open for reading and writing.
struct ZipTarget {
  std::filesystem::path file;
  Fd fd;
  int os_errno = 0;

  // It and its name are on disk. conflict when the name is another file's by now.
  Result<> finish();
};
// The same for the ZipTarget `target`, to write a whole new zip.
zip_int64_t use_zip_target(void* target, void* data, zip_uint64_t size, zip_source_cmd_t command);

}  // namespace reprise::store::chatdir
