#include "store/chatdir/zip_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>
#include <zipconf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"

namespace reprise::store::chatdir {
namespace {

constexpr zip_int64_t kFailed = -1;

int errno_of(const Error& error) {
  return error.os_errno != 0 ? error.os_errno : EIO;
}

zip_int64_t describe_file(const struct stat& status, void* data, zip_uint64_t size) {
  if (size < sizeof(zip_stat_t)) {
    return kFailed;
  }
  auto& out = *static_cast<zip_stat_t*>(data);
  out.valid = ZIP_STAT_SIZE | ZIP_STAT_MTIME;
  out.size = static_cast<zip_uint64_t>(status.st_size);
  out.mtime = status.st_mtim.tv_sec;
  return sizeof(zip_stat_t);
}

zip_int64_t report_error(int zip_error, int os_errno, void* data, zip_uint64_t size) {
  const std::array<int, 2> codes = {os_errno == 0 ? ZIP_ER_OK : zip_error, os_errno};
  if (size < sizeof codes) {
    return kFailed;
  }
  std::memcpy(data, codes.data(), sizeof codes);
  return sizeof codes;
}

class FileReader {
 public:
  explicit FileReader(FileSource& source) : source_(source) {}

  zip_int64_t open() {
    auto opened = open_file(source_.file, O_RDONLY);
    if (!opened) {
      return fail_with(errno_of(opened.error()));
    }
    source_.fd = *std::move(opened);
    return 0;
  }
  zip_int64_t read(void* data, zip_uint64_t size) {
    ssize_t count = 0;
    do {
      count = ::read(source_.fd.get(), data, size);
    } while (count < 0 && errno == EINTR);
    return count < 0 ? fail_with(errno) : count;
  }
  zip_int64_t fail_with(int error) {
    source_.os_errno = error;
    return kFailed;
  }

 private:
  FileSource& source_;
};

class ZipFileWriter {
 public:
  explicit ZipFileWriter(ZipTarget& target) : target_(target) {}

  zip_int64_t write(const void* data, zip_uint64_t size) {
    const std::string_view bytes(static_cast<const char*>(data), size);
    const auto written = write_all(target_.fd.get(), bytes, target_.file);
    return written ? static_cast<zip_int64_t>(size) : fail_with(errno_of(written.error()));
  }
  zip_int64_t seek(const void* data, zip_uint64_t size) {
    zip_source_args_seek_t to{};
    if (size < sizeof to) {
      return fail_with(EINVAL);
    }
    std::memcpy(&to, data, sizeof to);
    return ::lseek(target_.fd.get(), to.offset, to.whence) < 0 ? fail_with(errno) : 0;
  }
  zip_int64_t tell() {
    const off_t at = ::lseek(target_.fd.get(), 0, SEEK_CUR);
    return at < 0 ? fail_with(errno) : at;
  }
  zip_int64_t describe(void* data, zip_uint64_t size) {
    struct stat status{};
    return ::fstat(target_.fd.get(), &status) != 0 ? fail_with(errno)
                                                   : describe_file(status, data, size);
  }
  zip_int64_t fail_with(int error) {
    target_.os_errno = error;
    return kFailed;
  }

 private:
  ZipTarget& target_;
};

// Characters that mean something in names on other systems, or to a terminal.
bool is_odd(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == ':' || c == 0x7F;
}

// A component that is a valid file name without a special meaning here.
bool is_component(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." && !name.contains('\0');
}

}  // namespace

zip_int64_t use_file_source(void* source, void* data, zip_uint64_t size, zip_source_cmd_t command) {
  auto& file = *static_cast<FileSource*>(source);
  FileReader reader(file);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return ZIP_SOURCE_SUPPORTS_READABLE;
    case ZIP_SOURCE_OPEN:
      return reader.open();
    case ZIP_SOURCE_READ:
      return reader.read(data, size);
    case ZIP_SOURCE_CLOSE:
      file.fd = Fd();
      return 0;
    case ZIP_SOURCE_STAT:
      return describe_file(file.status, data, size);
    case ZIP_SOURCE_ERROR:
      return report_error(ZIP_ER_READ, file.os_errno, data, size);
    case ZIP_SOURCE_FREE:
      return 0;  // owned by ZipWriter
    default:
      return reader.fail_with(EOPNOTSUPP);
  }
}

zip_int64_t use_zip_target(void* target, void* data, zip_uint64_t size, zip_source_cmd_t command) {
  auto& zip = *static_cast<ZipTarget*>(target);
  ZipFileWriter writer(zip);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return ZIP_SOURCE_SUPPORTS_WRITABLE;
    case ZIP_SOURCE_STAT:
      return writer.describe(data, size);
    case ZIP_SOURCE_WRITE:
      return writer.write(data, size);
    case ZIP_SOURCE_SEEK_WRITE:
      return writer.seek(data, size);
    case ZIP_SOURCE_TELL_WRITE:
      return writer.tell();
    case ZIP_SOURCE_ERROR:
      return report_error(ZIP_ER_WRITE, zip.os_errno, data, size);
    // A new file, complete when finish() has returned.
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_FREE:
      return 0;
    default:
      return writer.fail_with(EOPNOTSUPP);
  }
}

Result<> ZipTarget::finish() {
  struct stat written{};
  struct stat named{};
  if (::fstat(fd.get(), &written) != 0 || ::lstat(file.c_str(), &named) != 0) {
    return std::unexpected(os_error("write", file, errno));
  }
  if (written.st_ino != named.st_ino || written.st_dev != named.st_dev) {
    return fail(Code::conflict, cat("cannot write ", file.native(), ": it was replaced meanwhile"));
  }
  REPRISE_TRY(sync_file(fd.get(), file));
  REPRISE_TRY(fd.close(file));
  return sync_folder(folder_of(file));
}

bool is_relative_name(std::string_view name) {
  if (name.size() > 4000) {
    return false;
  }
  if (name.ends_with('/')) {
    name.remove_suffix(1);
  }
  while (true) {
    const std::size_t slash = name.find('/');
    if (!is_component(name.substr(0, slash))) {
      return false;
    }
    if (slash == std::string_view::npos) {
      return true;
    }
    name.remove_prefix(slash + 1);
  }
}

bool is_safe_name(std::string_view name) {
  return is_relative_name(name) && std::ranges::none_of(name, is_odd);
}

std::string name_of_entry(std::string_view name) {
  if (is_safe_name(name) && utf8::is_valid(name)) {
    return std::string(name);
  }
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_odd(c) || byte >= 0x80 || c == '%') {
      out.append("%").append(1, kHexDigits[byte >> 4U]).append(1, kHexDigits[byte & 0xFU]);
    } else {
      out += c;
    }
  }
  return out;
}

bool ZipNames::add(std::string_view name) {
  const bool is_folder = name.ends_with('/');
  for (std::size_t slash = name.find('/'); slash != std::string_view::npos;
       slash = name.find('/', slash + 1)) {
    const std::string folder(name.substr(0, slash));
    if (files_.contains(folder)) {
      return false;
    }
    folders_.insert(folder);
  }
  const std::string bare(is_folder ? name.substr(0, name.size() - 1) : name);
  return is_folder ? named_.insert(bare).second
                   : !folders_.contains(bare) && files_.insert(bare).second;
}

}  // namespace reprise::store::chatdir
