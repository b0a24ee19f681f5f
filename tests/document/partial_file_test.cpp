#include "store/document/partial_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/testing/temporary_folder.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "store/document/document_store.h"
#include "store/document/one_file.h"
#include "store/paths.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::store {
namespace {

namespace fs = std::filesystem;
using test::must;
using test::operation_id;

std::vector<Block> text(const char* words) {
  return {TextBlock{words, {}}};
}

TEST(PartialFile, GrowsByPieces) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.answer";
  const OperationId answer = operation_id("one");
  EXPECT_EQ(must(read_partial(file, answer)), std::vector<Block>{});
  must(add_partial(file, answer, text("Hel")));
  must(add_partial(file, answer, text("lo\n")));
  EXPECT_EQ(must(read_partial(file, answer)), text("Hello\n"));
  must(remove_if_exists(file));
  must(remove_if_exists(file));
  EXPECT_EQ(must(read_partial(file, answer)), std::vector<Block>{});
}

// However much was appended after it, and before.
TEST(PartialFile, TheLastLeaseIsRead) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.answer";
  const OperationId answer = operation_id("one");
  const auto lease = [](int seconds) {
    return Lease{.renewed_at = test::at(seconds),
                 .uptime = std::chrono::seconds(seconds),
                 .length = std::chrono::seconds(30)};
  };
  EXPECT_EQ(must(read_lease(file, answer)), std::nullopt);
  const std::string words(30'000, 'w');
  for (const int pieces : {0, 1, 5, 40}) {
    must(add_lease(file, answer, lease(1)));
    must(add_lease(file, answer, lease(2 + pieces)));
    for (int i = 0; i < pieces; ++i) {
      must(add_partial(file, answer, text(words.c_str())));
    }
    EXPECT_EQ(must(read_lease(file, answer)), lease(2 + pieces)) << pieces;
  }
  EXPECT_EQ(must(read_lease(file, operation_id("two"))), std::nullopt);
}

TEST(PartialFile, PiecesOfAnotherAnswerAreRemoved) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.answer";
  must(add_partial(file, operation_id("one"), text("old")));
  EXPECT_EQ(must(read_partial(file, operation_id("on"))), std::vector<Block>{});
  must(add_partial(file, operation_id("two"), text("new")));
  EXPECT_EQ(must(read_partial(file, operation_id("one"))), std::vector<Block>{});
  EXPECT_EQ(must(read_partial(file, operation_id("two"))), text("new"));
}

TEST(PartialFile, ATruncatedLineCostsOnlyItself) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "a.answer";
  const OperationId answer = operation_id("one");
  must(add_partial(file, answer, text("first ")));
  const std::size_t first = must(read_file(file)).size();
  must(add_partial(file, answer, text("second ")));
  const std::string whole = must(read_file(file));
  for (std::size_t cut = first; cut < whole.size() - 1; ++cut) {
    must(replace_file(file, whole.substr(0, cut)));
    EXPECT_EQ(must(read_partial(file, answer)), text("first ")) << cut;
    must(add_partial(file, answer, text("third")));
    EXPECT_EQ(must(read_partial(file, answer)), text("first third")) << cut;
  }
}

// A format for which the file names a document in memory. Whoever asks for the path of the running
// turn while nobody holds the lock is interrupted by `meanwhile`.
class NumberedDocuments final : public OneFile {
 public:
  using Versions = std::map<std::string, Document>;
  NumberedDocuments(fs::path file, Versions& versions, std::function<void()>& meanwhile)
      : OneFile(std::move(file)), versions_(versions), meanwhile_(meanwhile) {}

  SourceCapabilities capabilities() const override { return {.many_sessions = false}; }
  bool stores_whole_turns() const override { return true; }
  fs::path pending_file() const override { return beside(root(), ".answer"); }
  Result<fs::path> partial_file(const SessionId& /*id*/) const override {
    if (meanwhile_ && !must(LockFile::is_held(lock_file()))) {
      std::exchange(meanwhile_, nullptr)();
    }
    return pending_file();
  }
  Result<Document> decode(const fs::path& /*file*/, std::string_view bytes) const override {
    return versions_.at(std::string(bytes));
  }
  Result<std::string> encode(Document& document) const override {
    std::string bytes = std::to_string(versions_.size());
    versions_[bytes] = document;
    return bytes;
  }

 private:
  fs::path trash_of(const SessionId& /*id*/) const override { return trash(); }
  Result<std::vector<fs::path>> trashed() const override { return std::vector<fs::path>(); }

  Versions& versions_;
  std::function<void()>& meanwhile_;
};

// The next question is in the same file, and may be there as soon as others may write.
TEST(RunningTurn, IsRemovedBeforeTheNextCanBegin) {
  const test::TemporaryFolder folder;
  NumberedDocuments::Versions versions;
  std::function<void()> meanwhile;
  const auto open = [&] {
    return make_document_store(
        std::make_unique<NumberedDocuments>(folder.path() / "file", versions, meanwhile), {});
  };
  const auto answering = open();
  const auto asking = open();
  const SessionId id = test::session_id("s");
  must(answering->create(Session{.info = {.id = id}}));
  const auto ask = [&](Store& store, std::string_view answer) {
    must(store.append(id, {test::user(answer)},
                      {.begin_partial = PartialStart{.answer = operation_id(answer),
                                                     .owner = this_process(),
                                                     .provider = "echo",
                                                     .model = "m",
                                                     .started_at = test::at(1)}}));
  };
  ask(*answering, "first");
  bool is_asked = false;
  meanwhile = [&] {
    ask(*asking, "second");
    is_asked = true;
  };
  must(answering->append(id, {test::assistant("re: first")},
                         {.end_partial = operation_id("first")}));
  meanwhile = nullptr;
  if (!is_asked) {
    ask(*asking, "second");
  }
  EXPECT_EQ(test::texts(must(read_all(*open(), id))),
            (std::vector<std::string>{"first", "re: first", "second"}));
}

}  // namespace
}  // namespace reprise::store
