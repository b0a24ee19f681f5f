#include "store/sqlite/version.h"

#include <sqlite3.h>

#include <string_view>

namespace reprise::sqlite {

std::string_view version() {
  return sqlite3_libversion();
}

bool has_wal_reset_fault() {
  const int number = sqlite3_libversion_number();
  const bool repaired_branch =
      (number >= 3050007 && number < 3051000) || (number >= 3044006 && number < 3045000);
  return number < 3051003 && !repaired_branch;
}

}  // namespace reprise::sqlite
