#pragma once

// The sources and targets of libzip. It opens no file by itself: all files of a store are opened in
// one way, which follows no links.

#include <sys/stat.h>
#include <zip.h>

#include <filesystem>

#include "base/fd.h"
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

}  // namespace reprise::store::chatdir
