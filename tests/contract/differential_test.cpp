// Applies the same random operations to the store and to the memory store: every result and, from
// time to time, the whole visible state must be equal. The seed is fixed; a failure prints the
// number of operations.

#include <gtest/gtest.h>

#include <random>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

constexpr int kOperations = 2'000;
constexpr int kBetweenCheckpoints = 250;
constexpr int kSessions = 12;

// Random values that depend only on the seed (the standard's distributions differ by library).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  int below(int limit) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(limit)); }
  bool one_in(int chances) { return below(chances) == 0; }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }
  std::string name(const char* prefix, int choices) {
    return prefix + std::to_string(below(choices));
  }

 private:
  std::mt19937_64 engine_;
};

// The result of an operation as text. An operation may be refused for several reasons at once, and
// which one is reported is not part of the contract; the codes have their own tests.
std::string answer(const Error& /*error*/) {
  return "refused";
}
std::string answer(const Result<>& result) {
  return result ? "done" : answer(result.error());
}
std::string answer(const Result<AppendResult>& result) {
  return result ? std::to_string(result->first.value) + "-" + std::to_string(result->head.value) +
                      (result->repeated ? " again" : "")
                : answer(result.error());
}
std::string answer(const Result<std::vector<Todo>>& result) {
  return result ? todos_to_json(*result) : answer(result.error());
}
std::string answer(const Result<BlobHash>& result) {
  return result ? result->str() : answer(result.error());
}

// Random operations, whose arguments are chosen once, so that each can be applied to several
// stores.
class Operations {
 public:
  // Uses only these capabilities.
  Operations(std::uint64_t seed, const Capabilities& capabilities)
      : dice_(seed), can_(capabilities) {}

  using Operation = std::function<std::string(Store&)>;
  Operation next() {
    const int kind = dice_.below(20);
    if (kind < 2) {
      return create();
    }
    if (kind < 4) {
      return update();
    }
    if (kind < 10) {
      return append();
    }
    return kind < 15 ? rewrite_or_fork(kind) : beside(kind);
  }

 private:
  SessionId some_session() { return session_id(dice_.name("s", kSessions)); }

  Message some_message() {
    Message one = dice_.one_in(10) ? full_message() : user(dice_.of(texts_));
    one.role = dice_.one_in(2) ? role::kUser : role::kAssistant;
    one.created_at = at(dice_.below(50), dice_.below(3));
    if (dice_.one_in(3)) {
      one.usage = usage(dice_.one_in(4) ? "" : dice_.name("req-", 30), dice_.below(100), 1);
      if (dice_.one_in(2)) {
        one.usage->cost = Money{dice_.below(1'000'000)};
        one.usage->price_source = "config";
      }
    }
    if (dice_.one_in(5)) {
      one.state = MessageState::incomplete;
      one.response_id = dice_.name("resp-", 9);
    }
    return one;
  }

  std::vector<Message> some_messages() {
    std::vector<Message> batch(static_cast<std::size_t>(dice_.below(4)));
    for (Message& one : batch) {
      one = some_message();
    }
    return batch;
  }

  Lease some_lease() {
    return {.renewed_at = at(dice_.below(9)),
            .uptime = std::chrono::microseconds(dice_.below(9)),
            .length = std::chrono::milliseconds(1 + dice_.below(9))};
  }

  AppendOptions some_options() {
    AppendOptions options{.durability = Durability::os};
    if (dice_.one_in(4)) {
      options.expected_head = Seq{dice_.below(12)};
    }
    if (dice_.one_in(3)) {
      options.operation = operation_id(dice_.name("op-", 40));
    }
    if (can_.partials != nullptr && dice_.one_in(4)) {
      options.begin_partial =
          PartialStart{operation_id(dice_.name("answer-", 3)),
                       {"host", dice_.below(9), 1, dice_.below(9), some_lease()},
                       "p",
                       "m",
                       at(dice_.below(9))};
    }
    if (can_.partials != nullptr && dice_.one_in(4)) {
      options.end_partial = operation_id(dice_.name("answer-", 3));
    }
    return options;
  }

  Operation create() {
    const SessionId id = some_session();
    Session one = dice_.one_in(3) ? full_session(id.str()) : session(id.str());
    one.info.updated_at = at(dice_.below(50));
    return [one](Store& store) { return answer(store.create(one)); };
  }

  Operation update() {
    const SessionId id = some_session();
    SessionPatch patch;
    if (dice_.one_in(2)) {
      patch.title = dice_.of(texts_).substr(0, 50);
    }
    if (dice_.one_in(3)) {
      patch.mode = dice_.name("mode-", 3);
      patch.working_dir = dice_.name("/folder-", 3);
    }
    if (dice_.one_in(4)) {
      patch.state = dice_.one_in(2) ? SessionState::active : SessionState::closed;
      patch.closed_at = dice_.one_in(2) ? std::optional(at(dice_.below(9))) : std::nullopt;
    }
    if (dice_.one_in(4)) {
      patch.response_chain = std::vector<ResponseLink>{{"p", dice_.name("r", 9)}};
      patch.prompt_history = std::vector<std::string>{dice_.of(texts_), "x"};
      patch.extra = Extra{{dice_.name("field-", 3), raw("1.0")}};
      patch.config = raw(R"({"n":1e2})");
    }
    return [id, patch](Store& store) { return answer(store.update(id, patch)); };
  }

  Operation append() {
    const SessionId id = some_session();
    return [id, batch = some_messages(), options = some_options()](Store& store) {
      return answer(store.append(id, batch, options));
    };
  }

  Operation rewrite_or_fork(int kind) {
    const SessionId id = some_session();
    if (kind < 12 && can_.rewriting != nullptr) {
      return [id, from = Seq{dice_.below(12)}, batch = some_messages(),
              options = some_options()](Store& store) {
        return answer(store.capabilities().rewriting->replace_suffix(id, from, batch, options));
      };
    }
    if (kind < 13 && can_.forking != nullptr) {
      Session child = session(some_session().str());
      child.info.updated_at = at(dice_.below(50));
      return [id, place = Seq{dice_.below(8)}, child](Store& store) {
        return answer(store.capabilities().forking->fork(id, place, child));
      };
    }
    if (can_.trash == nullptr) {
      return append();
    }
    const int verb = dice_.below(5);
    return [id, verb](Store& store) {
      Trash& trash = *store.capabilities().trash;
      if (verb < 2) {
        return answer(trash.trash(id, at(1)));
      }
      return verb < 4 ? answer(trash.restore(id)) : answer(trash.purge(id));
    };
  }

  Operation beside(int kind) {
    const SessionId id = some_session();
    if (kind < 17 && can_.partials != nullptr) {
      const std::vector<Block> delta = some_message().blocks;
      return [id, delta, renews = dice_.one_in(4), lease = some_lease(),
              name = operation_id(dice_.name("answer-", 3))](Store& store) {
        Partials& partials = *store.capabilities().partials;
        return answer(renews ? partials.renew_lease(id, name, lease)
                             : partials.add_partial(id, name, delta));
      };
    }
    if (kind < 18 && can_.todos != nullptr) {
      const Todo todo{
          dice_.of(texts_), dice_.one_in(2) ? TodoStatus::pending : TodoStatus::completed, "", {}};
      return [id, todo, drop = dice_.one_in(3)](Store& store) {
        const auto edit = [&](std::vector<Todo>& todos) -> Result<> {
          if (drop && !todos.empty()) {
            todos.erase(todos.begin());
          }
          todos.push_back(todo);
          return {};
        };
        return answer(store.capabilities().todos->edit_todos(id, edit));
      };
    }
    if (kind < 19 && can_.artefacts != nullptr) {
      return [id, step = Step{dice_.below(3)}, name = dice_.name("file-", 3),
              bytes = dice_.of(texts_), save = dice_.one_in(2)](Store& store) {
        Artefacts& artefacts = *store.capabilities().artefacts;
        return answer(save ? artefacts.save_artefact(id, step, name, bytes)
                           : artefacts.append_artefact(id, step, name, bytes));
      };
    }
    if (can_.blobs != nullptr) {
      return [bytes = dice_.of(texts_)](Store& store) {
        return answer(store.capabilities().blobs->put_blob(bytes));
      };
    }
    return append();
  }

  Dice dice_;
  Capabilities can_;
  std::vector<std::string> texts_ = hard_texts();
};

// The visible state of one session.
struct Seen {
  Session session;
  std::vector<Message> messages;
  std::optional<std::vector<Block>> partial;
  std::vector<Todo> todos;
  std::vector<std::pair<Artefacts::Entry, std::string>> artefacts;
};

Seen see(Store& store, const SessionId& id, const Capabilities& can) {
  Seen seen{must(get(store, id)), must(read_all(store, id)), {}, {}, {}};
  if (can.partials != nullptr) {
    if (auto partial = must(store.capabilities().partials->find_partial(id)); partial) {
      seen.partial = std::move(partial->blocks);
    }
  }
  if (can.todos != nullptr) {
    seen.todos = must(store.capabilities().todos->todos(id));
  }
  if (can.artefacts != nullptr) {
    Artefacts& artefacts = *store.capabilities().artefacts;
    for (const Artefacts::Entry& entry : must(artefacts.list_artefacts(id))) {
      if (entry.step == Step{} && entry.name == "replaced.jsonl") {
        continue;  // where chat directories show replaced messages
      }
      seen.artefacts.emplace_back(entry,
                                  *must(artefacts.find_artefact(id, entry.step, entry.name)));
    }
  }
  return seen;
}

void expect_same(Store& store, Store& reference, const Capabilities& can) {
  const SessionQuery all{.states = {SessionState::active, SessionState::closed,
                                    SessionState::archived, SessionState::trashed},
                         .limit = kPageMax};
  const std::vector<SessionInfo> expected = must(reference.list(all)).sessions;
  ASSERT_EQ(must(store.list(all)).sessions, expected);
  for (const char* mode : {"mode-0", "mode-1", ""}) {
    const SessionQuery filtered{.mode = mode, .title_contains = "a", .limit = 2};
    const SessionPage page = must(store.list(filtered));
    const SessionPage expected_page = must(reference.list(filtered));
    EXPECT_EQ(page.sessions, expected_page.sessions);
    EXPECT_EQ(page.next.empty(), expected_page.next.empty());
  }
  for (const SessionInfo& info : expected) {
    const Seen mine = see(store, info.id, can);
    const Seen other = see(reference, info.id, can);
    EXPECT_EQ(mine.session, other.session);
    EXPECT_EQ(mine.messages, other.messages) << info.id.str();
    EXPECT_EQ(mine.partial, other.partial) << info.id.str();
    EXPECT_EQ(mine.todos, other.todos) << info.id.str();
    EXPECT_EQ(mine.artefacts, other.artefacts) << info.id.str();
  }
}

TEST_P(StoreContract, MatchesTheMemoryStore) {
  const Capabilities& can_hold = capabilities();
  REPRISE_NEEDS(can_hold.many_sessions && can_hold.messages && can_hold.blocks &&
                can_hold.message_details && can_hold.config && can_hold.modes && can_hold.folders &&
                can_hold.system_prompt);
  const std::unique_ptr<Store> reference = open_memory_store();
  const Capabilities can = capabilities();  // only for null checks: invalid after reopen()
  for (const std::uint64_t seed : {1U, 2U}) {
    Operations operations(seed, can);
    for (int number = 1; number <= kOperations / 2; ++number) {
      const auto operation = operations.next();
      ASSERT_EQ(operation(store()), operation(*reference))
          << "seed " << seed << ", operation " << number;
      if (number % kBetweenCheckpoints == 0) {
        reopen();
        expect_same(store(), *reference, can);
        ASSERT_FALSE(HasFailure()) << "seed " << seed << ", operation " << number;
      }
    }
  }
}

}  // namespace
}  // namespace reprise::test
