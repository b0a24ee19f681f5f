// SQL functions for our own statements. The schema must not use them, because other programs lack
// them.

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/text.h"
#include "store/sqlite/connection.h"

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

}  // namespace

void add_functions(sqlite3* handle, std::int64_t& left) {
  // If this runs out of memory, statements report a missing function.
  sqlite3_create_function_v2(handle, "reprise_contains", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, &left,
                             contains, nullptr, nullptr, nullptr);
}

}  // namespace reprise::sqlite
