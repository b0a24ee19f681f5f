#pragma once

// Functions for our own statements. Nothing that is stored uses them: other programs have none.

struct sqlite3;

namespace reprise::sqlite {

// reprise_contains(text, word): whether the word, in small letters, stands in the text, the case of
// ASCII letters apart.
void add_functions(sqlite3* handle);

}  // namespace reprise::sqlite
