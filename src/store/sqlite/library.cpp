#include "store/sqlite/library.h"

#include <sqlite3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text.h"

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
  const std::string_view text = bytes_of(values[0]);
  const std::string_view word = bytes_of(values[1]);
  const auto found =
      std::ranges::search(text, word, [](char a, char b) { return ascii_lower(a) == b; });
  sqlite3_result_int(context, word.empty() || !found.empty() ? 1 : 0);
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

int map_shared_memory(sqlite3_file* file, int region, int bytes, int extend, volatile void** out) {
  const int code = base_methods->xShmMap(file, region, bytes, extend, out);
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

int vfs_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  static sqlite3_io_methods methods;
  const int code = base_vfs->xOpen(vfs, name, file, flags, flags_out);
  if (code != SQLITE_OK || file->pMethods == nullptr || (flags & SQLITE_OPEN_MAIN_DB) == 0) {
    return code;
  }
  static const bool is_copied = [&] {
    base_methods = file->pMethods;
    methods = *file->pMethods;
    methods.xShmMap = map_shared_memory;
    return true;
  }();
  if (is_copied && file->pMethods == base_methods) {
    file->pMethods = &methods;
  }
  return code;
}

}  // namespace

std::string_view version() {
  return sqlite3_libversion();
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
    static sqlite3_vfs vfs = *base_vfs;
    vfs.zName = kName;
    vfs.pNext = nullptr;
    vfs.xOpen = vfs_open;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? kName : nullptr;
  }();
  return registered;
}

}  // namespace reprise::sqlite
