#pragma once

// A program that is killed in a transaction leaves a hot rollback journal: the database then holds
// pages that were never committed, and only both files together are a database. SQLite puts that
// right when it may write. Readers, who change nothing, have it done in a copy of their own.

#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// Tells a journal from the next one of the same name.
struct JournalMark {
  std::int64_t size = 0;
  std::int64_t modified_s = 0;
  std::int64_t modified_ns = 0;
  friend bool operator==(const JournalMark&, const JournalMark&) = default;
};

// A journal that is hot unless its transaction is still running; nullopt: there is none. An error
// when that cannot be told: what is read past a hot journal is not a database.
Result<std::optional<JournalMark>> find_journal(const std::filesystem::path& file);

// A connection to a private copy of the database in which the transaction is rolled back. Its files
// have no name any more. conflict when the journal is not hot (any more).
Result<std::unique_ptr<Connection>> open_rolled_back(const std::filesystem::path& file,
                                                     std::chrono::milliseconds busy_timeout);

}  // namespace reprise::sqlite
