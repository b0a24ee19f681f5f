// The minimum cost of a dynamically linked C++ program on SQLite: `version` prints one line, `list
// DB` shows the newest sessions of a bare database.

#include <sqlite3.h>

#include <iostream>
#include <string>

#include "bare_sqlite.h"

int main(int argc, char** argv) {
  if (argc > 2) {
    for (const bench::BareSession& session : bench::BareSqlite(argv[2]).newest(50)) {
      std::cout << session.id.substr(0, 8) << "  " << session.title << '\n';
    }
  } else {
    std::cout << "floor " << std::string(sqlite3_libversion()) << '\n';
  }
}
