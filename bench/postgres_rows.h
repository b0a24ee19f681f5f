#pragma once

// Common declarations of the PostgreSQL benchmarks.

#include <memory>

#include "reprise/store.h"

namespace bench {

struct Scale {
  int rounds = 9;
  int appends = 100;          // per round
  int clients_appends = 200;  // per round and client
  std::int64_t sessions = 100'000;
};

struct Server {
  std::string url;      // up to the database's name
  std::string pgbench;  // the program
  std::string database(const std::string& name) const { return url + name; }
};

std::unique_ptr<reprise::Store> open(const std::string& url, const std::string& tenant);
void append(reprise::Store& store, const reprise::SessionId& id);
std::string make_database(const Server& server, const std::string& name);

// Lists and appends in stores of different sizes, and in tables with and without partitions.
void lists_and_growth(const Server& server, const Scale& scale);
// The cost of each command in a large store.
void commands(const Server& server, const Scale& scale);
void partitions(const Server& server, const Scale& scale);
// Many running answers.
void streams(const Server& server, const Scale& scale);

}  // namespace bench
