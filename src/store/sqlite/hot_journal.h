#pragma once

// A program killed in a transaction leaves a hot rollback journal: the database file then contains
// uncommitted pages, and only both files together are consistent. SQLite rolls back if it may
// write. Readers, which change nothing, do it in a private copy.

#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// Distinguishes a journal from the next one with the same name.
struct JournalMark {
  std::int64_t size = 0;
  std::int64_t modified_s = 0;
  std::int64_t modified_ns = 0;
  friend bool operator==(const JournalMark&, const JournalMark&) = default;
};

// A journal that is hot unless its transaction is still running; nullopt if there is none. An error
// if that cannot be determined, because pages read despite a hot journal are inconsistent.
Result<std::optional<JournalMark>> find_journal(const std::filesystem::path& file);

// A connection to a private copy of the database, in which the transaction is rolled back. Its
// files are unlinked. conflict if the journal is not hot (any more).
Result<std::unique_ptr<Connection>> open_rolled_back(const std::filesystem::path& file,
                                                     std::chrono::milliseconds busy_timeout);

}  // namespace reprise::sqlite
