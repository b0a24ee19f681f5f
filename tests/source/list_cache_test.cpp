// Lists of other tools' sessions are cached between runs, and only used for unchanged files.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <thread>

#include "base/encode.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/open_source.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

constexpr int kOld = 1'790'000'000;  // long before any test

void set_time(const fs::path& file, int seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

unsigned mode_of(const fs::path& file) {
  struct stat status{};
  EXPECT_EQ(::stat(file.c_str(), &status), 0);
  return status.st_mode & 0777U;
}

class ListCacheTest : public testing::Test {
 protected:
  fs::path location() const { return folder_.path() / "tool"; }
  fs::path cache() const { return folder_.path() / "state" / "lists"; }
  fs::path file_of(std::string_view id) const {
    return location() / "projects" / "-home" / cat(id, ".jsonl");
  }

  // Writes a file with this modification time.
  void write(const fs::path& file, std::string_view bytes, int seconds = kOld) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    set_time(file, seconds);
  }
  static std::string claude(std::string_view title) {
    return cat(
        R"({"type":"user","uuid":"u1","parentUuid":null,"timestamp":"2026-11-20T10:00:00Z",)",
        R"("message":{"role":"user","content":")", title, "\"}}\n");
  }

  Lines list(std::string_view tool = "claude", bool with_cache = true) {
    const auto source = must(open_source(cat(tool, ":", location().native()),
                                         {.cache_folder = with_cache ? cache() : fs::path()}));
    return list(*source);
  }
  static Lines list(Source& source) {
    Lines lines;
    for (const SessionInfo& info : must(source.list({.states = {SessionState::closed}})).sessions) {
      lines.push_back(cat(info.id.str(), " ", info.title, " ", info.head.value));
    }
    std::ranges::sort(lines);
    return lines;
  }
  fs::path cache_file() const {
    const auto files = fs::directory_iterator(cache());
    return files == fs::directory_iterator() ? fs::path() : files->path();
  }

  TemporaryFolder folder_;
};

TEST_F(ListCacheTest, WhatIsAsItWasIsNotReadAgain) {
  write(file_of("a"), claude("first"));
  write(file_of("b"), claude("other"));
  EXPECT_EQ(list(), (Lines{"a first 1", "b other 1"}));
  write(file_of("a"), claude("other"));  // same size and time
  EXPECT_EQ(list(), (Lines{"a first 1", "b other 1"})) << "nobody has looked into it";
  EXPECT_EQ(list("claude", false), (Lines{"a other 1", "b other 1"}));
  EXPECT_EQ(mode_of(cache()), 0700U);
  EXPECT_EQ(mode_of(cache_file()), 0600U);
}

TEST_F(ListCacheTest, WhatChangedIsReadAgain) {
  write(file_of("a"), claude("first"));
  EXPECT_EQ(list(), Lines{"a first 1"});
  write(file_of("a"), claude("later"), kOld + 1);
  EXPECT_EQ(list(), Lines{"a later 1"});
  write(file_of("a"), claude("longer than it was"), kOld + 1);
  EXPECT_EQ(list(), Lines{"a longer than it was 1"});
  write(location() / "new", claude("LONGER than it was"), kOld + 1);
  fs::rename(location() / "new", file_of("a"));
  EXPECT_EQ(list(), Lines{"a LONGER than it was 1"});
  write(file_of("b"), claude("second"));
  EXPECT_EQ(list(), (Lines{"a LONGER than it was 1", "b second 1"}));
  EXPECT_EQ(list(), (Lines{"a LONGER than it was 1", "b second 1"}));
}

TEST_F(ListCacheTest, WhatHasJustChangedIsNotReliedOn) {
  write(file_of("a"), claude("first"));
  const auto now =
      static_cast<int>(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
  set_time(file_of("a"), now + 5);  // in the future, like on a disk of another machine
  EXPECT_EQ(list(), Lines{"a first 1"});
  write(file_of("a"), claude("other"), now + 5);
  EXPECT_EQ(list(), Lines{"a other 1"});
}

TEST_F(ListCacheTest, WhatIsGoneLeavesNoBytes) {
  write(file_of("a"), claude("zebrafish"));
  write(file_of("b"), claude("second"));
  EXPECT_EQ(list().size(), 2U);
  EXPECT_NE(must(read_file(cache_file())).find("zebrafish"), std::string::npos);
  fs::remove(file_of("a"));
  EXPECT_EQ(list(), Lines{"b second 1"});
  EXPECT_EQ(must(read_file(cache_file())).find("zebrafish"), std::string::npos);
}

TEST_F(ListCacheTest, WhatIsNotListedIsRememberedToo) {
  write(file_of("a"), claude("first"));
  write(file_of("empty"), "{\"type\":\"mode\"}\n");
  EXPECT_EQ(list(), Lines{"a first 1"});
  write(file_of("empty"), claude("b"));
  fs::resize_file(file_of("empty"), 16);
  set_time(file_of("empty"), kOld);
  EXPECT_EQ(list(), Lines{"a first 1"});
}

TEST_F(ListCacheTest, WhatHasDamageIsReadEachTime) {
  write(file_of("a"), cat("no JSON\n", claude("first")));
  EXPECT_EQ(list(), Lines{"a first 1"});
  write(file_of("a"), cat("no JSON\n", claude("other")));
  EXPECT_EQ(list(), Lines{"a other 1"});
}

// A list of some sessions does not affect the others.
TEST_F(ListCacheTest, APartialListKeepsWhatIsKnownOfOthers) {
  write(file_of("a"), claude("first"));
  write(file_of("b"), claude("second"));
  write(location() / "projects" / "-home" / "a" / "subagents" / "agent-1.jsonl",
        claude("sub-agent"));
  const Lines known = list();
  for (const SessionQuery& query :
       {SessionQuery{.id_prefix = "b"}, SessionQuery{.branches = true},
        SessionQuery{.children = true}, SessionQuery{.states = {SessionState::active}}}) {
    const auto source =
        must(open_source(cat("claude:", location().native()), {.cache_folder = cache()}));
    (void)must(source->list(query));
  }
  write(file_of("a"), claude("other"));
  EXPECT_EQ(list(), known);
}

TEST_F(ListCacheTest, ChildrenAreListedFromTheCacheOnlyWhenAsked) {
  write(file_of("a"), claude("first"));
  write(location() / "projects" / "-home" / "a" / "subagents" / "agent-1.jsonl",
        claude("sub-agent"));
  const auto count = [&](bool children) {
    const auto source =
        must(open_source(cat("claude:", location().native()), {.cache_folder = cache()}));
    return must(source->list({.children = children})).sessions.size();
  };
  const std::size_t all = count(true);
  EXPECT_EQ(all, 2U);
  EXPECT_EQ(count(false), 1U);
  EXPECT_EQ(count(true), all);
  EXPECT_EQ(count(false), 1U);
}

TEST_F(ListCacheTest, TwoAtOnce) {
  write(file_of("a"), claude("first"));
  const auto one =
      must(open_source(cat("claude:", location().native()), {.cache_folder = cache()}));
  const auto two =
      must(open_source(cat("claude:", location().native()), {.cache_folder = cache()}));
  EXPECT_EQ(list(*one), Lines{"a first 1"});
  write(file_of("b"), claude("second"));
  EXPECT_EQ(list(*two), (Lines{"a first 1", "b second 1"}));
  write(file_of("a"), claude("third"), kOld + 2);
  EXPECT_EQ(list(*one), (Lines{"a third 1", "b second 1"}));
  EXPECT_EQ(list(*two), (Lines{"a third 1", "b second 1"}));
  EXPECT_EQ(list(), (Lines{"a third 1", "b second 1"}));
}

TEST_F(ListCacheTest, FilesBesideASessionCount) {
  const fs::path folder = location() / "session-state" / "0a1b2c3d-0000-4000-8000-000000000001";
  write(folder / "events.jsonl",
        cat(R"({"type":"session.start","data":{"sessionId":"x","version":1},"id":"1",)",
            R"("timestamp":"2026-11-20T10:00:00Z"})", "\n",
            R"({"type":"user.message","data":{"content":"hello"},"id":"2","parentId":"1",)",
            R"("timestamp":"2026-11-20T10:00:01Z"})", "\n"));
  write(folder / "workspace.yaml", "id: x\nname: one\n");
  const std::string id = folder.filename().native();
  EXPECT_EQ(list("copilot"), Lines{cat(id, " one 1")});
  write(folder / "workspace.yaml", "id: x\nname: two\n", kOld + 1);
  EXPECT_EQ(list("copilot"), Lines{cat(id, " two 1")});
  fs::remove(folder / "workspace.yaml");
  EXPECT_EQ(list("copilot"), Lines{cat(id, " hello 1")});
  write(folder / "workspace.yaml", "id: x\nname: two\n", kOld + 1);
  EXPECT_EQ(list("copilot"), Lines{cat(id, " two 1")});
}

TEST_F(ListCacheTest, Documents) {
  const fs::path file = location() / "sessions" / "a.json";
  const auto document = [](std::string_view title) {
    return cat(R"({"sessionId":"a","title":")", title,
               R"(","history":[{"message":{"role":"user","content":"hi"},"contextItems":[]}]})");
  };
  write(file, document("first"));
  EXPECT_EQ(list("continue"), Lines{"a first 1"});
  write(file, document("other"));
  EXPECT_EQ(list("continue"), Lines{"a first 1"});
  write(file, document("other"), kOld + 1);
  EXPECT_EQ(list("continue"), Lines{"a other 1"});
}

// By another one that is as old, so that only its place on the disk tells them apart.
TEST_F(ListCacheTest, AFileThatIsReplacedWhileItIsReadIsReadAgain) {
  const auto gemini = [](std::string_view title) {
    return cat(R"({"sessionId":"a","messages":[{"id":"1","type":"user","content":")", title,
               R"(","timestamp":"2026-11-20T10:00:00Z"}],"long":")", std::string(4 << 20, 'x'),
               "\"}");
  };
  const std::string lines = cat(R"({"type":"mode","long":")", std::string(100, 'x'), "\"}\n");
  const auto long_claude = [&](std::string text) {
    for (int i = 0; i < 500; ++i) {
      text += lines;
    }
    return text;
  };
  struct Case {
    std::string_view tool;
    fs::path file;
    std::string first;
    std::string other;
    unsigned pause_us_max;
  };
  const Case cases[] = {
      {"gemini", location() / "tmp" / "p" / "chats" / "session-a.json", gemini("first"),
       gemini("other"), 4000},
      {"claude", file_of("a"), long_claude(claude("first")), long_claude(claude("other")), 400}};
  std::mt19937 random(5);
  for (const Case& one : cases) {
    for (int round = 0; round < 40; ++round) {
      const fs::path next = folder_.path() / "next";
      write(one.file, one.first);
      write(next, one.other);
      fs::remove_all(cache());
      {
        const std::jthread tool([&, pause = random() % one.pause_us_max] {
          std::this_thread::sleep_for(std::chrono::microseconds(pause));
          fs::rename(next, one.file);
        });
        (void)list(one.tool);
      }
      ASSERT_EQ(list(one.tool), Lines{"a other 1"}) << one.tool << " in round " << round;
    }
  }
}

// Files removed by the tool during the scan are not damage.
TEST_F(ListCacheTest, FilesMayGoWhileTheyAreListed) {
  write(file_of("a"), claude("first"));
  const fs::path document = location() / "sessions" / "a.json";
  const auto keep_replacing = [&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      const fs::path folder = location() / "projects" / cat("-gone-", i % 7);
      fs::create_directories(folder);
      for (const char* const name : {"b.jsonl", "c.jsonl"}) {
        std::ofstream(folder / name) << claude("brief");
      }
      std::ofstream(document) << "{}";
      fs::remove_all(folder);
      fs::remove(document);
    }
  };
  fs::create_directories(document.parent_path());
  const std::jthread tool(keep_replacing);
  for (int i = 0; i < 300; ++i) {
    for (const char* const kind : {"claude:", "continue:"}) {
      const auto source = must(open_source(cat(kind, location().native()), {}));
      for (const Damage& damage : must(source->list({})).damage) {
        EXPECT_EQ(damage.reason.find("No such file"), std::string::npos)
            << damage.where << ": " << damage.reason;
      }
    }
  }
}

// Whatever the cache contains, lists show what the files contain.
TEST_F(ListCacheTest, HostileBytes) {
  write(file_of("a"), claude("first"));
  write(file_of("b"), claude("second"));
  const Lines expected = list();
  const fs::path file = cache_file();
  const std::string good = must(read_file(file));
  const auto try_bytes = [&](const std::string& bytes) {
    write(file, bytes);
    EXPECT_EQ(list(), expected);
  };
  for (std::size_t size = 0; size < good.size(); size += 23) {
    try_bytes(good.substr(0, size));
    std::string changed = good;
    changed[size] = static_cast<char>(changed[size] ^ 0x55);
    try_bytes(changed);
  }
  try_bytes(good + good);
  EXPECT_EQ(must(read_file(file)), good) << "it was made anew";
}

// Made by an attacker who knows the format: the worst effect is wrong metadata.
TEST_F(ListCacheTest, HostileBytesWithAGoodHash) {
  write(file_of("a"), claude("first"));
  (void)list();
  const fs::path file = cache_file();
  const std::string good = must(read_file(file));
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::string body = good.substr(0, good.size() - 8);
    for (auto i = random() % 4; i < 4; ++i) {
      body[random() % body.size()] = static_cast<char>(random() % 3 == 0 ? 0xFF : random() % 256);
    }
    ASSERT_EQ(good.substr(good.size() - 8), hash_of_words(good.substr(0, good.size() - 8)));
    write(file, body + hash_of_words(body));
    const Lines lines = list();
    ASSERT_LE(lines.size(), 1U);
    if (!lines.empty()) {
      EXPECT_TRUE(lines[0].starts_with("a ")) << lines[0];
    }
  }
}

TEST_F(ListCacheTest, ALinkIsNotFollowed) {
  write(file_of("a"), claude("first"));
  (void)list();
  const fs::path file = cache_file();
  const fs::path elsewhere = folder_.path() / "elsewhere";
  write(elsewhere, must(read_file(file)));
  fs::remove(file);
  fs::create_symlink(elsewhere, file);
  write(file_of("a"), claude("other"));
  EXPECT_EQ(list(), Lines{"a other 1"});
  EXPECT_NE(must(read_file(elsewhere)).find("first"), std::string::npos);
}

TEST_F(ListCacheTest, WhereNothingCanBeWrittenItIsReadEachTime) {
  write(file_of("a"), claude("first"));
  write(folder_.path() / "state", "a file");
  EXPECT_EQ(list(), Lines{"a first 1"});
  write(file_of("a"), claude("other"));
  EXPECT_EQ(list(), Lines{"a other 1"});
}

}  // namespace
}  // namespace reprise::test
