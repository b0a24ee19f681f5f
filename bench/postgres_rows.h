#pragma once

// Common declarations of the PostgreSQL benchmarks.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

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

inline constexpr int kClients = 16;
inline constexpr int kPage = 20;  // of a list

// A store of its own, which appends to one session.
struct Client {
  std::unique_ptr<reprise::Store> store;
  reprise::SessionId session;
};

std::unique_ptr<reprise::Store> open(const std::string& url, const std::string& tenant);
void append(reprise::Store& store, const reprise::SessionId& id);
// kClients in turn of the tenants "t0", "t1"…
std::vector<Client> clients_of(const std::string& url, int tenants);
// The appends per second of all clients at once, of which each makes so many.
double append_by_all(const std::vector<Client>& clients, int appends);
std::string make_database(const Server& server, const std::string& name);

// 500 bytes of text that need no quoting for a shell, pgbench and the server.
std::string plain_text();
// Writes the statement as a script of pgbench, which counts its variable seq.
std::filesystem::path write_script(const std::filesystem::path& file, const std::string& statement);
// The transactions per second that pgbench reports with kClients; `options` are those of its
// script.
double run_pgbench(const Server& server, const std::string& options, const std::string& url);

// Lists and appends in stores of different sizes, and in tables with and without partitions.
void lists_and_growth(const Server& server, const Scale& scale);
// The cost of each command in a large store.
void commands(const Server& server, const Scale& scale);
void partitions(const Server& server, const Scale& scale);
// The same on Citus, with tables distributed by tenant.
void citus(const Server& server, const Scale& scale, const std::filesystem::path& folder);
// Many running answers.
void streams(const Server& server, const Scale& scale);

}  // namespace bench
