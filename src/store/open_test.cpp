#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/postgres/url.h"

namespace reprise {
namespace {

using std::filesystem::path;

class OpenStore : public testing::Test {
 protected:
  const test::TemporaryFolder temporary_;
  const path folder_ = temporary_.path();
};

void expect_refused(std::string_view url, std::string_view hint) {
  const auto store = open_store(url);
  ASSERT_FALSE(store) << url;
  EXPECT_EQ(store.error().code, Code::invalid_argument) << url;
  EXPECT_NE(store.error().message.find(hint), std::string::npos) << store.error().message;
}

TEST_F(OpenStore, ByScheme) {
  const auto memory = open_store("memory:");
  ASSERT_TRUE(memory);
  EXPECT_EQ((*memory)->capabilities().backup, nullptr);
  const auto sqlite = open_store("sqlite:" + (folder_ / "a.db").string());
  ASSERT_TRUE(sqlite) << sqlite.error().message;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "a.db"));
}

TEST_F(OpenStore, OptionsOutOfRangeAreRefused) {
  const auto refusal = [](const StoreOptions& options) {
    const auto store = open_store("memory:", options);
    return store || store.error().code != Code::invalid_argument ? "" : store.error().message;
  };
  EXPECT_EQ(refusal({.busy_timeout = std::chrono::milliseconds(-1)}),
            "busy_timeout must not be negative");
  EXPECT_EQ(refusal({.connections_max = 0}), "connections_max must be at least 1");
  EXPECT_EQ(refusal({.partial_interval = std::chrono::milliseconds(-1)}),
            "partial_interval must not be negative");
  EXPECT_EQ(refusal({.slow_call = std::chrono::milliseconds(-1)}),
            "slow_call must not be negative");
  EXPECT_EQ(refusal({.clock = nullptr}), "clock must not be null");
  EXPECT_TRUE(open_store("memory:", {.busy_timeout = std::chrono::milliseconds(0)}));
}

TEST_F(OpenStore, TellsTheFilesOfAStore) {
  const auto belongs = [this](const std::string& url, const char* file) {
    return belongs_to_store(url, folder_ / file).value();
  };
  const std::string file = "chain:" + (folder_ / "a.json").string();
  ASSERT_TRUE(replace_file(folder_ / "a.json", "{}"));
  std::filesystem::create_hard_link(folder_ / "a.json", folder_ / "hard");
  std::filesystem::create_symlink("a.json", folder_ / "soft");
  for (const char* const own : {"a.json", "a.json-wal", "a.json.trash", "a.json.trash/x.json",
                                "b/../a.json", "hard", "soft"}) {
    EXPECT_TRUE(belongs(file, own)) << own;
  }
  for (const char* const other : {"a.jsonl", "b.json", "a", "b/a.json", "."}) {
    EXPECT_FALSE(belongs(file, other)) << other;
  }
  const std::string folder = "sessions:" + (folder_ / "s").string();
  EXPECT_TRUE(belongs(folder, "s/x/new"));
  EXPECT_FALSE(belongs(folder, "sessions"));
  // A chat directory may be a project's folder.
  const std::string chats = "chatdir:" + folder_.string() + "?messages=5";
  EXPECT_TRUE(belongs(chats, "trash/new"));
  EXPECT_FALSE(belongs(chats, "notes.txt"));
  EXPECT_FALSE(belongs("memory:", "notes.txt"));
}

TEST_F(OpenStore, APathByItsContents) {
  const path file = folder_ / "sqlite:like: a.db";
  const Session session{.info = {.id = *SessionId::parse("s")}};
  {
    const auto written = open_sqlite_store(file);
    ASSERT_TRUE(written) << written.error().message;
    ASSERT_TRUE((*written)->create(session));
  }
  const auto found = open_store(file.string());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(get(**found, session.info.id));
}

TEST_F(OpenStore, OtherFilesAreRefusedAndTheKindsAreListed) {
  const path text = folder_ / "notes.txt";
  ASSERT_TRUE(replace_file(text, "SQLite format 3"));  // one byte short
  expect_refused(text.string(), "sqlite:FILE");
  ASSERT_TRUE(replace_file(text, ""));
  expect_refused(text.string(), "sqlite:FILE");
  expect_refused(folder_.string(), "sqlite:FILE");
  expect_refused((folder_ / "missing.db").string(), "write 'sqlite:/");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "missing.db"));
  expect_refused("", "sqlite:FILE");
  expect_refused("postgrse://host/db", "sqlite:FILE");
  expect_refused("SQLITE:x", "sqlite:FILE");
}

TEST_F(OpenStore, AFolderWithAContextFileHoldsNoSessions) {
  const path file = folder_ / "openai.json";
  {
    const auto store = open_context_store(file);
    ASSERT_TRUE(store && (*store)->create(Session{.info = {.id = *SessionId::parse("s")}}));
  }
  EXPECT_EQ(recognise_store(file).value_or("?"), "context:" + file.string());
  EXPECT_EQ(recognise_store(folder_).value_or("?"), "");
}

TEST_F(OpenStore, APipeIsNotWaitedFor) {
  const path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(pipe.string(), "sqlite:FILE");
}

TEST_F(OpenStore, PlacesThatDoNotFitTheScheme) {
  expect_refused("sqlite:", "sqlite:FILE");
  expect_refused("memory:x", "memory:");
}

TEST(WithoutPassword, HidesItWhereverItStands) {
  EXPECT_EQ(without_password("postgres://u:p@h/d?tenant=t"), "postgres://u:***@h/d?tenant=t");
  EXPECT_EQ(without_password("postgres://u:p@h:1,g:2/d"), "postgres://u:***@h:1,g:2/d");
  EXPECT_EQ(without_password("postgres:///d?user=u&password=p&tenant=t"),
            "postgres:///d?user=u&password=***&tenant=t");
  EXPECT_EQ(without_password("postgres://h/d?sslpassword=p"), "postgres://h/d?sslpassword=***");
}

TEST(WithoutPassword, ChangesNothingElse) {
  for (const char* url : {"postgres://u@h:5432/d?tenant=t", "postgres://h:5432/d", "sqlite:/a:b@c",
                          "chatdir:/x?messages=5", "memory:", ""}) {
    EXPECT_EQ(without_password(url), url);
  }
}

TEST(SameStoreServer, ComparesTheServersThatGetThePassword) {
  constexpr std::string_view kOwn = "postgres://me@db.test/history?sslmode=verify-full";
  for (const char* const same :
       {"postgres://db.test/other", "postgresql://x:y@DB.test/?tenant=t"}) {
    EXPECT_TRUE(is_same_store_server(kOwn, same)) << same;
  }
  for (const char* const other :
       {"postgres://db.test.evil/history", "postgres://db.test@evil.test/history",
        "postgres://db.test:5433/history", "postgres://db.test,evil.test/history",
        "postgres://db.test/history?host=evil.test", "postgres://db.test/h?hostaddr=10.0.0.1",
        "postgres://db.test/h?service=evil", "sqlite:/x", "", "postgres://[/"}) {
    EXPECT_FALSE(is_same_store_server(kOwn, other)) << other;
  }
  EXPECT_FALSE(is_same_store_server("", ""));
  EXPECT_FALSE(is_same_store_server("sqlite:/x", "sqlite:/x"));
}

TEST(StorePath, IsWithoutParameters) {
  EXPECT_EQ(*store_path("chatdir:/x/d?messages=5"), "/x/d");
  EXPECT_EQ(*store_path("chatdir:/x/d?"), "/x/d?");
  EXPECT_EQ(*store_path("chatdir:/x?y=1/d"), "/x?y=1/d");
  EXPECT_EQ(*store_path("sqlite:/x?messages=5"), "/x?messages=5") << "a file's name";
  EXPECT_EQ(*store_path("postgres://db.test/d?tenant=t"), "");
  EXPECT_EQ(*store_path("memory:"), "");
  EXPECT_EQ(*store_path("/x"), "");
  EXPECT_FALSE(store_path("chatdir:d?messages=x"));
  EXPECT_FALSE(store_path("chatdir:d?message=5"));
}

TEST(PostgresUrl, OurParametersDefaultToOff) {
  const auto place = postgres::parse_url("postgres://db.test/d");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->tenant, "default");
  EXPECT_FALSE(place->list_from_standby);
  EXPECT_FALSE(place->sets_tenant);
  EXPECT_FALSE(place->has_password);
  EXPECT_FALSE(place->names_server);
  const auto other = postgres::parse_url(
      "postgres://u:p@db.test/d?tenant=t&list_from=standby&set_tenant=yes"
      "&target_session_attrs=any");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->tenant, "t");
  EXPECT_TRUE(other->list_from_standby);
  EXPECT_TRUE(other->sets_tenant);
  EXPECT_TRUE(other->has_password);
  EXPECT_TRUE(other->names_server);
  const auto off = postgres::parse_url("postgres://db.test/d?list_from=primary&set_tenant=no");
  ASSERT_TRUE(off);
  EXPECT_FALSE(off->list_from_standby);
  EXPECT_FALSE(off->sets_tenant);
}

// Routers and load balancers forget connections that are idle for some minutes.
TEST(PostgresUrl, IdleConnectionsAreKeptAlive) {
  const auto seconds_of = [](std::string_view url) -> std::string {
    const auto place = postgres::parse_url(url);
    for (const auto& [name, value] : place->servers.at(1)) {
      if (name == "keepalives_idle") {
        return value;
      }
    }
    return "of the system";
  };
  EXPECT_EQ(seconds_of("postgres://a.test,b.test/d"), "60");
  EXPECT_EQ(seconds_of("postgres://a.test,b.test/d?keepalives_idle=7"), "7");
}

// The sslmode that libpq gets for a URL with a password; "" if the password would be refused.
std::string tls_of(std::string_view url) {
  auto place = postgres::parse_url(url);
  if (!place || !postgres::require_tls(place->servers.at(0))) {
    return "";
  }
  for (const auto& [name, value] : place->servers.at(0)) {
    if (name == "sslmode") {
      return value;
    }
  }
  return "any";
}

TEST(RequireTls, AppliesToOtherHosts) {
  EXPECT_EQ(tls_of("postgres://db.test/d"), "verify-full");
  EXPECT_EQ(tls_of("postgres://db.test/d?sslmode=prefer"), "verify-full");
  EXPECT_EQ(tls_of("postgres://db.test/d?sslmode=allow"), "verify-full");
  EXPECT_EQ(tls_of("postgres://db.test/d?sslmode=verify-full"), "verify-full");
  EXPECT_EQ(tls_of("postgres://db.test/d?sslmode=verify-ca"), "verify-ca");
  EXPECT_EQ(tls_of("postgres://db.test/d?sslmode=require"), "") << "checks no certificate";
  EXPECT_EQ(tls_of("postgres://db.test/d?sslmode=disable"), "");
  EXPECT_EQ(tls_of("postgres:///d?service=x"), "verify-full");
  EXPECT_EQ(tls_of("postgres://localhost.evil.test/d"), "verify-full");
  EXPECT_EQ(tls_of("postgres://localhost/d?hostaddr=10.0.0.1"), "verify-full");
  for (const char* const local :
       {"postgres://localhost/d", "postgres://127.0.0.1:1/d", "postgres://[::1]/d",
        "postgres:///d?host=/run/postgresql", "postgres://x/d?hostaddr=127.0.0.1"}) {
    EXPECT_EQ(tls_of(local), "any") << local;
  }
}

}  // namespace
}  // namespace reprise
