#include "engine/builtin_tools.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "engine/testing/faulty_store.h"
#include "engine/testing/messages.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/tool.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

class BuiltinToolsTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(root_ / "in");
    fs::create_directory(root_ / "in/sub");
    write("secret", "out");
    write("in/a.txt", "1\n2\n3\n4");
    write("in/sub/b.txt", "b");
    session_.info.working_dir = (root_ / "in").native();
    ASSERT_TRUE(store_->create(session_));
    add_builtin_tools(tools_);
  }

  void write(const std::string& name, std::string_view bytes) {
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  // The output, or "code: message".
  std::string run(std::string_view tool, std::string_view input) {
    const ToolContext context{session_, memory_store_, {}};
    auto output = tools_.find(tool)->run(context, *RawJson::parse(std::string(input)));
    return output ? output->text
                  : cat(to_string(output.error().code), ": ", output.error().message);
  }
  std::string read(std::string_view path) {
    return run("read_file", cat(R"({"path":)", RawJson::string(path).text(), "}"));
  }

  const test::TemporaryFolder temporary_;
  const fs::path root_ = temporary_.path();
  std::unique_ptr<Store> store_ = open_memory_store();
  Store* memory_store_ = store_.get();
  Session session_ = make_session("s1");
  ToolRegistry tools_;
};

TEST_F(BuiltinToolsTest, ReadsFilesOfTheFolder) {
  EXPECT_EQ(read("a.txt"), "1\n2\n3\n4");
  EXPECT_EQ(read("sub/../a.txt"), "1\n2\n3\n4");
  EXPECT_EQ(read((root_ / "in/sub/b.txt").native()), "b");
  EXPECT_EQ(run("read_file", R"({"path":"a.txt","offset":2,"limit":2})"),
            "2\n3\n[more from line 4 on]\n");
  EXPECT_EQ(run("read_file", R"({"path":"a.txt","offset":9})"), "");
  write("in/large", std::string(300'000, 'a') + "\nrest");
  EXPECT_TRUE(read("large").ends_with("a\n[more from line 2 on]\n"));
  write("in/binary", std::string("a\0b", 3));
  EXPECT_EQ(read("binary"), "\"binary\" is a binary file of 3 bytes");
  fs::create_symlink("sub/b.txt", root_ / "in/inner");
  EXPECT_EQ(read("inner"), "b");
}

TEST_F(BuiltinToolsTest, StayInTheFolder) {
  fs::create_symlink(root_ / "secret", root_ / "in/link");
  fs::create_symlink("..", root_ / "in/up");
  ASSERT_EQ(::mkfifo((root_ / "in/fifo").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", root_ / "in/zero");
  for (const std::string& path :
       {std::string("../secret"), (root_ / "secret").native(), std::string("link"),
        std::string("up/secret"), std::string("zero"), std::string("fifo"), std::string("sub"),
        std::string("/dev/null"), std::string("/proc/self/environ"), std::string("a\0b", 3),
        session_.info.working_dir + "x/../secret", std::string("sub/../../secret")}) {
    EXPECT_TRUE(read(path).starts_with("invalid_argument: ")) << path << ": " << read(path);
  }
  EXPECT_TRUE(run("list_dir", R"({"path":".."})").starts_with("invalid_argument: "));
  EXPECT_TRUE(run("list_dir", R"({"path":"up"})").starts_with("invalid_argument: "));
  EXPECT_TRUE(read("nothing").starts_with("not_found: "));
  session_.info.working_dir.clear();
  EXPECT_TRUE(read("a.txt").starts_with("invalid_argument: "));
}

TEST_F(BuiltinToolsTest, ReportInvalidInput) {
  EXPECT_TRUE(read("").starts_with("invalid_argument: "));
  EXPECT_EQ(run("read_file", R"({"path":1})"), "invalid_argument: \"path\" must be a string");
  EXPECT_EQ(run("read_file", R"({"path":"a.txt","limit":"x"})"),
            "invalid_argument: \"limit\" must be an integer");
  EXPECT_TRUE(run("read_file", R"({"path":"a.txt","offset":0})").starts_with("invalid_argument: "));
  fs::resize_file(root_ / "in/a.txt", 17 << 20);
  EXPECT_TRUE(read("a.txt").starts_with("invalid_argument: "));
}

TEST_F(BuiltinToolsTest, ListsFolders) {
  fs::create_symlink("nowhere", root_ / "in/link");
  EXPECT_EQ(run("list_dir", "{}"), "a.txt  7\nlink@\nsub/\n");
  EXPECT_EQ(run("list_dir", R"({"path":"sub"})"), "b.txt  1\n");
  fs::create_directory(root_ / "in/empty");
  EXPECT_EQ(run("list_dir", R"({"path":"empty"})"), "(empty)");
  EXPECT_TRUE(run("list_dir", R"({"path":"a.txt"})").starts_with("invalid_argument: "));
  for (int i = 0; i < 1001; ++i) {
    write(cat("in/empty/", i), "");
  }
  EXPECT_TRUE(run("list_dir", R"({"path":"empty"})").ends_with("[more than 1000 entries]\n"));
}

TEST_F(BuiltinToolsTest, WritesTodos) {
  EXPECT_EQ(run("todo_write", R"({"todos":[{"content":"a","status":"completed"},)"
                              R"({"content":"b","status":"pending","active_form":"b-ing"}]})"),
            "2 todos, 1 open");
  const auto todos = *store_->capabilities().todos->todos(session_.info.id);
  ASSERT_EQ(todos.size(), 2U);
  EXPECT_EQ(todos.at(1).active_form, "b-ing");
  EXPECT_EQ(run("todo_write", R"({"todos":[]})"), "0 todos, 0 open");
  EXPECT_TRUE(run("todo_write", R"({"todos":1})").starts_with("invalid_argument: "));
  EXPECT_TRUE(run("todo_write", "{}").starts_with("invalid_argument: "));
  memory_store_ = nullptr;
  EXPECT_TRUE(run("todo_write", R"({"todos":[]})").starts_with("unsupported: "));
}

TEST_F(BuiltinToolsTest, RecallsOnlySessionsOfTheFolder) {
  Session other = make_session("s2");
  other.info.working_dir = session_.info.working_dir + "x";
  ASSERT_TRUE(store_->create(other));
  ASSERT_TRUE(store_->append(other.info.id, {user("the word is swordfish")}, {}));
  EXPECT_EQ(run("recall", R"({"query":"swordfish"})"),
            "nothing found in the newest 1 sessions of this folder");
  EXPECT_EQ(tools_.find("recall_all"), nullptr);
  ASSERT_TRUE(tools_.add(make_recall_all_tool()));
  EXPECT_EQ(run("recall_all", R"({"query":"swordfish"})"),
            "session s2 \"\", message 0, user: the word is swordfish\n");
}

TEST_F(BuiltinToolsTest, RecallsTitlesAndWords) {
  Session other = make_session("s2");
  other.info.title = "About Mana\nbases";
  other.info.working_dir = session_.info.working_dir;
  ASSERT_TRUE(store_->create(other));
  ASSERT_TRUE(
      store_->append(other.info.id, {user("how many LANDS?"), assistant("17 lands é")}, {}));
  ASSERT_TRUE(store_->append(session_.info.id, {user("lands here")}, {}));
  EXPECT_EQ(run("recall", R"({"query":"Lands"})"),
            "session s2 \"About Mana bases\", message 1, assistant: 17 lands é\n"
            "session s2 \"About Mana bases\", message 0, user: how many LANDS?\n");
  EXPECT_EQ(run("recall", R"({"query":"lands","limit":1})"),
            "session s2 \"About Mana bases\", message 1, assistant: 17 lands é\n");
  EXPECT_EQ(run("recall", R"({"query":"mana"})"), "session s2 \"About Mana bases\": the title\n");
  EXPECT_EQ(run("recall", R"({"query":"islands"})"),
            "nothing found in the newest 2 sessions of this folder");
  EXPECT_TRUE(run("recall", R"({"query":" "})").starts_with("invalid_argument: "));
  std::string around;
  for (int i = 0; i < 200; ++i) {
    around += "é";
  }
  ASSERT_TRUE(store_->append(other.info.id, {user(around + "needle" + around)}, {}));
  const std::string found = run("recall", R"({"query":"needle"})");
  EXPECT_EQ(found.find("\xEF\xBF\xBD"), std::string::npos);
  EXPECT_LT(found.size(), 350U);
  memory_store_ = nullptr;
  EXPECT_TRUE(run("recall", R"({"query":"x"})").starts_with("unsupported: "));
}

// One that cannot be read, or was purged meanwhile, does not hide the others.
TEST_F(BuiltinToolsTest, RecallSkipsUnreadableSessions) {
  for (const char* name : {"s2", "s3"}) {
    Session other = make_session(name);
    other.info.working_dir = session_.info.working_dir;
    ASSERT_TRUE(store_->create(other));
    ASSERT_TRUE(store_->append(other.info.id, {user("swordfish")}, {}));
  }
  FaultyStore faulty(*store_);
  memory_store_ = &faulty;
  for (const Code code : {Code::not_found, Code::corrupt}) {
    faulty.code = code;
    faulty.fails = [first = faulty.calls + 1](int call) { return call == first; };
    const std::string found = run("recall", R"({"query":"swordfish"})");
    EXPECT_TRUE(found.starts_with("session s") && found.ends_with("1 session could not be read\n"))
        << found;
  }
  faulty.fails = [first = faulty.calls + 1](int call) { return call >= first; };
  EXPECT_EQ(run("recall", R"({"query":"swordfish"})"),
            "nothing found in the newest 3 sessions of this folder\n"
            "2 sessions could not be read\n");
}

}  // namespace
}  // namespace reprise
