// Operations are executed exactly once, whatever happens to connections and transactions.

#include <gtest/gtest.h>

#include <ostream>
#include <thread>

#include "base/text.h"
#include "postgres/fault_proxy.h"
#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/store_statistics.h"
#include "support/build.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

struct FaultCase {
  const char* name;
  Fault fault;
};
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name.
void PrintTo(const FaultCase& one, std::ostream* out) {
  *out << one.name;
}

class PostgresFaults : public testing::TestWithParam<FaultCase> {
 protected:
  PostgresFaults() {
    must(store_->create(session("s")));
    must(store_->append(id_, messages(2, "before"), {}));
  }

  // Runs `change` with the fault at its first request, or after that many.
  void with_fault(const std::function<void()>& change, int after = 0) {
    must(store_->find(id_));  // opens the connection that the fault affects
    proxy_.set(GetParam().fault, after);
    change();
    EXPECT_TRUE(proxy_.has_happened());
    proxy_.set(Fault::none);
  }
  Store& store() { return *store_; }
  const Capabilities& capabilities() { return store_->capabilities(); }
  std::vector<std::string> stored() { return texts(must(read_all(*store_, id_))); }

  const SessionId id_ = session_id("s");
  FaultProxy proxy_{postgres_url(new_tenant())};
  // Half of the time is for a missing response; slow ones arrive, but take long under a sanitizer.
  const std::chrono::seconds timeout_{GetParam().fault == Fault::slow ? 60 : 4};
  std::unique_ptr<Store> store_ = must(open_store(proxy_.url(), {.busy_timeout = timeout_}));
};

TEST_P(PostgresFaults, AnAppendHappensOnce) {
  for (const bool is_named : {false, true}) {
    with_fault([&] {
      AppendOptions options{.expected_head = Seq{is_named ? 4 : 2}};
      if (is_named) {
        options.operation = operation_id("op");
      }
      const auto appended = store().append(id_, messages(2, is_named ? "named" : "mine"), options);
      ASSERT_TRUE(works(appended));
      EXPECT_EQ(appended->first, *options.expected_head);
    });
  }
  EXPECT_EQ(stored(), (std::vector<std::string>{"before 0", "before 1", "mine 0", "mine 1",
                                                "named 0", "named 1"}));
  EXPECT_TRUE(must(store().append(id_, {}, {.operation = operation_id("op")})).repeated);
}

// Like with distributed tables: first the head, then the inserts.
TEST_P(PostgresFaults, AnAppendInTwoStepsHappensOnce) {
  const std::string url = new_database();
  must(must(open_store(url))->create(session("s")));
  distribute(url);
  for (const int step : {0, 1}) {
    FaultProxy proxy(url);
    const auto store = must(open_store(proxy.url(), {.busy_timeout = timeout_}));
    must(store->find(id_));
    proxy.set(GetParam().fault, step);
    const OperationId name = operation_id(cat("op", step));
    EXPECT_TRUE(works(store->append(id_, messages(2, std::to_string(step)), {.operation = name})));
    EXPECT_TRUE(proxy.has_happened());
    proxy.set(Fault::none);
    must(store->find(id_));  // on a working connection
    EXPECT_TRUE(must(store->append(id_, {}, {.operation = name})).repeated);
  }
  EXPECT_EQ(texts(must(read_all(*must(open_store(url)), id_))),
            (std::vector<std::string>{"0 0", "0 1", "1 0", "1 1"}));
}

TEST_P(PostgresFaults, AnAppendByAFunctionHappensOnce) {
  const std::string url = new_database();
  must(must(open_store(url))->create(session("s")));
  distribute(url);
  must(migrate_store(url));
  FaultProxy proxy(url);
  const auto store = must(open_store(proxy.url(), {.busy_timeout = timeout_}));
  must(store->find(id_));
  proxy.set(GetParam().fault);
  const AppendOptions options{.operation = operation_id("op")};
  EXPECT_TRUE(works(store->append(id_, messages(1), options)));
  EXPECT_TRUE(proxy.has_happened());
  proxy.set(Fault::none);
  must(store->find(id_));  // on a working connection
  EXPECT_TRUE(must(store->append(id_, {}, options)).repeated);
  EXPECT_EQ(must(read_all(*must(open_store(url)), id_)).size(), 1U);
}

TEST_P(PostgresFaults, RetriesAndUnknownOutcomesAreCounted) {
  StoreStatistics statistics;
  const auto store =
      must(open_store(proxy_.url(), {.busy_timeout = timeout_, .statistics = &statistics}));
  must(store->find(id_));
  const StoreCounts before = statistics.counts();
  EXPECT_EQ(before.retries, 0);
  EXPECT_EQ(before.connections.count, 1);
  proxy_.set(GetParam().fault);
  EXPECT_TRUE(works(store->append(id_, messages(1), {})));
  EXPECT_TRUE(proxy_.has_happened());
  const StoreCounts after = statistics.counts();
  // Requests closed after the response, and slow ones, are answered.
  const bool is_answered = GetParam().fault == Fault::cut_after || GetParam().fault == Fault::slow;
  EXPECT_EQ(after.retries, is_answered ? 0 : 1);
  EXPECT_EQ(after.unknown_outcomes, is_answered ? 0 : 1);
  EXPECT_GT(after.round_trips.count, before.round_trips.count);
  EXPECT_EQ(after.calls.at("append").count, 1);
  proxy_.set(Fault::none);
}

TEST_P(PostgresFaults, AReplacementHappensOnce) {
  with_fault([&] {
    EXPECT_TRUE(works(capabilities().rewriting->replace_suffix(id_, {1}, messages(2, "new"), {})));
  });
  EXPECT_EQ(stored(), (std::vector<std::string>{"before 0", "new 0", "new 1"}));
}

TEST_P(PostgresFaults, ASessionIsCreatedOnce) {
  with_fault([&] { EXPECT_TRUE(works(store().create(full_session("new")))); });
  EXPECT_EQ(must(get(store(), session_id("new"))), full_session("new"));
  with_fault([&] { EXPECT_TRUE(works(capabilities().forking->fork(id_, {1}, session("child")))); });
  EXPECT_EQ(must(read_all(store(), session_id("child"))).size(), 1U);
  with_fault([&] { EXPECT_TRUE(fails(store().create(session("new")), Code::conflict)); });
}

TEST_P(PostgresFaults, AnAnswerGrowsByItsDeltas) {
  const OperationId answer = operation_id("a");
  must(store().append(id_, {}, {.begin_partial = PartialStart{answer, this_process(), "p", "m"}}));
  for (const char* piece : {"one ", "two ", "three"}) {
    with_fault([&] {
      const std::vector<Block> delta = {TextBlock{piece, {}}};
      EXPECT_TRUE(works(capabilities().partials->add_partial(id_, answer, delta)));
    });
  }
  EXPECT_EQ(must(capabilities().partials->find_partial(id_))->blocks,
            (std::vector<Block>{TextBlock{"one two three", {}}}));
  with_fault([&] {
    EXPECT_TRUE(works(store().append(id_, messages(1, "answer"), {.end_partial = answer})));
  });
  EXPECT_EQ(must(capabilities().partials->find_partial(id_)), std::nullopt);
  EXPECT_EQ(stored().size(), 3U);
}

TEST_P(PostgresFaults, DataBesideTheMessagesChangesOnce) {
  with_fault([&] {
    EXPECT_TRUE(
        works(capabilities().todos->edit_todos(id_, [](std::vector<Todo>& todos) -> Result<> {
          todos.push_back({"do it", TodoStatus::pending, "", {}});
          return {};
        })));
  });
  EXPECT_EQ(must(capabilities().todos->todos(id_)).size(), 1U);
  with_fault([&] {
    EXPECT_TRUE(works(capabilities().artefacts->append_artefact(id_, {1}, "log", "line\n")));
  });
  EXPECT_EQ(must(capabilities().artefacts->find_artefact(id_, {1}, "log")), "line\n");
  with_fault([&] { EXPECT_TRUE(works(store().update(id_, {.title = "other"}))); });
  EXPECT_EQ(must(get(store(), id_)).info.title, "other");
}

TEST_P(PostgresFaults, ASessionGoesToTheTrashAndBackAndIsPurged) {
  with_fault([&] { EXPECT_TRUE(works(capabilities().trash->trash(id_, at(1)))); });
  with_fault([&] { EXPECT_TRUE(works(capabilities().trash->restore(id_))); });
  EXPECT_EQ(must(get(store(), id_)).info.state, SessionState::active);
  with_fault([&] { EXPECT_TRUE(works(capabilities().trash->purge(id_))); });
  EXPECT_EQ(must(store().find(id_)), std::nullopt);
}

// The second request commits.
TEST_P(PostgresFaults, ACommittedChangeIsNotReportedAsFailed) {
  for (const SessionState state : {SessionState::active, SessionState::closed}) {
    const auto closed_at = state == SessionState::closed ? std::optional(at(1)) : std::nullopt;
    must(store().update(id_, {.state = state, .closed_at = std::optional(closed_at)}));
    with_fault([&] { EXPECT_TRUE(works(capabilities().archives->archive(id_, at(1)))); }, 1);
    EXPECT_EQ(must(get(store(), id_)).info.state, SessionState::archived);
    with_fault([&] { EXPECT_TRUE(works(capabilities().archives->unarchive(id_))); }, 1);
    EXPECT_EQ(must(get(store(), id_)).info.state, state);
    with_fault([&] { EXPECT_TRUE(works(capabilities().trash->trash(id_, at(1)))); }, 1);
    with_fault([&] { EXPECT_TRUE(works(capabilities().trash->restore(id_))); }, 1);
    EXPECT_EQ(must(get(store(), id_)).info.state, state);
  }
  with_fault([&] { EXPECT_TRUE(works(store().update(id_, {.title = "other"}))); }, 1);
  EXPECT_EQ(must(get(store(), id_)).info.title, "other");
  with_fault(
      [&] {
        EXPECT_TRUE(works(capabilities().rewriting->replace_suffix(id_, {1}, messages(1), {})));
      },
      1);
  EXPECT_EQ(stored().size(), 2U);
  with_fault([&] { EXPECT_TRUE(works(capabilities().trash->purge(id_))); }, 1);
  EXPECT_EQ(must(store().find(id_)), std::nullopt);
}

TEST_P(PostgresFaults, ReadingContinuesWhereItWas) {
  must(store().append(id_, messages(6000, "more"), {}));  // more than a batch
  std::vector<std::string> seen;
  must(store().read(id_, {}, [&](Message&& message) {
    if (seen.size() == 500) {
      proxy_.set(GetParam().fault);
    }
    seen.push_back(plain_text(message));
    return Flow::proceed;
  }));
  EXPECT_TRUE(proxy_.has_happened());
  ASSERT_EQ(seen.size(), 6002U);
  EXPECT_EQ(seen.back(), "more 5999");
  EXPECT_EQ(seen[2], "more 0");
}

// The second request is for the messages, which arrive in several pieces.
TEST_P(PostgresFaults, VerifyingReportsNoFalseDamage) {
  if (GetParam().fault == Fault::unclear) {
    GTEST_SKIP() << "who reads is told of an internal error at once";
  }
  must(store().append(id_, messages(2000, std::string(100, 'm')), {}));
  proxy_.set(GetParam().fault, 1);
  const VerifyReport report = must(capabilities().verifier->verify());
  EXPECT_TRUE(proxy_.has_happened());
  EXPECT_EQ(report.messages, 2002);
  EXPECT_EQ(report.damage, std::vector<Damage>{});
}

// A page has 2000 sessions, so that the messages are on the second one.
TEST(PostgresCut, ALaterPageIsVerifiedAgainWithoutFalseDamage) {
  const std::string url = new_database();
  FaultProxy proxy(url);
  const auto cut = [&proxy](const Progress& progress) {
    if (progress.done == 100) {
      proxy.set(Fault::cut_after, 1);
    }
  };
  const auto store = must(open_store(proxy.url(), {.on_progress = cut}));
  must(store->create(session("a")));
  must(store->append(session_id("a"), messages(100), {}));
  for (const char* const statement :
       {"INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
        " SELECT 'default', 'b' || i, 0, 0, 0, 0, '' FROM generate_series(1, 1999) AS i",
        "INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider,"
        " model, working_dir, created_us) SELECT 'default', 'b' || i, '', '', '', '', '', '', 1"
        " FROM generate_series(1, 1999) AS i"}) {
    run(url, statement);
  }
  must(store->create(session("s")));
  must(store->append(session_id("s"), messages(2000, std::string(100, 'm')), {}));
  const VerifyReport report = must(store->capabilities().verifier->verify());
  EXPECT_TRUE(proxy.has_happened());
  EXPECT_EQ(report.messages, 2100);
  EXPECT_EQ(report.damage, std::vector<Damage>{});
}

TEST_P(PostgresFaults, ReadersMayUseTheStore) {
  must(store().append(id_, messages(2000, "more"), {}));
  std::size_t seen = 0;
  must(store().read(id_, {}, [&](Message&&) {
    if (++seen == 100) {
      proxy_.set(GetParam().fault);
      EXPECT_TRUE(works(store().update(id_, {.title = "read"})));
      EXPECT_TRUE(proxy_.has_happened());
    }
    return Flow::proceed;
  }));
  EXPECT_EQ(seen, 2002U);
  EXPECT_EQ(must(get(store(), id_)).info.title, "read");
}

INSTANTIATE_TEST_SUITE_P(Network, PostgresFaults,
                         testing::Values(FaultCase{"cut_before", Fault::cut_before},
                                         FaultCase{"cut_within", Fault::cut_within},
                                         FaultCase{"cut_during", Fault::cut_during},
                                         FaultCase{"cut_after", Fault::cut_after},
                                         FaultCase{"half_open", Fault::half_open},
                                         FaultCase{"slow", Fault::slow},
                                         FaultCase{"unclear", Fault::unclear}),
                         [](const auto& one) { return one.param.name; });

// The server disappears, and the sink takes longer than the store waits for a server.
TEST(PostgresSlowReader, ReadingGoesOn) {
  constexpr std::chrono::seconds kTime(1);
  FaultProxy proxy(postgres_url(new_tenant()));
  const auto store = must(open_store(proxy.url(), {.busy_timeout = kTime}));
  must(store->create(session("s")));
  must(store->append(session_id("s"), messages(2000, "more"), {}));
  std::size_t seen = 0;
  must(store->read(session_id("s"), {}, [&](Message&&) {
    if (++seen == 100) {
      proxy.go_away();
      std::this_thread::sleep_for(kTime * 1.2);
      proxy.come_back();
    }
    return Flow::proceed;
  }));
  EXPECT_EQ(seen, 2000U);
}

// Transfers that take several times as long as the store waits for a server.
TEST(PostgresSlowNetwork, LargeContentsAreStoredAndRead) {
  FaultProxy proxy(postgres_url(new_tenant()));
  const auto store = must(open_store(proxy.url(), {.busy_timeout = std::chrono::seconds(1)}));
  const SessionId id = session_id("s");
  must(store->create(session("s")));
  proxy.limit_rate(1'500'000);
  const std::string text(3'000'000, 'x');
  ASSERT_TRUE(works(store->append(id, {user(text)}, {})));
  EXPECT_EQ(plain_text(must(read_all(*store, id)).front()), text);
  const BlobHash hash = must(store->capabilities().blobs->put_blob(text));
  std::size_t bytes = 0;
  must(store->capabilities().blobs->read_blob(hash, [&bytes](std::string_view piece) {
    bytes += piece.size();
    return Flow::proceed;
  }));
  EXPECT_EQ(bytes, text.size());
  EXPECT_EQ(proxy.connections(), 1);
}

TEST(PostgresSlowNetwork, ASilentServerEndsATransfer) {
  FaultProxy proxy(postgres_url(new_tenant()));
  const auto store = must(open_store(proxy.url(), {.busy_timeout = std::chrono::seconds(1)}));
  must(store->create(session("s")));
  for (const std::size_t size : {1U, 8'000'000U}) {
    proxy.set(Fault::half_open);
    const auto start = std::chrono::steady_clock::now();
    // It may be stored by a second attempt.
    (void)store->append(session_id("s"), {user(std::string(size, 'x'))}, {});
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
  }
}

// Long messages have parts, which are read when the sink wants them.
TEST(PostgresSlowReader, KeepsItsConnection) {
  StoreStatistics statistics;
  const auto store =
      must(open_store(postgres_url(new_tenant()),
                      {.busy_timeout = std::chrono::seconds(1), .statistics = &statistics}));
  must(store->create(session("s")));
  must(store->append(session_id("s"), messages(12, std::string(300'000, 'x')), {}));
  std::size_t seen = 0;
  must(store->read(session_id("s"), {}, [&seen](const Message&) {
    ++seen;
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    return Flow::proceed;
  }));
  EXPECT_EQ(seen, 12U);
  EXPECT_EQ(statistics.counts().connections.count, 1);
}

TEST(PostgresDelay, AnAppendWhoseAnswerIsLateHappensOnce) {
  FaultProxy proxy(postgres_url(new_tenant()));
  const auto store = must(open_store(proxy.url(), {.busy_timeout = std::chrono::seconds(4)}));
  must(store->create(session("s")));
  proxy.set(Fault::delayed);
  EXPECT_TRUE(works(store->append(session_id("s"), messages(1), {})));
  proxy.release();
  EXPECT_EQ(must(read_all(*store, session_id("s"))).size(), 1U);
}

// A request that arrives when its client has given up and repeated it on another connection.
TEST(PostgresDelay, ARequestThatArrivesLateDoesNothingMore) {
  const std::string tenant = new_tenant();
  FaultProxy proxy(cat(postgres_url(tenant), "&application_name=", tenant));
  const std::string count =
      cat("SELECT count(*) FROM pg_stat_activity WHERE application_name = '", tenant, "'");
  const SessionId id = session_id("s");
  const OperationId answer = operation_id("a");
  const std::vector<Block> delta = {TextBlock{"once", {}}};
  for (int round = 0; round < 2; ++round) {
    const auto store = must(open_store(proxy.url(), {.busy_timeout = std::chrono::seconds(4)}));
    if (round == 0) {
      must(store->create(session("s")));
      must(
          store->append(id, {}, {.begin_partial = PartialStart{answer, this_process(), "p", "m"}}));
    }
    must(store->find(id));
    proxy.set(Fault::late);
    EXPECT_TRUE(round == 0 ? works(store->capabilities().partials->add_partial(id, answer, delta))
                           : works(store->append(id, messages(1), {})));
    proxy.release();
    // The late connection ends when its request was received.
    while (std::stoi(query(postgres_url(tenant), count)) > 1) {
    }
  }
  const auto store = must(open_store(postgres_url(tenant)));
  EXPECT_EQ(must(store->capabilities().partials->find_partial(id))->blocks, delta);
  EXPECT_EQ(must(read_all(*store, id)).size(), 1U);
}

}  // namespace
}  // namespace reprise::test
