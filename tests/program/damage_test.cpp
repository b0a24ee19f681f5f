// The exit codes of every command with a damaged store: each file of each store truncated, with
// other bytes in its middle, and replaced. The codes are in damage/STORE.txt, one line for each
// damage, and those for blobs with the messages in damage/blobs-STORE.txt; REPRISE_RECORD=1 writes
// them again, for review. Common rules are checked separately.

#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <regex>

#include "base/file.h"
#include "base/text.h"
#include "postgres/server_support.h"
#include "program/full_store.h"
#include "program/program_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

const std::string kId = "01990000-0000-7000-8000-000000000001";

// Each one uses a separate store.
std::vector<std::vector<std::string>> every_command() {
  return {
      {"list", "--all"},
      {"show", kId},
      {"info", kId},
      {"todo", kId},
      {"verify"},
      {"copy", "STORE", "sqlite:copied.db"},
      {"backup", "backup"},
      {"ask", "-r", kId, "hello"},
      {"ask", "--new", "hello"},
      {"rename", kId, "another"},
      {"move", kId, "."},
      {"move", "--from", "/", "."},
      {"fork", kId},
      {"close", kId},
      {"todo", kId, "add", "more"},
      {"archive", kId},
      {"restore", "01990000-0000-7000-8000-000000000004"},
      {"delete", kId},
      {"delete", kId, "--purge"},
      {"cleanup", "--older-than", "1d"},
      {"clear"},
      {"resume", "--plain"},
      {"chat", "--plain", "-r", kId},
      {"doctor"},
  };
}

struct Damaging {
  std::string name;
  std::string (*change)(std::string bytes);
};

std::vector<Damaging> every_damage() {
  return {
      {"whole", [](std::string bytes) { return bytes; }},
      {"cut", [](std::string bytes) { return bytes.substr(0, bytes.size() / 2); }},
      {"changed",
       [](std::string bytes) {
         bytes.replace(bytes.size() / 2, bytes.size() / 8 + 1, bytes.size() / 8 + 1, '\xEE');
         return bytes;
       }},
      {"replaced", [](std::string /*bytes*/) { return std::string("no such format"); }},
  };
}

class DamageTest : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  std::string kind() const { return GetParam(); }
  fs::path whole() const { return home() / "whole"; }

  void make() {
    fs::create_directory(whole());
    must(replace_file(project() / "machine_secret", std::string(64, 'a')));
    const auto spell = [](std::string_view name) { return std::string(name); };
    const fs::path place = whole() / "store";
    if (kind() == "sqlite") {
      fill(*must(open_sqlite_store(place, {})), spell, project().native());
      // Everything in one file.
      must(must(open_sqlite_store(place, {}))->capabilities().backup->backup(whole() / "one"));
      for (const char* const end : {"", "-wal", "-shm", "-lock"}) {
        fs::remove(fs::path(place) += end);
      }
      fs::rename(whole() / "one", place);
    } else if (kind() == "sessions") {
      fill(*must(open_sessions_store(place, {})), spell, project().native());
    } else if (kind() == "chatdir") {
      fill(*must(open_chatdir_store(place, {}, {})), spell, project().native());
    } else {
      fill(*must(open_sqlite_store(home() / "full.db", {})), spell, project().native());
      const std::string to = cat(kind(), ":", place.native());
      EXPECT_EQ(run({"copy", cat("sqlite:", (home() / "full.db").native()), to, kId}).code, 0);
    }
  }

  // The files of one session represent those of the others.
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::recursive_directory_iterator(whole())) {
      const std::string name = entry.path().filename();
      const fs::path relative = entry.path().lexically_relative(whole());
      const bool is_other =
          relative.native().find("0000-7000-8000-00000000000") != std::string::npos &&
          relative.native().find(kId) == std::string::npos;
      if (entry.is_regular_file() && !name.ends_with("lock") && !is_other) {
        out.push_back(relative);
      }
    }
    std::ranges::sort(out);
    return out;
  }

  Done run_on(const fs::path& file, const Damaging& damage, const std::vector<std::string>& line) {
    const fs::path place = project() / "there";
    fs::remove_all(place);
    fs::remove_all(project() / "backup");
    for (const char* const end : {"", "-wal", "-shm", "-lock"}) {
      fs::remove(project() / cat("copied.db", end));
    }
    fs::copy(whole(), place, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    must(replace_file(place / file, damage.change(must(read_file(place / file)))));
    const std::string store = cat(kind(), ":", (place / "store").native());
    std::vector<std::string> words = {"--store", store, "--yes"};
    for (const std::string& word : line) {
      words.push_back(word == "STORE" ? store : word);
    }
    return run(words);
  }
};

std::string text_of(const std::vector<std::string>& line) {
  std::string out;
  for (const std::string& word : line) {
    if (word != kId && word != "hello" && !word.starts_with("0199")) {
      out += cat(out.empty() ? "" : " ", word);
    }
  }
  return out;
}

void expect_golden(const std::string& name, const std::string& table) {
  const fs::path golden = fs::path(PROGRAM_GOLDEN) / ".." / "damage" / (name + ".txt");
  if (std::getenv("REPRISE_RECORD") != nullptr) {
    must(replace_file(golden, table));
  }
  EXPECT_EQ(table, read_file(golden).value_or(""));
}

TEST_P(DamageTest, IsInTheExitCode) {
  make();
  std::string table;
  for (const fs::path& file : files()) {
    for (const Damaging& damage : every_damage()) {
      std::string line = cat(kind(), " ", file.native(), " ", damage.name, ":");
      std::map<std::string, int> codes;
      for (const auto& command : every_command()) {
        SCOPED_TRACE(cat(line, " ", text_of(command)));
        const Done done = run_on(file, damage, command);
        codes[text_of(command)] = done.code;
        EXPECT_TRUE(done.code == 0 || done.code == 1 || done.code == 2) << done.code << done.err;
        EXPECT_TRUE(done.code == 0 || done.err.find("reprise: ") != std::string::npos);
        // Reported damage is also shown by the exit code.
        const bool reads = command[0] == "list" || command[0] == "show" || command[0] == "info" ||
                           (command.size() == 2 && command[0] == "todo");
        const bool is_reported = done.err.find("damaged: ") != std::string::npos ||
                                 (reads && done.err.find("warning: ") != std::string::npos);
        EXPECT_FALSE(done.code == 0 && is_reported) << done.err;
        if (done.code != 0) {
          line += cat(" ", text_of(command), "=", done.code);
        }
      }
      // Copies without a report are complete.
      if (codes["verify"] != 0) {
        EXPECT_EQ(codes["copy STORE sqlite:copied.db"], 1) << line;
      }
      // The damaged page of a database depends on its tables.
      const bool is_as_it_comes = kind() == "sqlite" && damage.name == "changed";
      table += is_as_it_comes ? "" : line + "\n";
    }
  }
  expect_golden(kind(), table);
}

INSTANTIATE_TEST_SUITE_P(Stores, DamageTest,
                         testing::Values("sqlite", "sessions", "chatdir", "context", "chain"),
                         [](const auto& one) { return std::string(one.param); });

class DamagedBlobsTest : public ProgramTest, public testing::WithParamInterface<std::string> {
 protected:
  DamagedBlobsTest() {
    if (is_on_server()) {
      database_ = new_database();
    } else {
      const auto store = must(open_sqlite_store(home() / "full.db", {}));
      fill_store(*store);
      must(store->capabilities().backup->backup(whole_));
    }
  }

  bool is_on_server() const { return GetParam() == "postgres"; }

  Done run_on(const std::string& damage, const std::vector<std::string>& line) {
    for (const char* const name : {"s.db", "copied.db"}) {
      for (const char* const end : {"", "-wal", "-shm", "-lock"}) {
        fs::remove(project() / cat(name, end));
      }
    }
    fs::remove(project() / "backup");
    const std::string store = is_on_server() ? damaged_on_server(damage) : damaged_file(damage);
    std::vector<std::string> words = {"--store", store, "--yes"};
    for (const std::string& word : line) {
      words.push_back(word == "STORE" ? store : word);
    }
    return run(words);
  }

 private:
  void fill_store(Store& store) const {
    fill(store, [](std::string_view name) { return std::string(name); }, project().native());
  }

  std::string damaged_file(const std::string& damage) const {
    fs::copy_file(whole_, project() / "s.db");
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((project() / "s.db").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, damage.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    return "sqlite:s.db";
  }

  // Each run has its own tenant.
  std::string damaged_on_server(const std::string& damage) {
    const std::string url = cat(database_, tenants_++);
    fill_store(*must(open_store(url)));
    if (!damage.empty()) {
      test::run(url, damage);
    }
    return url;
  }

  const fs::path whole_ = home() / "whole.db";
  std::string database_;
  int tenants_ = 0;
};

// The report of what could not be read, without common and varying parts.
std::string report_of(std::string text, const std::string& home) {
  for (std::size_t at = 0; (at = text.find(home)) != std::string::npos;) {
    text.replace(at, home.size(), "HOME");
  }
  text = std::regex_replace(text, std::regex("[0-9a-f]{64}"), "HASH");
  text = std::regex_replace(text, std::regex(kId), "ID");
  text = std::regex_replace(text, std::regex("postgres://[^ ]*:(?= )"), "SERVER:");
  text = std::regex_replace(text, std::regex("reprise: "), "");
  return std::regex_replace(text, std::regex("\n(?!$)"), " | ");
}

TEST_P(DamagedBlobsTest, AreInTheExitCodeAndNamed) {
  std::vector<std::vector<std::string>> lines = every_command();
  for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
           {"show", "--full", kId},
           {"show", "--full", kId, "--json"},
           {"export", kId, "--format", "md", "-o", "exported", "--force"},
           {"export", kId, "--format", "html", "-o", "exported", "--force"},
           {"export", kId, "--format", "json", "-o", "exported", "--force"}}) {
    lines.push_back(line);
  }
  std::string table;
  for (const auto& [name, damage] : {
           std::pair("whole", ""),
           std::pair("missing", "DELETE FROM reprise_blobs"),
           std::pair("cut", "UPDATE reprise_blobs SET bytes = substr(bytes, 1, length(bytes) / 2)"),
           std::pair("changed", is_on_server()
                                    ? "UPDATE reprise_blobs SET bytes = decode(repeat('00',"
                                      " length(bytes)), 'hex')"
                                    : "UPDATE reprise_blobs SET bytes = zeroblob(length(bytes))"),
       }) {
    for (const auto& line : lines) {
      const Done done = run_on(damage, line);
      const std::string reported = report_of(done.err, home().native());
      EXPECT_FALSE(done.code == 0 && reported.find("damaged: ") != std::string::npos) << reported;
      if (done.code != 0) {
        table += cat(name, " ", text_of(line), "=", done.code, " ", reported);
      }
    }
  }
  expect_golden(cat("blobs-", GetParam()), table);
}

INSTANTIATE_TEST_SUITE_P(Stores, DamagedBlobsTest, testing::Values("sqlite", "postgres"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace reprise::test
