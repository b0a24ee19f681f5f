// Imports while a call of the system fails, or in a process that is killed: the next import then
// brings what one without failures would have, and nothing twice.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <ostream>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "calls.h"
#include "engine/blobs.h"
#include "engine/content.h"
#include "reprise/capabilities.h"
#include "reprise/open_source.h"
#include "reprise/open_store.h"
#include "session/import.h"
#include "source/histories.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

// Imports all that is listed; returns whether nothing failed.
bool import_all(std::string_view tool, const fs::path& folder, Store& store) {
  const auto source = open_source(cat(tool, ":", folder.native()));
  if (!source) {
    return false;
  }
  SessionQuery query{
      .states = {SessionState::active, SessionState::closed, SessionState::archived}};
  query.children = true;
  const auto page = (*source)->list(query);
  if (!page) {
    return false;
  }
  bool is_whole = page->damage.empty();
  for (const SessionInfo& info : page->sessions) {
    const auto imported = import_session(**source, tool, store, info);
    is_whole = is_whole && imported && imported->damage.empty();
  }
  return is_whole;
}

// What its messages say. Those that a fork shares may be the ones of either session.
std::string spell(Store& store, const SessionInfo& info) {
  std::string text = cat(info.id.str(), " ", info.title, " ", to_string(info.state), " ",
                         info.forked_from ? info.forked_from->session.str() : "", "\n");
  for (const Message& message : must(read_all(store, info.id))) {
    text += cat(content_of(message), "\n");
    for (const Block& block : message.blocks) {
      const auto* const image = std::get_if<ImageBlock>(&block);
      if (image != nullptr && image->blob) {
        text += cat(must(read_blob(&store, *image->blob, std::string::npos)).size(), " bytes\n");
      }
    }
  }
  return text;
}

Lines contents_of(Store& store) {
  SessionQuery query{
      .states = {SessionState::active, SessionState::closed, SessionState::archived}};
  query.ungrouped = true;
  query.limit = kPageMax;
  Lines all;
  for (const SessionInfo& info : must(store.list(query)).sessions) {
    all.push_back(spell(store, info));
  }
  std::ranges::sort(all);
  return all;
}

class FailingImports : public testing::TestWithParam<History> {};

TEST_P(FailingImports, LoseNothingOfTheHistory) {
  const std::string_view tool = GetParam().source;
  const TemporaryFolder work;
  const fs::path folder = work.path() / "history";
  fs::create_directories(folder);
  GetParam().write(folder, 2);
  const auto import_with = [&](const rel::Trap& trap, Store& store) {
    rel::watch(folder.native(), trap);
    const bool is_whole = import_all(tool, folder, store);
    rel::unwatch();
    return is_whole;
  };
  const auto fresh = must(open_store("memory:"));
  ASSERT_TRUE(import_with({}, *fresh));
  const std::int64_t calls = rel::call_counts().all;
  const Lines whole = contents_of(*fresh);
  ASSERT_FALSE(whole.empty());
  ASSERT_GT(calls, 1);
  for (std::int64_t at = 1; at <= calls; ++at) {
    const auto store = must(open_store("memory:"));
    const bool is_whole =
        import_with({.what = rel::Trap::What::fail, .at = at, .error = EIO}, *store);
    if (is_whole) {
      EXPECT_EQ(contents_of(*store), whole) << "call " << at << " of " << calls;
    }
    EXPECT_TRUE(import_all(tool, folder, *store)) << "after call " << at << " of " << calls;
    EXPECT_EQ(contents_of(*store), whole) << "after call " << at << " of " << calls;
  }
}

INSTANTIATE_TEST_SUITE_P(Histories, FailingImports, testing::ValuesIn(histories()),
                         [](const auto& history) { return std::string(history.param.name); });

// A session of Claude Code with a picture, an abandoned branch and a sub-agent, which grows.
class FailingStores : public testing::TestWithParam<std::string> {
 protected:
  FailingStores() {
    line(
        "u1", "", "user",
        "'text','text':'Look'},{'type':'image','source':{'type':'base64','media_type':'image/png',"
        "'data':'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAA"
        "BJRU5ErkJggg=='}");
    line("a1", "u1", "assistant", "'text','text':'One'");
    line("left", "a1", "user", "'text','text':'Left'");
    line("u2", "a1", "user", "'text','text':'Used'");
    agent("b1", "");
    must_import(base_);
    line("a2", "u2", "assistant", "'text','text':'Two'");
    line("left2", "a2", "user", "'text','text':'Left, too'");
    line("u3", "a2", "user", "'text','text':'More'");
    agent("b2", "b1");
    const fs::path grown = copy_of_base("grown");
    must_import(grown);
    whole_ = contents_in(grown);
    must_import(work_.path() / "fresh");
    EXPECT_EQ(contents_in(work_.path() / "fresh"), whole_);
    EXPECT_EQ(whole_.size(), 4U);
  }

  std::string url(const fs::path& place) const {
    return cat(GetParam(), ":", place.native(), "/s");
  }
  // Whether nothing failed.
  bool import_into(const fs::path& place) const {
    const auto store = open_store(url(place));
    return store && import_all("claude", history_, **store);
  }
  void must_import(const fs::path& place) const {
    fs::create_directories(place);
    EXPECT_TRUE(import_into(place));
  }
  fs::path copy_of_base(std::string_view name) const {
    const fs::path place = work_.path() / name;
    fs::remove_all(place);
    fs::copy(base_, place, fs::copy_options::recursive);
    return place;
  }
  Lines contents_in(const fs::path& place) const {
    const auto store = must(open_store(url(place)));
    return contents_of(*store);
  }
  void expect_whole_after_another(const fs::path& place, std::int64_t at) const {
    EXPECT_TRUE(import_into(place)) << "after " << at;
    EXPECT_EQ(contents_in(place), whole_) << "after " << at;
  }

  const TemporaryFolder work_;

 private:
  static std::string in_json(std::string text) {
    std::ranges::replace(text, '\'', '"');
    return text;
  }
  void add(const fs::path& file, std::string_view uuid, std::string_view parent,
           std::string_view role, std::string_view block) const {
    fs::create_directories(file.parent_path());
    const std::string id = role == "assistant" ? cat("'id':'m", uuid, "','model':'x',") : "";
    std::ofstream(file, std::ios::app) << in_json(
        cat("{'type':'", role, "','uuid':'", uuid,
            "','parentUuid':", parent.empty() ? "null" : cat("'", parent, "'"),
            ",'sessionId':'s','timestamp':'2026-11-20T10:00:00.000Z','message':{'role':'", role,
            "',", id, "'content':[{'type':", block, "}]}}\n"));
  }
  void line(std::string_view uuid, std::string_view parent, std::string_view role,
            std::string_view block) const {
    add(cat(session_.native(), ".jsonl"), uuid, parent, role, block);
  }
  void agent(std::string_view uuid, std::string_view parent) const {
    add(session_ / "subagents/agent-7.jsonl", uuid, parent, "user", "'text','text':'Task'");
  }

  const fs::path history_ = work_.path() / "history";
  const fs::path session_ = history_ / "projects/x/0a1b2c3d-0000-4000-8000-000000000001";
  const fs::path base_ = work_.path() / "base";
  Lines whole_;
};

TEST_P(FailingStores, StoreNothingTwice) {
  const fs::path counted = copy_of_base("counted");
  rel::watch(counted.native());
  EXPECT_TRUE(import_into(counted));
  rel::unwatch();
  const std::vector<std::int64_t> delicate = rel::call_counts().delicate;
  ASSERT_FALSE(delicate.empty());
  constexpr std::size_t kFailuresMax = 40;
  for (std::size_t i = 0; i < delicate.size(); i += 1 + delicate.size() / kFailuresMax) {
    const std::int64_t at = delicate[i];
    const fs::path place = copy_of_base("place");
    rel::watch(place.native(), {.what = rel::Trap::What::fail, .at = at, .error = EIO});
    (void)import_into(place);
    rel::unwatch();
    expect_whole_after_another(place, at);
  }
}

TEST_P(FailingStores, LoseNothingWhenTheImportIsKilled) {
  constexpr std::int64_t kKillsMax = 50;
  const fs::path counted = copy_of_base("counted");
  rel::watch(counted.native());
  EXPECT_TRUE(import_into(counted));
  rel::unwatch();
  const std::int64_t changes = rel::call_counts().changes;
  ASSERT_GT(changes, 1);
  for (std::int64_t at = 1; at <= changes; at += 1 + changes / kKillsMax) {
    const fs::path place = copy_of_base("place");
    const pid_t child = in_child([&] {
      rel::watch(place.native(), {.what = rel::Trap::What::kill, .at = at});
      return import_into(place) ? 0 : 1;
    });
    (void)exit_code_of(child);
    expect_whole_after_another(place, at);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, FailingStores, testing::Values("sqlite", "chatdir", "sessions"),
                         [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace reprise::test
