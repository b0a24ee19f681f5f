#pragma once

// Support for tests of the SQLite store: handmade databases, child processes, sizes.

#include "reprise/open_store.h"
#include "support/must.h"

namespace reprise::test {

// A plain SQLite connection with the settings of the original program: foreign keys on, rollback
// journal. Errors end the test.
class PlainDatabase {
 public:
  explicit PlainDatabase(const std::filesystem::path& file);
  ~PlainDatabase();
  PlainDatabase(const PlainDatabase&) = delete;
  PlainDatabase& operator=(const PlainDatabase&) = delete;
  void run(const std::string& sql);
  bool try_run(const std::string& sql);
  // The rows, with columns joined by '|'.
  std::vector<std::string> rows(const std::string& sql);

 private:
  void* handle_;
};

// The tables of the first release and of the later form of the original program.
extern const std::string_view kFirstRelease;
extern const std::string_view kLaterForm;

std::unique_ptr<Store> open_at(const std::filesystem::path& file, const StoreOptions& options = {});
std::string bytes_of(const std::filesystem::path& file);
unsigned mode_of(const std::filesystem::path& file);

}  // namespace reprise::test
