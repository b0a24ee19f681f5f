// The files of steps, by name and by key, in all layouts.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/text.h"
#include "chatdir/chatdir_fixture.h"
#include "engine/copy.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// "STEP/NAME BYTES"
Names listed(Artefacts& artefacts, const SessionId& id) {
  Names names;
  for (const Artefacts::Entry& entry : must(artefacts.list_artefacts(id))) {
    names.push_back(cat(entry.step.value, "/", entry.name, " ", entry.bytes));
  }
  return names;
}

TEST(ChatArtefacts, AreFoundByKey) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const auto store = directory.open({.access = Access::read});
  Artefacts& artefacts = *store->capabilities().artefacts;
  EXPECT_EQ(must(artefacts.find_artefact(id, {1}, "answer")), "Hello there 1");
  EXPECT_EQ(must(artefacts.find_artefact(id, {1}, "answer.md")), "Hello there 1");
  EXPECT_EQ(must(artefacts.find_artefact(id, {1}, "testsErr")), "stderr text\n");
  EXPECT_EQ(must(artefacts.find_artefact(id, {0}, "prompt")), "prompt");
  EXPECT_EQ(must(artefacts.find_artefact(id, {1}, "parts")),
            "{\"type\":\"text-delta\",\"id\":\"txt-0\",\"text\":\"Hel\"}\n");
  EXPECT_EQ(must(artefacts.find_artefact(id, {2}, "answer")), std::nullopt);
  EXPECT_EQ(must(artefacts.find_artefact(id, {0}, "messages")),
            directory.read(directory.messages(id)));
  EXPECT_EQ(listed(artefacts, id),
            (Names{"0/input.md 5", "0/model.json 52", "0/prompt.md 6", "0/steps.jsonl 61",
                   "1/answer.md 13", "1/prompt.md 8", "1/response.json 128", "1/stream.jsonl 48",
                   "1/tests.err 12", "1/unknowns.jsonl 41", "1/usage.json 132"}));
}

TEST(ChatArtefacts, AreSavedUnderTheirFileNames) {
  const ChatDirectory directory;
  const auto store = directory.open();
  const SessionId id = chat_id(1);
  must(store->create(chat_session(1)));
  Artefacts& artefacts = *store->capabilities().artefacts;
  const std::pair<const char*, const char*> files[] = {
      {"input", "input.md"},          {"prompt", "prompt.md"},       {"answer", "answer.md"},
      {"reason", "reason.md"},        {"stream", "stream.md"},       {"todo", "todo.md"},
      {"model", "model.json"},        {"response", "response.json"}, {"usage", "usage.json"},
      {"fail", "fail.json"},          {"time", "time.json"},         {"files", "files.jsonl"},
      {"inputs", "inputs.jsonl"},     {"parts", "stream.jsonl"},     {"chunks", "chunks.jsonl"},
      {"unknowns", "unknowns.jsonl"}, {"tests", "tests.jsonl"},      {"testsInfo", "tests.json"},
      {"testsErr", "tests.err"},      {"testsOut", "tests.out"},     {"other.txt", "other.txt"},
  };
  for (const auto& [key, file] : files) {
    must(artefacts.save_artefact(id, {7}, key, key));
    EXPECT_EQ(directory.read(directory.chat(id) / "steps" / "007" / file), key);
    EXPECT_EQ(must(artefacts.find_artefact(id, {7}, key)), key);
  }
  must(artefacts.append_artefact(id, {1000}, "chunks", "a\n"));
  must(artefacts.append_artefact(id, {1000}, "chunks", "b\n"));
  EXPECT_EQ(directory.read(directory.chat(id) / "steps" / "1000" / "chunks.jsonl"), "a\nb\n");
  must(artefacts.save_artefact(id, {0}, "input", "in"));
  EXPECT_EQ(directory.read(directory.chat(id) / "input.md"), "in");
  const fs::perms folder_mode = fs::status(directory.chat(id) / "steps" / "007").permissions();
  EXPECT_EQ(folder_mode, fs::perms::owner_all);
}

TEST(ChatArtefacts, LeaveTheRecordAlone) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  Artefacts& artefacts = *store->capabilities().artefacts;
  for (const char* name : {"messages", "messages.jsonl", "messages.jsonl.bak", "reprise.json"}) {
    EXPECT_TRUE(fails(artefacts.save_artefact(chat_id(1), {0}, name, "x"), Code::invalid_argument));
    EXPECT_TRUE(
        fails(artefacts.append_artefact(chat_id(1), {0}, name, "x"), Code::invalid_argument));
  }
  EXPECT_EQ(listed(artefacts, chat_id(1)), Names{});
}

TEST(ChatArtefacts, MayBeInSubfoldersAndHaveAnyName) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  Artefacts& artefacts = *store->capabilities().artefacts;
  const Names names = {".hidden", "a b:c", "deep/er/\xc5\xbc.txt",
                       "no\xff"
                       "utf8",
                       "sub/answer"};
  for (const std::int64_t step : {0, 2}) {
    for (const std::string& name : names) {
      must(artefacts.save_artefact(chat_id(1), {step}, name, name));
      must(artefacts.append_artefact(chat_id(1), {step}, name, "+"));
      EXPECT_EQ(must(artefacts.find_artefact(chat_id(1), {step}, name)), name + "+");
    }
  }
  EXPECT_EQ(directory.read(directory.chat(chat_id(1)) / "steps" / "002" / "deep/er/ż.txt"),
            "deep/er/ż.txt+");
  Names expected;
  for (const char* const step : {"0/", "2/"}) {
    for (const std::string& name : names) {
      expected.push_back(cat(step, name, " ", name.size() + 1));
    }
  }
  EXPECT_EQ(listed(artefacts, chat_id(1)), expected);
  for (const char* const name : {"steps/002/x", "step/002/x", "../x", ".lock", ".answer.jsonl"}) {
    EXPECT_TRUE(fails(artefacts.save_artefact(chat_id(1), {0}, name, "x"), Code::invalid_argument))
        << name;
  }
}

TEST(ChatArtefacts, AreNotWrittenThroughLinks) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  directory.write("elsewhere/file", "precious");
  const fs::path chat = directory.chat(chat_id(1));
  fs::create_directory(chat / "steps");
  fs::create_directory_symlink(directory.root() / "elsewhere", chat / "steps" / "001");
  fs::create_symlink(directory.root() / "elsewhere" / "file", chat / "input.md");
  Artefacts& artefacts = *store->capabilities().artefacts;
  for (const std::int64_t step : {0, 1}) {
    EXPECT_TRUE(
        fails(artefacts.save_artefact(chat_id(1), {step}, "input", "x"), Code::invalid_argument));
    EXPECT_TRUE(
        fails(artefacts.append_artefact(chat_id(1), {step}, "input", "x"), Code::invalid_argument));
  }
  fs::create_directory_symlink(directory.root() / "elsewhere", chat / "sub");
  EXPECT_TRUE(
      fails(artefacts.save_artefact(chat_id(1), {0}, "sub/file", "x"), Code::invalid_argument));
  EXPECT_EQ(directory.read("elsewhere/file"), "precious");
  EXPECT_FALSE(fs::exists(directory.root() / "elsewhere" / "input.md"));
}

// Copies list what they leave out, backups have all of it.
TEST(ChatArtefacts, LinksPipesAndEmptyFoldersAreNotLostInSilence) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const fs::path chat = directory.chat(id);
  fs::create_symlink("../elsewhere", chat / "steps" / "001" / "link");
  fs::create_directories(chat / "empty" / "inner");
  const auto store = directory.open();
  const fs::path target = directory.root().parent_path() / "backup";
  must(store->capabilities().backup->backup(target));
  const fs::path copy = target / "chat" / id.str();
  EXPECT_EQ(fs::read_symlink(copy / "steps" / "001" / "link"), "../elsewhere");
  EXPECT_TRUE(fs::is_directory(copy / "empty" / "inner"));
  ASSERT_EQ(::mkfifo((chat / "pipe").c_str(), 0600), 0);
  const auto memory = open_memory_store();
  const auto losses = must(copy_session(*store, *memory, id)).losses;
  for (const char* const loss :
       {"steps/001/link, a link", "empty/inner, an empty folder", "pipe, a pipe or device"}) {
    EXPECT_NE(std::ranges::find(losses, loss), losses.end()) << loss;
  }
  const auto refused = store->capabilities().backup->backup(target.native() + "2");
  ASSERT_TRUE(fails(refused, Code::unsupported));
  EXPECT_NE(refused.error().message.find("/pipe"), std::string::npos) << refused.error().message;
}

TEST(ChatArtefacts, OlderLayoutsAreRead) {
  const ChatDirectory directory;
  const SessionId id = session_id(kOriginalId);
  const fs::path chat = fs::path("chat") / kOriginalId;
  directory.write(chat / "messages.jsonl", "");
  directory.write(chat / "chunks.json", "[1]");
  directory.write(chat / "stream.json", "[\"a\"]");
  directory.write(chat / "unknown.json", "[]");
  directory.write(chat / "response.json", "{}");
  directory.write(chat / "answer-step2.md", "second");
  directory.write(chat / "step" / "003" / "answer.md", "third");
  directory.write(chat / "steps" / "004" / "parts.jsonl", "\"x\"\n");
  directory.write(chat / "steps" / "not a step" / "x", "x");
  directory.write(chat / "notes", "n");
  const auto store = directory.open({.access = Access::read});
  Artefacts& artefacts = *store->capabilities().artefacts;
  EXPECT_EQ(must(artefacts.find_artefact(id, {0}, "chunks")), "[1]");
  EXPECT_EQ(must(artefacts.find_artefact(id, {0}, "parts")), "[\"a\"]");
  EXPECT_EQ(must(artefacts.find_artefact(id, {0}, "unknowns")), "[]");
  EXPECT_EQ(must(artefacts.find_artefact(id, {2}, "answer")), "second");
  EXPECT_EQ(must(artefacts.find_artefact(id, {3}, "answer")), "third");
  EXPECT_EQ(must(artefacts.find_artefact(id, {4}, "parts")), "\"x\"\n");
  EXPECT_EQ(listed(artefacts, id),
            (Names{"0/chunks.json 3", "0/notes 1", "0/response.json 2", "0/steps/not a step/x 1",
                   "0/stream.json 5", "0/unknown.json 2", "2/answer.md 6", "3/answer.md 5",
                   "4/parts.jsonl 4"}));
}

// Messages removed from the record by a retry or rewind.
TEST(ChatArtefacts, ReplacedAnswersAreCopied) {
  const ChatDirectory directory;
  const auto store = directory.open();
  const SessionId id = chat_id(1);
  must(store->create(chat_session(1)));
  must(store->append(id, {user("q"), assistant("first")}, {}));
  EXPECT_EQ(listed(*store->capabilities().artefacts, id), Names{});
  must(store->capabilities().rewriting->replace_suffix(id, Seq{1}, {assistant("second")}, {}));
  const std::string replaced =
      must(store->capabilities().artefacts->find_artefact(id, {0}, "replaced.jsonl")).value();
  EXPECT_NE(replaced.find("first"), std::string::npos);
  const ChatDirectory other_directory;
  const auto other = other_directory.open();
  const auto memory = open_memory_store();
  for (Store* const target : {other.get(), memory.get()}) {
    for (int time = 0; time < 2; ++time) {
      EXPECT_EQ(must(copy_session(*store, *target, id)).losses, Names{});
      EXPECT_EQ(must(target->capabilities().artefacts->find_artefact(id, {0}, "replaced.jsonl")),
                replaced);
    }
  }
  EXPECT_TRUE(
      fails(other->capabilities().artefacts->save_artefact(id, {0}, "replaced.jsonl", "instead"),
            Code::invalid_argument));
}

TEST(ChatArtefacts, AreListedWhileAnotherProcessReplacesThem) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const auto store = directory.open({.access = Access::read});
  Artefacts& artefacts = *store->capabilities().artefacts;
  const std::size_t count = must(artefacts.list_artefacts(id)).size();
  const pid_t writer = in_child([&directory, &id, parent = ::getpid()] {
    const auto other = directory.open();
    while (::getppid() == parent) {
      must(other->capabilities().artefacts->save_artefact(id, {1}, "answer", "again"));
    }
    return 0;
  });
  for (int i = 0; i < 2000; ++i) {
    const auto all = artefacts.list_artefacts(id);
    ASSERT_TRUE(all) << all.error().message;
    ASSERT_EQ(all->size(), count);
  }
  ::kill(writer, SIGKILL);
  (void)exit_code_of(writer);
}

TEST(ChatArtefacts, InTwoLayoutsAreListedOnce) {
  const ChatDirectory directory;
  const SessionId id = session_id(kOriginalId);
  const fs::path chat = fs::path("chat") / kOriginalId;
  directory.write(chat / "messages.jsonl", "");
  directory.write(chat / "step" / "001" / "answer.md", "of a sister program");
  directory.write(chat / "steps" / "001" / "answer.md", "ours");
  directory.write(chat / "steps" / "002" / "answer.md", "second");
  const auto store = directory.open({.access = Access::read});
  Artefacts& artefacts = *store->capabilities().artefacts;
  EXPECT_EQ(must(artefacts.list_artefacts(id)).size(), 2U);
  EXPECT_EQ(must(artefacts.find_artefact(id, {1}, "answer")), "ours");
}

}  // namespace
}  // namespace reprise::test
