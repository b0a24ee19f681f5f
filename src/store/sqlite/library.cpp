#include "store/sqlite/library.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "store/query.h"

namespace reprise::sqlite {
namespace {

std::string_view bytes_of(sqlite3_value* value) {
  const void* data = sqlite3_value_blob(value);
  return {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void contains(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  auto& left = *static_cast<std::int64_t*>(sqlite3_user_data(context));
  if (--left < 0) {
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    return;
  }
  sqlite3_result_int(context,
                     store::contains_folded(bytes_of(values[0]), bytes_of(values[1])) ? 1 : 0);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // since Linux 5.14
#endif

constexpr const char* kName = "reprise";

sqlite3_vfs* base_vfs = nullptr;
const sqlite3_io_methods* base_methods = nullptr;

// False if accessing a page would raise SIGBUS. True on kernels and mappings that do not support
// this call.
bool populate(volatile void* pages, int bytes) {
  return ::madvise(const_cast<void*>(pages), static_cast<std::size_t>(bytes),
                   MADV_POPULATE_WRITE) == 0 ||
         errno != EFAULT;
}

// SQLite reports the lack of locks as a lock of another program. It reads errno of a call that
// failed only after those that follow it, which unlock: one that succeeds leaves errno as it was.
template <class Call>
int without_locks_is_an_error(const Call& call) {
  const int before = std::exchange(errno, 0);
  const int code = call();
  if (code == SQLITE_OK) {
    errno = before;
  }
  return (code & 0xFF) == SQLITE_BUSY && errno == ENOLCK ? SQLITE_IOERR_LOCK : code;
}

int lock(sqlite3_file* file, int level) {
  return without_locks_is_an_error([&] { return base_methods->xLock(file, level); });
}

int lock_slots(sqlite3_file* file, int offset, int count, int flags) {
  return without_locks_is_an_error(
      [&] { return base_methods->xShmLock(file, offset, count, flags); });
}

// The locks in the shared memory of a log, by https://www.sqlite.org/walformat.html#wal_locks.
constexpr int kWriteLock = 0;
constexpr int kCheckpointLock = 1;
constexpr int kTake = SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE;
constexpr int kGiveBack = SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE;

// Who holds the checkpoint lock of a connection.
enum class Holder : std::uint8_t { nobody, sqlite, writer };

// Behind SQLite's own data of a file.
struct FileState {
  Holder checkpoint_lock = Holder::nobody;
};

FileState& state_of(sqlite3_file* file) {
  return *reinterpret_cast<FileState*>(reinterpret_cast<char*>(file) + base_vfs->szOsFile);
}

void let_checkpoints(sqlite3_file* file) {
  Holder& holder = state_of(file).checkpoint_lock;
  if (holder == Holder::writer) {
    holder = Holder::nobody;
    (void)lock_slots(file, kCheckpointLock, 1, kGiveBack);
  }
}

// SQLite takes the lock itself to checkpoint and to recover the log, then together with the next
// one.
int lock_for_checkpoint(sqlite3_file* file, int count, int flags) {
  let_checkpoints(file);
  const int code = lock_slots(file, kCheckpointLock, count, flags);
  state_of(file).checkpoint_lock =
      flags == kTake && code == SQLITE_OK ? Holder::sqlite : Holder::nobody;
  return code;
}

// While a connection writes, no other program is within a checkpoint: one that had read the length
// of the log before the writer restarts it would, with the fault, count what is written then as
// checkpointed.
int lock_to_write(sqlite3_file* file, int flags) {
  Holder& holder = state_of(file).checkpoint_lock;
  if (flags == kTake && holder == Holder::nobody) {
    const int code = lock_slots(file, kCheckpointLock, 1, kTake);
    if (code != SQLITE_OK) {
      return code;
    }
    holder = Holder::writer;
  }
  const int code = lock_slots(file, kWriteLock, 1, flags);
  if (flags == kGiveBack || code != SQLITE_OK) {
    let_checkpoints(file);
  }
  return code;
}

int lock_shared_memory(sqlite3_file* file, int offset, int count, int flags) {
  static const bool has_fault = has_wal_reset_fault();
  if (has_fault && offset == kCheckpointLock) {
    return lock_for_checkpoint(file, count, flags);
  }
  return has_fault && offset == kWriteLock && count == 1 ? lock_to_write(file, flags)
                                                         : lock_slots(file, offset, count, flags);
}

int map_shared_memory(sqlite3_file* file, int region, int bytes, int extend, volatile void** out) {
  const int code = without_locks_is_an_error(
      [&] { return base_methods->xShmMap(file, region, bytes, extend, out); });
  if (code != SQLITE_OK || *out == nullptr) {
    return code;
  }
  if (!populate(*out, bytes)) {
    ::sync();  // ext4 reuses freed blocks only after committing the transaction that freed them
    if (!populate(*out, bytes)) {
      *out = nullptr;
      return SQLITE_FULL;
    }
  }
  return SQLITE_OK;
}

using Page = std::array<char, kCheckedPageBytes>;

bool is_page(int bytes, sqlite3_int64 at) {
  return bytes == kCheckedPageBytes && at % kCheckedPageBytes == 0;
}

// Any change to one word changes it, and so does the page's place.
std::uint64_t checksum_of(const Page& page, sqlite3_int64 at) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;  // odd, with mixed bits
  std::uint64_t sum = static_cast<std::uint64_t>(at) + 1;
  for (std::size_t i = 0; i < page.size() - kChecksumBytes; i += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, page.data() + i, sizeof word);
    sum = (sum ^ word) * kFactor;
    sum ^= sum >> 32U;
  }
  return sum;
}

int read_checked(sqlite3_file* file, void* into, int bytes, sqlite3_int64 at) {
  const int code = base_methods->xRead(file, into, bytes, at);
  if (!is_page(bytes, at) || (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ)) {
    return code;
  }
  Page page;
  std::memcpy(page.data(), into, page.size());
  const std::uint64_t sum = checksum_of(page, at);
  return std::memcmp(page.data() + page.size() - kChecksumBytes, &sum, sizeof sum) == 0
             ? code
             : SQLITE_CORRUPT;
}

int write_checked(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 at) {
  if (!is_page(bytes, at)) {
    return base_methods->xWrite(file, from, bytes, at);
  }
  Page page;
  std::memcpy(page.data(), from, page.size());
  const std::uint64_t sum = checksum_of(page, at);
  std::memcpy(page.data() + page.size() - kChecksumBytes, &sum, sizeof sum);
  return base_methods->xWrite(file, page.data(), bytes, at);
}

struct FileMethods {
  sqlite3_io_methods plain;
  sqlite3_io_methods checked;
};

// Of SQLite's own VFS; `file` is one that it has opened.
const FileMethods& file_methods(const sqlite3_file* file) {
  static const FileMethods methods = [file] {
    base_methods = file->pMethods;
    FileMethods copies{*base_methods, *base_methods};
    copies.plain.xLock = lock;
    copies.plain.xShmLock = lock_shared_memory;
    copies.plain.xShmMap = map_shared_memory;
    copies.checked = copies.plain;
    copies.checked.xRead = read_checked;
    copies.checked.xWrite = write_checked;
    return copies;
  }();
  return methods;
}

template <sqlite3_io_methods FileMethods::* kMethods>
int vfs_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  const int code = base_vfs->xOpen(vfs, name, file, flags, flags_out);
  if (code != SQLITE_OK || file->pMethods == nullptr || (flags & SQLITE_OPEN_MAIN_DB) == 0) {
    return code;
  }
  const FileMethods& methods = file_methods(file);
  if (file->pMethods == base_methods) {
    new (&state_of(file)) FileState();
    file->pMethods = &(methods.*kMethods);
  }
  return code;
}

bool register_vfs(sqlite3_vfs& vfs, const char* name, decltype(sqlite3_vfs::xOpen) open) {
  vfs.zName = name;
  vfs.pNext = nullptr;
  vfs.szOsFile += static_cast<int>(sizeof(FileState));
  vfs.xOpen = open;
  return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

}  // namespace

std::string_view version() {
  return sqlite3_libversion();
}

bool can_map(const std::filesystem::path& lock_file) {
  const auto fd = open_file(lock_file, O_RDWR);
  if (!fd) {
    return true;
  }
  void* const mapped = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0);
  if (mapped == MAP_FAILED) {
    return errno == ENOMEM || errno == EAGAIN;
  }
  ::munmap(mapped, 1);
  return true;
}

bool has_wal_reset_fault() {
  const int number = sqlite3_libversion_number();
  const bool repaired_branch =
      (number >= 3050007 && number < 3051000) || (number >= 3044006 && number < 3045000);
  return number < 3051003 && !repaired_branch;
}

void add_functions(sqlite3* handle, std::int64_t& left) {
  // If this runs out of memory, statements report a missing function.
  sqlite3_create_function_v2(handle, "reprise_contains", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, &left,
                             contains, nullptr, nullptr, nullptr);
}

const char* shared_memory_vfs() {
  static const char* const registered = [] {
    base_vfs = sqlite3_vfs_find(nullptr);
    static sqlite3_vfs plain = *base_vfs;
    static sqlite3_vfs checked = *base_vfs;
    return register_vfs(plain, kName, vfs_open<&FileMethods::plain>) &&
                   register_vfs(checked, kCheckedVfs, vfs_open<&FileMethods::checked>)
               ? kName
               : nullptr;
  }();
  return registered;
}

}  // namespace reprise::sqlite
