// One store object, several threads.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/open_source.h"
#include "reprise/open_store.h"
#include "reprise/store.h"
#include "session/import.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

constexpr int kThreads = 8;

// Runs `run` on all threads at once. It must not use ASSERT_ or must().
void on_threads(const std::function<void(int thread)>& run) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&run, thread] { run(thread); });
  }
}

std::string text_of(int thread, int number) {
  return std::to_string(thread) + ":" + std::to_string(number);
}

TEST_P(StoreContract, ThreadsAppendToOneSession) {
  REPRISE_NEEDS(capabilities().messages);
  constexpr int kBatches = 10;
  const SessionId id = create("s");
  on_threads([&](int thread) {
    for (int batch = 0; batch < kBatches; ++batch) {
      const auto appended = store().append(
          id, {user(text_of(thread, 2 * batch)), user(text_of(thread, 2 * batch + 1))}, {});
      EXPECT_TRUE(works(appended));
    }
  });
  reopen();
  const std::vector<Message> all = stored(id);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kThreads * kBatches * 2));
  std::vector<int> next(kThreads, 0);
  for (std::size_t place = 0; place < all.size(); ++place) {
    EXPECT_EQ(all[place].seq.value, static_cast<std::int64_t>(place));
    const std::string text = plain_text(all[place]);
    const auto thread = static_cast<std::size_t>(text.front() - '0');
    EXPECT_EQ(text, text_of(static_cast<int>(thread), next[thread]++)) << "in its thread's order";
    if (place % 2 == 1) {
      EXPECT_EQ(text.front(), plain_text(all[place - 1]).front()) << "batches stay together";
    }
  }
}

TEST_P(StoreContract, ThreadsGetTheSeqsTheyWrote) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s");
  on_threads([&](int thread) {
    const auto appended = store().append(id, {user(text_of(thread, 0))}, {});
    EXPECT_TRUE(works(appended));
    const auto read = read_all(store(), id, {.from = appended->first, .to = appended->head});
    EXPECT_TRUE(works(read));
    EXPECT_EQ(texts(*read), std::vector<std::string>{text_of(thread, 0)});
  });
}

TEST_P(StoreContract, OnlyOneThreadWinsTheCompareAndSet) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s");
  for (std::int64_t round = 0; round < 3; ++round) {
    std::atomic<int> successes = 0;
    on_threads([&](int thread) {
      const auto appended =
          store().append(id, {user(text_of(thread, 0))}, {.expected_head = Seq{round}});
      if (appended) {
        ++successes;
      } else {
        EXPECT_TRUE(fails(appended, Code::conflict));
      }
    });
    EXPECT_EQ(successes, 1);
    EXPECT_EQ(found(id).info.head, Seq{round + 1});
  }
}

TEST_P(StoreContract, AnOperationOfManyThreadsHappensOnce) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s", messages(1));
  const AppendOptions options{.expected_head = Seq{1}, .operation = operation_id("op")};
  std::atomic<int> first_times = 0;
  on_threads([&](int thread) {
    const auto appended = store().append(id, {user(text_of(thread, 0)), user("x")}, options);
    EXPECT_TRUE(works(appended));
    EXPECT_EQ(appended->first, Seq{1});
    EXPECT_EQ(appended->head, Seq{3});
    first_times += appended->repeated ? 0 : 1;
  });
  EXPECT_EQ(first_times, 1);
  EXPECT_EQ(stored(id).size(), 3U);
}

TEST_P(StoreContract, OnlyOneThreadCreatesASession) {
  std::atomic<int> successes = 0;
  on_threads([&](int thread) {
    Session mine = session("s");
    mine.info.title = std::to_string(thread);
    const auto created = store().create(mine);
    if (created) {
      ++successes;
    } else {
      EXPECT_TRUE(fails(created, Code::conflict));
    }
  });
  EXPECT_EQ(successes, 1);
}

TEST_P(StoreContract, ReadersSeeWholeBatches) {
  REPRISE_NEEDS(capabilities().messages);
  constexpr int kBatch = 5;
  constexpr int kBatches = 40;
  const SessionId id = create("s");
  std::atomic<bool> done = false;
  std::jthread writer([&] {
    for (int batch = 0; batch < kBatches; ++batch) {
      EXPECT_TRUE(works(store().append(id, messages(kBatch), {.durability = Durability::os})));
    }
    done = true;
  });
  std::size_t seen = 0;
  while (!done) {
    const auto all = read_all(store(), id);
    ASSERT_TRUE(works(all));
    EXPECT_EQ(all->size() % kBatch, 0U);
    EXPECT_GE(all->size(), seen) << "what was seen stays";
    seen = all->size();
    const auto session = get(store(), id);
    ASSERT_TRUE(works(session));
    EXPECT_EQ(session->info.head.value % kBatch, 0);
    EXPECT_GE(session->info.head.value, static_cast<std::int64_t>(seen));
  }
  writer.join();
  EXPECT_EQ(stored(id).size(), static_cast<std::size_t>(kBatch * kBatches));
}

TEST_P(StoreContract, ReadersSeeTheOldOrTheNewSuffix) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(6, "0"));
  std::atomic<bool> done = false;
  const std::jthread writer([&] {
    for (int round = 1; round <= 40; ++round) {
      EXPECT_TRUE(works(capabilities().rewriting->replace_suffix(
          id, {1}, messages(5, std::to_string(round)), {.durability = Durability::os})));
    }
    done = true;
  });
  while (!done) {
    const auto all = read_all(store(), id, {.from = {1}});
    ASSERT_TRUE(works(all));
    ASSERT_EQ(all->size(), 5U);
    const std::string first = plain_text(all->front());
    const std::string round = first.substr(0, first.find(' '));
    for (const Message& message : *all) {
      EXPECT_TRUE(plain_text(message).starts_with(round + " ")) << plain_text(message);
    }
  }
}

TEST_P(StoreContract, ThreadsEditTodosOneAtATime) {
  REPRISE_NEEDS(capabilities().todos);
  constexpr int kEdits = 10;
  const SessionId id = create("s");
  on_threads([&](int thread) {
    for (int number = 0; number < kEdits; ++number) {
      const auto edited =
          capabilities().todos->edit_todos(id, [&](std::vector<Todo>& todos) -> Result<> {
            todos.push_back({text_of(thread, number), TodoStatus::pending, "", {}});
            return {};
          });
      EXPECT_TRUE(works(edited));
    }
  });
  reopen();
  std::vector<int> next(kThreads, 0);
  const std::vector<Todo> todos = must(capabilities().todos->todos(id));
  EXPECT_EQ(todos.size(), static_cast<std::size_t>(kThreads * kEdits));
  for (const Todo& todo : todos) {
    const auto thread = static_cast<std::size_t>(todo.content.front() - '0');
    EXPECT_EQ(todo.content, text_of(static_cast<int>(thread), next[thread]++));
  }
}

TEST_P(StoreContract, ThreadsAppendToOneArtefact) {
  REPRISE_NEEDS(capabilities().artefacts);
  const SessionId id = create("s");
  on_threads([&](int thread) {
    for (int number = 0; number < 10; ++number) {
      EXPECT_TRUE(works(capabilities().artefacts->append_artefact(id, {1}, "log",
                                                                  text_of(thread, number) + "\n")));
    }
  });
  const auto log = must(capabilities().artefacts->find_artefact(id, {1}, "log"));
  ASSERT_TRUE(log);
  EXPECT_EQ(log->size(), static_cast<std::size_t>(kThreads * 10 * 4));
}

TEST_P(StoreContract, ThreadsRunAnswersInTheirOwnSessions) {
  REPRISE_NEEDS(capabilities().partials && capabilities().many_sessions);
  for (int thread = 0; thread < kThreads; ++thread) {
    create("s" + std::to_string(thread));
  }
  on_threads([&](int thread) {
    const SessionId id = session_id("s" + std::to_string(thread));
    const OperationId answer = operation_id("answer-" + std::to_string(thread));
    const PartialStart start{answer, this_process(), "p", "m"};
    EXPECT_TRUE(works(store().append(id, {user("q")}, {.begin_partial = start})));
    std::string whole;
    for (int number = 0; number < 20; ++number) {
      const std::vector<Block> delta = {TextBlock{text_of(thread, number), {}}};
      EXPECT_TRUE(works(capabilities().partials->add_partial(id, answer, delta)));
      whole += text_of(thread, number);
    }
    const auto partial = capabilities().partials->find_partial(id);
    EXPECT_TRUE(works(partial));
    EXPECT_EQ((*partial)->blocks, (std::vector<Block>{TextBlock{whole, {}}}));
    EXPECT_TRUE(works(store().append(id, {assistant(whole)}, {.end_partial = answer})));
  });
  EXPECT_EQ(listed_ids({.answering_only = true}), std::vector<std::string>{});
}

// Enough files for several threads.
TEST(SourceThreads, ListAndImportEverySession) {
  constexpr int kFiles = 70;
  const TemporaryFolder folder;
  const std::filesystem::path project = folder.path() / "projects" / "x";
  std::filesystem::create_directories(project);
  for (int number = 0; number < kFiles; ++number) {
    std::ofstream(project / cat("session-", number, ".jsonl"))
        << R"({"type":"user","uuid":"u","timestamp":"2026-11-20T10:00:00Z",)"
        << R"("message":{"role":"user","content":")" << number << "\"}}\n";
  }
  const auto source = must(open_source(cat("claude:", folder.path().native())));
  const std::vector<SessionInfo> listed = must(source->list({.limit = kFiles})).sessions;
  ASSERT_EQ(listed.size(), std::size_t{kFiles});
  for (const SessionInfo& info : listed) {
    EXPECT_EQ(info.id.str(), "session-" + info.title);
  }
  const auto store = must(open_store(cat("sqlite:", (folder.path() / "store").native())));
  std::size_t imported = 0;
  const auto count = [&](const SessionInfo&, const Result<ImportedSession>& session) {
    imported += works(session) ? 1U : 0U;
  };
  import_sessions({.source = *source, .tool = "claude", .sessions = listed}, *store, count, {});
  EXPECT_EQ(imported, listed.size());
  EXPECT_EQ(must(store->list({.limit = kFiles})).sessions.size(), listed.size());
}

}  // namespace
}  // namespace reprise::test
