#pragma once

// Direct access of tests to the server.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/connection.h"

namespace reprise::test {

std::string new_tenant();
// The URL of a new, empty database on the shared server.
std::string new_database();
std::unique_ptr<postgres::Connection> connect(std::string_view url);
// Runs a statement without a result.
void run(std::string_view url, std::string_view sql);
// Makes the tables look distributed, as on Citus.
void distribute(std::string_view url);
// The first row and column of the result of a statement.
std::string query(std::string_view url, std::string_view sql);
// The server's plan for each statement, as JSON.
std::vector<std::string> plans(std::string_view url, const std::vector<std::string>& statements);

// A transaction that runs the statement and remains open during the lifetime of the object.
class Holder {
 public:
  Holder(std::string_view url, std::string_view sql);
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

 private:
  std::unique_ptr<postgres::Connection> connection_;
};

}  // namespace reprise::test
