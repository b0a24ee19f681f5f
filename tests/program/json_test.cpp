// The JSON output of the commands for a store in which every field has a distinct value: each
// document must match json/NAME.json, so that fields cannot be mixed up. Everything that
// docs/json.md names is printed somewhere, and every field has such a value somewhere.
// REPRISE_RECORD=1 writes the files again, for review.

#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "fake_provider/fake_provider.h"
#include "fake_provider/json_value.h"
#include "program/full_store.h"
#include "program/program_fixture.h"
#include "reprise/open_store.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

struct Document {
  std::string name;  // of its file
  std::vector<std::string> words;
  bool is_of_the_machine = false;  // its contents depend on the machine
  std::string input = {};          // standard input
};

const std::string kFull = "01990000-0000-7000-8000-000000000001";
const std::string kClosed = "01990000-0000-7000-8000-000000000003";
const std::string kServer = "SERVER";  // stands for the URL of a tenant on the server

const std::string kGiven = R"({"role":"user","blocks":[{"type":"text","text":"given"}]})";

std::string requests() {
  std::string lines = "no request\n";
  for (const std::string_view request :
       {R"("create","title":"made","model":"its model","working_dir":"/made")",
        R"("list","limit":1)", R"("append","session":"made","text":"given","role":"tool")",
        R"("fork","session":"made")", R"("todo","session":"made","add":"to do")",
        R"("read","session":"made")", R"("search","words":"given","session":"made")",
        R"("open","session":"made")"}) {
    lines += cat(R"({"do":)", request, "}\n");
  }
  return lines;
}

// In this order, with one store. Commands without JSON are not included.
std::vector<Document> documents() {
  return {
      {"list", {"list", "--all"}},
      {"list-page", {"list", "--all", "--limit", "1"}},
      {"show", {"show", kFull}},
      {"info", {"info", kFull}},
      {"todo", {"todo", kFull}},
      {"rename", {"rename", kFull, "renamed"}},
      {"pin", {"pin", kFull}},
      {"unpin", {"unpin", kFull}},
      {"fork", {"fork", kFull}},
      {"close", {"close", kFull}},
      {"search", {"search", "question", "--in", kFull, "--limit", "1"}},
      {"search-source", {"search", "why", "--from", "claude"}},
      {"show-source", {"show", "Why?", "--store", "claude:"}},
      {"export", {"export", kFull, "--format", "json", "-o", "exported.json"}},
      {"import-dry-run", {"import", "claude:", "--dry-run"}},
      {"import", {"import", "claude:"}},
      {"info-imported", {"info", "Why?"}},
      {"store", {"store", "migrate"}},
      {"cleanup-dry-run", {"cleanup", "--older-than", "1d", "--dry-run"}},
      {"copy", {"copy", "sqlite:s.db", "chain:conversations.json", kClosed}},
      {"copy-conflict", {"copy", "sqlite:s.db", "sqlite:damaged.db", kClosed, kFull}},
      {"show-damaged", {"show", "--store", "sqlite:damaged.db", kFull}},
      {"info-signed", {"info", "--store", "sessions:signed", kFull}},
      {"show-signed", {"show", "--store", "sessions:signed", kFull}},
      {"archive", {"archive", "--store", "chatdir:chats", kFull}},
      {"list-chatdir", {"list", "--all", "--store", "chatdir:chats"}},
      {"info-chatdir", {"info", "--store", "chatdir:chats", kFull}},
      {"list-context", {"list", "--all", "--store", "context:openai.json"}},
      {"info-context", {"info", "--store", "context:openai.json", kFull}},
      {"list-postgres", {"list", "--all", "--store", kServer}},
      {"info-postgres", {"info", "--store", kServer, kFull}},
      {"verify", {"verify"}},
      {"verify-repair", {"verify", "--repair"}},
      {"verify-damaged", {"verify", "--store", "sqlite:damaged.db"}},
      {"verify-cut", {"verify", "--store", "sqlite:cut.db"}},
      {"backup", {"backup", "backup.db"}},
      {"cleanup", {"cleanup", "--older-than", "1d", "--yes"}},
      {"delete", {"delete", kFull, "--yes"}},
      {"restore", {"restore", kFull}},
      {"clear", {"clear", "--yes"}},
      {"purge", {"delete", kClosed, "--yes", "--purge"}},
      {"models", {"models", "--provider", "openai-responses"}},
      {"config-show", {"config", "show"}},
      {"config-path", {"config", "path"}},
      {"error", {"show", "nonsense"}},
      {"ask",
       {"ask", "--new", "--yes", "--tools", "all", "--provider", "openai-responses", "--model",
        "fake:tag=x", "think preface call:read_file {\"path\":\"notes.txt\"}"}},
      {"ask-price", {"ask", "--new", "hello"}},
      {"stats", {"stats", "--by", "model"}},
      {"ask-dry-run", {"ask", "--new", "--dry-run", "hello"}},
      {"ask-error", {"ask", "--new", "--provider", "nobody", "hello"}},
      {"doctor", {"doctor", "-v"}, true},
      {"config-set", {"config", "set", "seed", "1"}},
      {"config-trust", {"config", "trust"}},
      {"move", {"move", kFull, "."}},
      {"append", {"append", kFull}, false, kGiven + kGiven},
      {"append-requests", {"append", "-"}, false, requests()},
      {"answer", {"answer", "begin", kFull, "--op", "7"}},
  };
}

// Replaces what differs from run to run, but not ids and times of the store itself.
std::string settled(std::string text, const std::string& home, const std::string& url) {
  const auto replace = [&text](const std::string& pattern, const std::string& with) {
    text = std::regex_replace(text, std::regex(pattern), with);
  };
  const auto replace_all = [&text](std::string_view what, std::string_view with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
      text.replace(at, what.size(), with);
    }
  };
  // The file contains the path of HOME.
  replace(R"(("place":"[^"]*/\.claude",.*"bytes":)[0-9]+)", "$01388");
  replace_all(home, "HOME");
  replace_all(url, "http://SERVER");
  replace("20(?!26-01-18)[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "NOW");
  replace("20[0-9]{6}T[0-9]{6}Z", "NOW");
  replace("\"01(?!990000)[0-9a-f]{6}-[-0-9a-f]{27}\"", "\"ID\"");
  replace("\"ID\",\"short_id\":\"[^\"]*\"", "\"ID\",\"short_id\":\"SHORT\"");
  replace("\"place\":\"(?!0{8})[0-9a-f]{8,}#", "\"place\":\"SHORT#");
  replace("\"next\":\"[^\"]*\"", "\"next\":\"CURSOR\"");
  replace("(resp|call|rs|msg|fc|chatcmpl)_[0-9a-zA-Z]+", "$1_N");
  return text;
}

// Collects every key, and whether it has a meaningful value that no other key of the same object
// has.
void collect(const fake::Value& value, std::map<std::string, bool>& keys,
             std::set<std::string>& words) {
  for (const fake::Value& item : value.items) {
    collect(item, keys, words);
  }
  for (const fake::Member& member : value.members) {
    const fake::Value& own = member.value;
    const bool holds_more = !own.members.empty() || !own.items.empty();
    const bool has_content = holds_more || (!own.text.empty() && own.text != "0" &&
                                            own.text != "null" && own.text != "false");
    const auto same = std::ranges::count_if(value.members, [&](const fake::Member& other) {
      return other.value.kind == own.kind && other.value.text == own.text;
    });
    keys[member.name] |= has_content && (holds_more || same == 1);
    words.insert(own.text);
    collect(own, keys, words);
  }
  words.insert(value.text);
}

class JsonTest : public ProgramTest {
 protected:
  JsonTest() : server_(must(fake::FakeProvider::start({.key = {}, .seed = 7}))) {
    set("OPENAI_BASE_URL", server_->url() + "/v1");
    set("OPENAI_API_KEY", "sk-none");
    set("REPRISE_STORE", "sqlite:s.db");
    make_stores();
  }

  static void change_database(const fs::path& file, const char* sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
  }

  std::string settled_output(const Document& document) {
    std::vector<std::string> words = document.words;
    std::ranges::replace(words, kServer, store_url("postgres", "json"));
    words.emplace_back("--json");
    const Done done = document.input.empty()
                          ? run(words)
                          : run_piped(words, document.input, document.input.size());
    return settled(done.out, home().native(), server_->url());
  }

  static fs::path golden(const Document& document) {
    return fs::path(PROGRAM_GOLDEN) / (document.name + ".json");
  }

 private:
  static std::string spell(std::string_view name) { return cat("the ", name); }

  std::string claude_line(std::string_view id, std::string_view parent, std::string_view minute,
                          std::string_view text, std::string_view more) {
    return cat(R"({"type":"user","uuid":")", id, R"(","parentUuid":)", parent,
               R"(,"sessionId":"x",)", more, R"("cwd":")", project().native(),
               R"(","timestamp":"2026-01-18T20:)", minute,
               R"(Z","message":{"role":"user","content":")", text, "\"}}\n");
  }

  void make_stores() {
    const std::string folder = "/somewhere/else";
    fill(*must(open_sqlite_store(project() / "s.db", {})), spell, folder);
    fill(*must(open_sqlite_store(project() / "damaged.db", {})), spell, folder);
    change_database(project() / "damaged.db", "UPDATE messages SET content = '[{' WHERE seq = 2");
    fill(*must(open_sqlite_store(project() / "cut.db", {})), spell, folder);
    change_database(
        project() / "cut.db",
        "DELETE FROM messages WHERE id = (SELECT id FROM messages WHERE seq = 1 LIMIT 1);"
        "PRAGMA wal_checkpoint(TRUNCATE)");
    std::string cut = must(read_file(project() / "cut.db"));
    cut[0] = '?';
    must(replace_file(project() / "cut.db", cut));
    must(replace_file(project() / "s.db.v1-before.bak", "what a purge leaves"));
    must(replace_file(project() / "notes.txt", "what is noted"));
    fs::create_directories(home() / ".claude/projects/-x");
    must(replace_file(home() / ".claude/projects/-x/0a1b2c3d-0000-4000-8000-000000000001.jsonl",
                      cat(claude_line("u0", "null", "00:59", "Caveat", R"("isMeta":true,)"),
                          claude_line("u1", "\"u0\"", "01:00", "Why?", ""))));
    must(replace_file(project() / ".reprise.toml", "system = \"be brief\"\nmax_tokens = 77\n"));
    must(replace_file(project() / "machine_secret", std::string(64, 'a')));
    fill(*must(open_sessions_store(project() / "signed", {})), spell, folder);
    fill(*must(open_chatdir_store(project() / "chats", {}, {})), spell, folder);
    fill(*must(open_store(store_url("postgres", "json"))), spell, folder);
    EXPECT_EQ(run({"copy", "sqlite:s.db", "context:openai.json", kFull}).code, 0);
  }

  std::unique_ptr<fake::FakeProvider> server_;
};

TEST_F(JsonTest, EveryFieldHasAValueOfItsOwn) {
  std::map<std::string, bool> keys;
  std::set<std::string> words;
  for (const Document& document : documents()) {
    SCOPED_TRACE(document.name);
    const std::string printed = settled_output(document);
    if (std::getenv("REPRISE_RECORD") != nullptr && !document.is_of_the_machine) {
      must(replace_file(golden(document), printed));
    }
    if (!document.is_of_the_machine) {
      EXPECT_EQ(printed, read_file(golden(document)).value_or(""));
    }
    for (std::size_t from = 0; from < printed.size();) {
      const std::size_t end = printed.find('\n', from);
      collect(must(fake::parse_value(std::string_view(printed).substr(from, end - from))), keys,
              words);
      from = end + 1;
    }
  }
  // The counts of an import are often equal; tests/session distinguishes them.
  for (const char* const count : {"copied", "damaged", "failed", "messages_added"}) {
    keys.at(count) = true;
  }
  for (const auto& [key, has_value] : keys) {
    EXPECT_TRUE(has_value) << key << " is never printed with a value of its own";
  }
  // Every word in backticks in the manual is a key or a value, except names of commands, codes of
  // errors, and the following ones, which need another store or another outcome.
  std::set<std::string> others = {"archived",          "continued",  "failed",   "forked",
                                  "running",           "unfinished", "unsigned", "unverifiable",
                                  "warning",           "mixed",      "parent",   "tools",
                                  "messages_at_least", "dry_run",    "steps",    "tenants",
                                  "forgotten",         "refused",    "summary",  "copy_id"};
  // What a busy server and replaced messages have is tried by the cases store-administration and
  // restore-replaced of tests/cli.
  others.insert({"outstanding", "answers",   "tenant",   "host",    "pid",
                 "renewed_at",  "owner",     "alive",    "silent",  "gone",
                 "elsewhere",   "unindexed", "blockers", "program", "table",
                 "seconds",     "waiting",   "replaced", "number",  "restored"});
  for (const std::string& command : commands()) {
    others.insert(command);
  }
  for (int code = 0; code <= static_cast<int>(Code::io); ++code) {
    others.emplace(to_string(static_cast<Code>(code)));
  }
  const std::string manual = must(read_file(fs::path(PROGRAM_DOCS) / "json.md"));
  const std::regex quoted("`([a-z_]+)`");
  for (std::sregex_iterator at(manual.begin(), manual.end(), quoted), end; at != end; ++at) {
    const std::string word = (*at)[1];
    EXPECT_TRUE(keys.contains(word) || words.contains(word) || others.contains(word))
        << word << " is in docs/json.md, and no document here has it";
  }
}

// Every command that can print JSON is in the table.
TEST_F(JsonTest, EveryCommandIsTried) {
  const std::set<std::string> without = {"chat", "resume", "__complete", "completions",
                                         "help", "man",    "setup"};
  for (const std::string& command : commands()) {
    const bool is_tried = std::ranges::any_of(
        documents(), [&](const Document& document) { return document.words[0] == command; });
    EXPECT_NE(is_tried, without.contains(command)) << command;
  }
}

}  // namespace
}  // namespace reprise::test
