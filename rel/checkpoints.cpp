#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/text.h"
#include "life.h"
#include "store/sqlite/library.h"
#include "support/checkpointing_program.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"
#include "writers.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::microseconds kPause{60};
constexpr int kDamaged = 1;

int checkpoint_on_and_on(const fs::path& file, milliseconds between) {
  test::CheckpointingProgram program(file, [] { std::this_thread::sleep_for(kPause); });
  while (true) {
    program.checkpoint();
    std::this_thread::sleep_for(between);
  }
}

bool run(sqlite3* database, const char* sql) {
  const int code = sqlite3_exec(database, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK || code == SQLITE_BUSY;
}

// Adds rows until it is killed or finds the database damaged.
int write_plainly(const fs::path& file) {
  sqlite3* database = nullptr;
  sqlite3_open(file.c_str(), &database);
  sqlite3_busy_timeout(database, 5000);
  run(database, "PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=OFF");
  while (run(database, "INSERT INTO rows VALUES(randomblob(100))") &&
         run(database, "SELECT count(*) FROM rows")) {
    continue;
  }
  return kDamaged;
}

std::string examine_plain(const fs::path& file) {
  constexpr std::chrono::seconds kLimit{60};
  sqlite3* database = nullptr;
  sqlite3_open(file.c_str(), &database);
  run(database, "PRAGMA journal_mode=WAL; CREATE TABLE rows(bytes)");
  sqlite3_close(database);
  Process writer([&] { return write_plainly(file); });
  const Process checkpointer([&] { return checkpoint_on_and_on(file, milliseconds(0)); });
  const Process limit([&] {
    std::this_thread::sleep_for(kLimit);
    writer.signal(SIGKILL);
    return 0;
  });
  return writer.wait() == kDamaged ? ""
                                   : "is not damaged either: the pause does not show the fault";
}

}  // namespace

Tally write_beside_checkpoints(const Kind& kind, std::size_t rounds) {
  Tally tally;
  if (sqlite::has_wal_reset_fault()) {
    const WorkFolder work;
    tally.add("plain SQLite", examine_plain(work.path() / "plain.db"));
  }
  for (std::size_t i = 0; i < rounds; ++i) {
    const WorkFolder work;
    const fs::path location = work.path() / "now";
    begin_named(kind, location);
    Acknowledged known;
    {
      const milliseconds between(i % 2 == 0 ? 0 : 1);
      const Process checkpointer(
          [&] { return checkpoint_on_and_on(location / "reprise.db", between); });
      Writers writers(kind, location, 0);
      std::this_thread::sleep_for(std::chrono::seconds(2));
      known = writers.kill();
    }
    tally.add(cat(kind.name, " beside another program's checkpoints, ", i),
              examine_named(kind, location, 1, known));
  }
  return tally;
}

}  // namespace reprise::rel
