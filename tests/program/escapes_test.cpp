// Every text that a command may show contains control sequences: none of them is output on a
// terminal, from any store, in errors or as JSON; nor in output to a file, except the answer of
// `ask` and JSON. The table names texts that must be shown, so that the test is not vacuous.

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "program/full_store.h"
#include "program/program_fixture.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

// A colour, the same with a C1 character, a title, a bell, a backspace, and a text direction.
std::string obeyed(std::string_view name) {
  return cat("\x1b[31m\xc2\x9b", "32m\x1b]0;", name, "\x07\b\xe2\x80\xae", name);
}

struct Line {
  std::vector<std::string> words;
  std::vector<std::string> shown = {};  // names of texts, by the SQLite store
};

const std::string kSession = "01990000-0000-7000-8000-000000000001";
const std::string kGone = "01990000-0000-7000-8000-000000000004";

std::vector<Line> every_line() {
  const std::string file = obeyed("file");
  return {
      {{"list", "--all"}, {"title-1", "mode", "folder"}},
      {{"list", "--all", "--state", "trashed"}, {"title-4"}},
      {{"show", kSession, "--full"},
       {"title-1", "mode", "provider", "model", "folder", "system_prompt", "author", "question",
        "image_url", "document_url", "message_model", "answer", "thinking", "tool_use_id",
        "tool_name", "argument", "whole_result", "block_type", "last"}},
      {{"show", kSession}, {"author", "result"}},
      {{"list", "--all", "--author", obeyed("nobody")}},
      {{"export", kSession},
       {"title-1", "mode", "provider", "model", "folder", "system_prompt", "author", "question",
        "image_url", "message_model", "answer", "thinking", "tool_use_id", "tool_name", "argument",
        "block_type"}},
      {{"info", kSession},
       {"title-1", "mode", "provider", "model", "folder", "message_model", "price_source"}},
      {{"todo", kSession}, {"todo"}},
      {{"todo", kSession, "add", obeyed("added")}, {"added"}},
      {{"rename", kSession, obeyed("renamed")}, {"title-1", "renamed"}},
      {{"move", kSession, "."}, {"renamed"}},
      {{"move", kSession, obeyed("no folder")}, {"no folder"}},
      {{"pin", kSession}, {"renamed"}},
      {{"unpin", kSession}, {"renamed"}},
      {{"fork", kSession}},
      {{"close", kSession}},
      {{"close", kSession}, {"renamed"}},
      {{"archive", kSession}, {"renamed"}},
      {{"restore", kSession}, {"renamed"}},
      {{"restore", kGone}},
      {{"search", "question"}, {"title", "question"}},
      {{"search", obeyed("no word")}},
      {{"search", "--in", obeyed("no session"), "question"}, {"no session"}},
      {{"search", "--since", obeyed("no day"), "question"}, {"no day"}},
      {{"stats", "--by", "model"}, {"message_model"}},
      {{"stats", "--by", "project"}},
      {{"stats", "--by", obeyed("no field")}, {"no field"}},
      {{"import"}},
      {{"import", cat("claude:", obeyed("no history"))}, {"no history"}},
      {{"store", "migrate"}},
      {{"store", obeyed("no task")}, {"no task"}},
      {{"copy", "STORE", cat("chain:", obeyed("chain.json")), kSession}, {"renamed"}},
      {{"copy", "STORE", cat("context:", obeyed("c.json")), kSession}},
      {{"verify"}},
      {{"verify", "--repair"}, {"place"}},
      {{"backup", file}, {"file"}},
      {{"backup", file}, {"file"}},  // something exists there
      {{"resume", "--plain"}},
      {{"chat", "--plain", "-r", kSession}},
      {{"ask", "-r", kSession, obeyed("asked")}, {"asked"}},
      {{"append", obeyed("no session")}},
      {{"append", kSession, "--role", obeyed("no role")}, {"no role"}},
      {{"answer", "begin", obeyed("no session")}, {"no session"}},
      {{"answer", "end", kSession, obeyed("no answer")}},
      {{"answer", obeyed("no action"), kSession}, {"no action"}},
      {{"ask", "--new", "--mode", obeyed("no mode"), "hello"}, {"no mode"}},
      {{"ask", "-f", obeyed("no file"), "hello"}, {"no file"}},
      {{"ask", "--new", "--dry-run", obeyed("asked")}, {"asked"}},
      {{"ask", "--new", "--tools", obeyed("no tool"), "hello"}, {"no tool"}},
      {{"ask", "--new", "--provider", obeyed("nobody"), "hello"}, {"nobody"}},
      {{"models"}},
      {{"models", "--provider", "openai-chat", "--base-url", obeyed("no url")}},
      {{"config"}, {"system"}},
      {{"config", "path"}},
      {{"config", "init", "--config", obeyed("new.toml")}},
      {{"doctor"}, {"place"}},
      {{"setup"}},
      {{"completions", "bash"}},
      {{"__complete", "--", "--store", "STORE", "show", ""}, {"title-here"}},
      {{"completions", obeyed("no shell")}, {"no shell"}},
      {{"help"}},
      {{"help", obeyed("no command")}, {"no command"}},
      {{"man"}},
      {{obeyed("no command")}, {"no command"}},
      {{"list", cat("--", obeyed("no flag"))}, {"no flag"}},
      {{"show", obeyed("no session")}, {"no session"}},
      {{"list", "--config", obeyed("no config")}, {"no config"}},
      {{"list", "--store", cat("sqlite:", obeyed("no place"), "/s.db")}},
      {{"list", "--store", obeyed("no store")}, {"no store"}},
      {{"cleanup", "--older-than", obeyed("ages")}, {"ages"}},
      {{"cleanup", "--older-than", "0d", "--dry-run"}},
      {{"cleanup", "--older-than", "0d"}},
      {{"delete", kSession}},
      {{"clear"}},
  };
}

// The first control character for terminals; "" for none.
std::string obeyed_in(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<std::uint8_t>(text[at]);
    const std::string_view rest = text.substr(at);
    const bool is_control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    const bool is_c1 = byte == 0xc2 && rest.size() > 1 && static_cast<std::uint8_t>(rest[1]) < 0xa0;
    const bool turns = rest.starts_with("\xe2\x80\xae") || rest.starts_with("\xe2\x81\xa6");
    if (is_control || is_c1 || turns) {
      const std::size_t from = at < 40 ? 0 : at - 40;
      return cat("byte ", static_cast<int>(byte), " after \"", text.substr(from, at - from), "\"");
    }
  }
  return "";
}

class EscapesTest : public ProgramTest {
 protected:
  EscapesTest() : folder_(project() / obeyed("folder")) {
    fs::create_directory(folder_);
    must(replace_file(project() / ".reprise.toml",
                      "system = \"\\u001b[31m\\u001b]0;system\\u0007\"\n"));
    must(replace_file(project() / "machine_secret", std::string(64, 'a')));
  }

  void make(const std::string& kind) {
    place_ = cat(kind, ":", obeyed("place"));
    const fs::path file = project() / obeyed("place");
    if (kind == "sqlite") {
      const auto store = must(open_sqlite_store(file, {}));
      fill(*store, obeyed, folder_.native());
      Session here = session("01990000-0000-7000-8000-000000000009");
      here.info.title = obeyed("title-here");
      here.info.working_dir = project().native();
      must(store->create(here));
    } else if (kind == "postgres") {
      place_ = store_url(kind, "escapes");
      fill(*must(open_store(place_)), obeyed, folder_.native());
    } else if (kind == "sessions") {
      fill(*must(open_sessions_store(file, {})), obeyed, folder_.native());
    } else if (kind == "chatdir") {
      fill(*must(open_chatdir_store(file, {}, {})), obeyed, folder_.native());
    } else {
      fill(*must(open_sqlite_store(project() / "full.db", {})), obeyed, folder_.native());
      (void)run({"copy", "sqlite:full.db", place_, kSession});
      ASSERT_TRUE(fs::exists(file));
    }
  }

  Done run_line(const Line& line, To output, bool json) {
    std::vector<std::string> words = {"--store", place_, "--yes"};
    for (const std::string& word : line.words) {
      words.push_back(word == "STORE" ? place_ : word);
    }
    if (json) {
      words.emplace_back("--json");
    }
    return run(words, output);
  }

  void try_all(const std::string& kind, To output, bool json) {
    make(kind);
    for (const Line& line : every_line()) {
      const Done done = run_line(line, output, json);
      std::string trace =
          cat(kind, json ? ", JSON" : "", output == To::terminal ? ", terminal" : "");
      for (const std::string& word : line.words) {
        trace += cat(" ", word);
      }
      SCOPED_TRACE(trace);
      EXPECT_TRUE(done.code <= 2 || done.code == 64) << done.code;
      EXPECT_EQ(obeyed_in(done.err), "");
      const bool is_exact = output == To::file && (json || line.words[0] == "ask");
      EXPECT_EQ(is_exact ? "" : obeyed_in(done.out), "");
      for (const std::string& name : kind == "sqlite" && !json ? line.shown : Strings()) {
        EXPECT_NE((done.out + done.err).find(name), std::string::npos)
            << name << " is not in: " << done.out << done.err;
      }
    }
  }

 private:
  using Strings = std::vector<std::string>;
  fs::path folder_;
  std::string place_;
};

class EscapesOfStores : public EscapesTest, public testing::WithParamInterface<std::string> {};

TEST_P(EscapesOfStores, AreNotObeyedByATerminal) {
  try_all(GetParam(), To::terminal, false);
}

TEST_P(EscapesOfStores, AreNotObeyedByATerminalInJson) {
  try_all(GetParam(), To::terminal, true);
}

TEST_P(EscapesOfStores, AreNotShownToAFile) {
  try_all(GetParam(), To::file, false);
}

INSTANTIATE_TEST_SUITE_P(Stores, EscapesOfStores, testing::ValuesIn(lasting_kinds()),
                         [](const auto& one) { return one.param; });

TEST_F(EscapesTest, EveryCommandIsTried) {
  std::set<std::string> tried;
  for (const Line& line : every_line()) {
    tried.insert(line.words[0]);
  }
  for (const std::string& command : commands()) {
    EXPECT_TRUE(tried.contains(command)) << command;
  }
}

}  // namespace
}  // namespace reprise::test
