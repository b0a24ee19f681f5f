#pragma once

// A consistent copy of a database's files, made without SQLite and without a lock.

#include <filesystem>

#include "reprise/error.h"

namespace reprise::sqlite {

// Copies the database, its log and its hot journal to `to`, whose folder is private. busy when it
// was written to during every try.
//
// With a log: pages that a checkpoint moves while the database is copied are in the log, too, which
// is copied after it, unless the log was begun anew meanwhile; its header tells. Without one,
// nothing may have changed at all.
Result<> copy_foreign_files(const std::filesystem::path& file, const std::filesystem::path& to);

// What is left to be read of an open file.
Result<> copy_by_pieces(int from, int to, const std::filesystem::path& source,
                        const std::filesystem::path& target);

}  // namespace reprise::sqlite
