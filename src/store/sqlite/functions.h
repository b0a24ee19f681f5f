#pragma once

// Functions for our own statements. Nothing that is stored uses them: other programs have none.

#include <cstdint>

struct sqlite3;

namespace reprise::sqlite {

// reprise_contains(text, word): whether the word, in small letters, stands in the text, the case of
// ASCII letters apart. Each call takes one off `left`, which outlives the handle; when none is left
// the statement fails.
void add_functions(sqlite3* handle, std::int64_t& left);

}  // namespace reprise::sqlite
