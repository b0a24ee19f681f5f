#pragma once

// The PostgreSQL server shared by the tests: started by ctest, or by the first test of a program
// that was started manually, which then stops it. REPRISE_POSTGRES_URL names another one.

#include <string>
#include <string_view>

namespace reprise::test {

// "postgres://…/postgres?tenant=TENANT". Throws if there is no server and none can be started.
std::string postgres_url(std::string_view tenant);

}  // namespace reprise::test
