#pragma once

// What tests do to the server beside the store.

#include <string>
#include <string_view>

namespace reprise::test {

std::string new_tenant();
// The URL of a new, empty database on the shared server.
std::string new_database();
// A statement that returns nothing.
void run(std::string_view url, std::string_view sql);
// What one statement returns in its first row and column.
std::string query(std::string_view url, std::string_view sql);

}  // namespace reprise::test
