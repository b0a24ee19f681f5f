#pragma once

// The PostgreSQL server that the tests share: started by ctest for all of them, or by the first
// test of a program that was started by hand, which then ends it. REPRISE_POSTGRES_URL names
// another.

#include <string>
#include <string_view>

namespace reprise::test {

// "postgres://…/postgres?tenant=TENANT". Throws when there is no server and none can be started.
std::string postgres_url(std::string_view tenant);

}  // namespace reprise::test
