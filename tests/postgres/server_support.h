#pragma once

// What tests do to the server beside the store.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/connection.h"

namespace reprise::test {

std::string new_tenant();
// The URL of a new, empty database on the shared server.
std::string new_database();
// A statement that returns nothing.
void run(std::string_view url, std::string_view sql);
// What one statement returns in its first row and column.
std::string query(std::string_view url, std::string_view sql);
// How the server would run each of them, as JSON.
std::vector<std::string> plans(std::string_view url, const std::vector<std::string>& statements);

// A transaction that runs the statement and does not end before this does.
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
