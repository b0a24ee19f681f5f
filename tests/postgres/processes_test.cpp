// Many client processes on the same sessions.

#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <map>

#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

constexpr int kClients = 16;
constexpr int kSessions = 4;

// 20,000 appends in the long form.
int appends_of_each() {
  const char* const is_long = std::getenv("REPRISE_LONG");
  return is_long != nullptr && std::string_view(is_long) == "1" ? 1250 : 25;
}

SessionId session_of(int client) {
  return session_id(cat("shared-", client % kSessions));
}

// Every fifth append has an expected head, and is retried until it succeeds.
Result<> append_number(Store& store, int client, int number) {
  const SessionId id = session_of(client);
  const std::vector<Message> one = {user(cat(client, " ", number))};
  const OperationId operation = operation_id(cat("client-", client, "-", number));
  if (number % 5 != 0) {
    REPRISE_TRY(store.append(id, one, {.operation = operation}));
    return {};
  }
  while (true) {
    REPRISE_ASSIGN(const Session seen, get(store, id));
    const auto appended =
        store.append(id, one, {.expected_head = seen.info.head, .operation = operation});
    if (appended || appended.error().code != Code::conflict) {
      return appended ? Result<>() : std::unexpected(appended.error());
    }
  }
}

int run_client(const std::string& url, int client) {
  const auto store = open_store(url, {.busy_timeout = std::chrono::minutes(2)});
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 1;
  }
  for (int number = 0; number < appends_of_each(); ++number) {
    if (const auto appended = append_number(**store, client, number); !appended) {
      std::fprintf(stderr, "%s\n", appended.error().message.c_str());
      return 2;
    }
  }
  return 0;
}

TEST(PostgresProcesses, AppendToSharedSessionsWithoutGapsOrLosses) {
  const std::string url = postgres_url(new_tenant());
  const auto store = must(open_store(url));
  for (int number = 0; number < kSessions; ++number) {
    must(store->create(session(session_of(number).str())));
  }
  std::vector<pid_t> clients;
  for (int client = 0; client < kClients; ++client) {
    clients.push_back(in_child([&, client] { return run_client(url, client); }));
  }
  for (const pid_t client : clients) {
    EXPECT_EQ(exit_code_of(client), 0);
  }
  std::map<std::string, int> next;
  int stored = 0;
  for (int number = 0; number < kSessions; ++number) {
    const auto all = must(read_all(*store, session_of(number)));
    EXPECT_EQ(must(get(*store, session_of(number))).info.head.value,
              static_cast<std::int64_t>(all.size()));
    for (std::size_t place = 0; place < all.size(); ++place) {
      ASSERT_EQ(all[place].seq.value, static_cast<std::int64_t>(place));
      const std::string text = plain_text(all[place]);
      const std::string client = text.substr(0, text.find(' '));
      ASSERT_EQ(text, cat(client, " ", next[client]++)) << "each once and in its client's order";
      ++stored;
    }
  }
  EXPECT_EQ(stored, kClients * appends_of_each());
}

// Acknowledged messages exist, and the session continues after them.
TEST(PostgresProcesses, AKilledClientLosesNothingThatWasAcknowledged) {
  const std::string url = postgres_url(new_tenant());
  const auto store = must(open_store(url));
  const SessionId id = session_id("s");
  must(store->create(session("s")));
  std::size_t acknowledged = 0;
  for (int round = 0; round < 5; ++round) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t client = in_child([&] {
      const auto own = must(open_store(url));
      while (own->append(id, {user("one"), user("two")}, {})) {
        if (::write(pipe[1], "a", 1) != 1) {
          return 1;
        }
      }
      return 2;
    });
    ::close(pipe[1]);
    char byte = 0;
    for (int one = 0; one < 3 + round && ::read(pipe[0], &byte, 1) == 1; ++one) {
      ++acknowledged;
    }
    ::kill(client, SIGKILL);
    exit_code_of(client);
    while (::read(pipe[0], &byte, 1) == 1) {
      ++acknowledged;
    }
    ::close(pipe[0]);
    const auto all = must(read_all(*store, id));
    EXPECT_GE(all.size(), 2 * acknowledged);
    EXPECT_EQ(all.size() % 2, 0U);
    // Requests that the client sent before it was killed may still be executed.
    const Seq first = must(store->append(id, messages(2), {})).first;
    EXPECT_GE(first.value, static_cast<std::int64_t>(all.size()));
    EXPECT_EQ(first.value % 2, 0);
    ++acknowledged;
  }
}

}  // namespace
}  // namespace reprise::test
