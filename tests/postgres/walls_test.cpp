// The script of docs/teams.md that holds each role to the tenant of its name.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

std::string script() {
  const std::string page = must(read_file(PROJECT_TEAMS_PAGE));
  const std::size_t begin = page.find("```\n", page.find("<!-- walls -->")) + 4;
  return page.substr(begin, page.find("```", begin) - begin);
}

class PostgresWalls : public testing::Test {
 protected:
  PostgresWalls() {
    must(migrate_store(url_));
    run(url_, script());
    for (const std::string& role : {ours_, theirs_}) {
      run(url_, cat("CREATE ROLE ", role, " LOGIN"));
      run(url_, cat("GRANT SELECT ON reprise_schema TO ", role));
      run(url_,
          cat("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ", role));
    }
  }
  std::unique_ptr<Store> open(const std::string& role, const std::string& tenant) const {
    std::string url = url_;
    url.replace(url.find("reprise@"), 7, role);
    url.replace(url.find("tenant=default"), 14, cat("tenant=", tenant));
    return must(open_store(url));
  }

  const std::string url_ = new_database();
  const std::string name_ = url_.substr(url_.rfind('/') + 2, 16);
  const std::string ours_ = cat("ours", name_);
  const std::string theirs_ = cat("theirs", name_);
};

TEST_F(PostgresWalls, ARoleSeesAndWritesItsOwnTenantOnly) {
  const auto own = open(theirs_, theirs_);
  must(own->create(session("s")));
  must(own->append(session_id("s"), messages(2), {}));
  EXPECT_EQ(must(read_all(*own, session_id("s"))).size(), 2U);

  const auto stranger = open(ours_, theirs_);
  EXPECT_TRUE(must(stranger->list({})).sessions.empty());
  EXPECT_EQ(must(stranger->find(session_id("s"))), std::nullopt);
  EXPECT_FALSE(stranger->append(session_id("s"), messages(1), {}));
  EXPECT_FALSE(stranger->create(session("mine")));
  EXPECT_EQ(must(read_all(*own, session_id("s"))).size(), 2U);
  EXPECT_EQ(must(own->list({})).sessions.size(), 1U);
}

}  // namespace
}  // namespace reprise::test
