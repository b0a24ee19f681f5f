#include "cli/repl/slash.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "cli/repl/testing/slash_markdown.h"

namespace reprise::cli {
namespace {

TEST(Slash, DistinguishesCommandsFromMessages) {
  EXPECT_TRUE(is_slash("/help"));
  EXPECT_TRUE(is_slash("  /title Ä b"));
  EXPECT_TRUE(is_slash("/nonsense"));
  EXPECT_TRUE(is_slash("/system\nSeveral\nlines"));
  for (const char* message : {"", "/", "//", "//help", "/usr/bin is full", "/ help", "help", "/1",
                              "/etc.", "a /help", "/h\xC3\xA4lp"}) {
    EXPECT_FALSE(is_slash(message)) << message;
  }
  EXPECT_EQ(message_of("//help"), "/help");
  EXPECT_EQ(message_of("/usr/bin"), "/usr/bin");
}

TEST(Slash, ParsesEveryCommandInTheTable) {
  std::set<std::string> names;
  std::set<SlashVerb> verbs;
  for (const SlashCommand& command : slash_commands()) {
    EXPECT_TRUE(names.emplace(command.name).second);
    verbs.insert(command.verb);
    const bool needs = command.argument == SlashArgument::file;
    const auto parsed = parse_slash(std::string(command.name) + (needs ? " x" : ""));
    ASSERT_TRUE(parsed) << command.name;
    EXPECT_EQ(parsed->verb, command.verb);
    EXPECT_EQ(parsed->number, std::nullopt);
  }
  EXPECT_EQ(verbs.size(), static_cast<std::size_t>(SlashVerb::quit) + 1);
}

TEST(Slash, ParsesSessionRequests) {
  using Action = SessionRequest::Action;
  const auto fresh = parse_session_request("new ~/a b --name My work");
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->action, Action::open);
  EXPECT_EQ(fresh->text, "~/a b");
  EXPECT_EQ(fresh->name, "My work");
  const auto quoted = parse_session_request("new '~/a b' --name \"My work\"");
  EXPECT_EQ(quoted->text, "~/a b");
  EXPECT_EQ(quoted->name, "My work");
  EXPECT_EQ(parse_session_request("new")->text, "");
  EXPECT_EQ(parse_session_request("switch 2")->text, "2");
  EXPECT_EQ(parse_session_request("")->action, Action::describe);
  EXPECT_EQ(parse_session_request("close")->action, Action::close);
  for (const char* wrong : {"switch", "rename", "list all", "open x", "close 2"}) {
    EXPECT_FALSE(parse_session_request(wrong)) << wrong;
  }
}

TEST(Slash, ParsesArguments) {
  EXPECT_EQ(parse_slash("/title  Two words \n")->text, "Two words");
  EXPECT_EQ(parse_slash("/system one\ntwo")->text, "one\ntwo");
  EXPECT_EQ(parse_slash("/rewind 3")->number, 3);
  EXPECT_EQ(parse_slash("/fork 0")->number, 0);
  EXPECT_EQ(parse_slash("/QUIT")->verb, SlashVerb::quit);
  EXPECT_EQ(parse_slash("/q")->verb, SlashVerb::quit);
  EXPECT_EQ(parse_slash("/ti x")->verb, SlashVerb::title);
  EXPECT_EQ(parse_slash("/save my notes.md")->text, "my notes.md");
  EXPECT_EQ(parse_slash("/save \"my notes.md\"")->text, "my notes.md");
  EXPECT_EQ(parse_slash("/save 'my notes.md'")->text, "my notes.md");
  EXPECT_EQ(parse_slash("/save it's")->text, "it's");
}

TEST(Slash, RejectsUnexpectedArguments) {
  for (const char* wrong :
       {"/rewind x", "/rewind -1", "/rewind 1.5", "/rewind 1 2", "/rewind 99999999999999999999",
        "/quit now", "/save", "/save ''", "/retry 2"}) {
    const auto parsed = parse_slash(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_EQ(parsed.error().code, Code::invalid_argument);
  }
}

TEST(Slash, SuggestsTheNearestCommand) {
  EXPECT_EQ(parse_slash("/titel x").error().message,
            "unknown command '/titel'; did you mean '/title'?");
  EXPECT_EQ(parse_slash("/goon").error().message,
            "unknown command '/goon'; did you mean '/go-on'?");
  EXPECT_EQ(parse_slash("/re").error().message, "'/re' is ambiguous: /retry, /rewind, /resume");
  EXPECT_EQ(
      parse_slash("/xyzzyplugh").error().message,
      "unknown command '/xyzzyplugh'; /help lists the commands, and a message that starts with "
      "a slash needs two (//)");
}

TEST(Slash, ParsesResumeRequests) {
  using Action = ResumeRequest::Action;
  EXPECT_EQ(parse_resume_request("")->action, Action::list);
  EXPECT_EQ(parse_resume_request("list")->action, Action::list);
  EXPECT_EQ(parse_resume_request("clear")->action, Action::clear);
  EXPECT_EQ(parse_resume_request("delete my notes")->action, Action::remove);
  EXPECT_EQ(parse_resume_request("delete my notes")->sel, "my notes");
  EXPECT_EQ(parse_resume_request("clear notes")->action, Action::open);
  EXPECT_EQ(parse_resume_request("clear notes")->sel, "clear notes");
  EXPECT_FALSE(parse_resume_request("delete"));
}

TEST(Slash, HelpDescribesEachCommand) {
  const std::string help = slash_help();
  for (const SlashCommand& command : slash_commands()) {
    EXPECT_NE(help.find(std::string(command.name)), std::string::npos);
    EXPECT_NE(help.find(std::string(command.help)), std::string::npos);
  }
  std::size_t begin = 0;
  for (std::size_t end = help.find('\n'); end != std::string::npos; end = help.find('\n', begin)) {
    EXPECT_LE(end - begin, 80U);
    begin = end + 1;
  }
}

TEST(Slash, ManualHasTheSameTable) {
  const auto manual = read_file(REPRISE_MANUAL);
  ASSERT_TRUE(manual);
  EXPECT_NE(manual->find(slash_help_markdown()), std::string::npos)
      << "put this into docs/chat.md:\n"
      << slash_help_markdown();
}

TEST(SlashTodo, ParsesRequests) {
  using Action = TodoRequest::Action;
  EXPECT_EQ(parse_todo_request("")->action, Action::list);
  EXPECT_EQ(parse_todo_request("list")->action, Action::list);
  EXPECT_EQ(parse_todo_request("add Buy milk")->text, "Buy milk");
  EXPECT_EQ(parse_todo_request("done 2")->index, 1U);
  EXPECT_EQ(parse_todo_request("done 2")->status, TodoStatus::completed);
  EXPECT_EQ(parse_todo_request("set 1 in_progress")->status, TodoStatus::in_progress);
  for (const char* wrong : {"add", "done", "done 0", "done x", "done 1 2", "set 1", "set 1 later",
                            "set pending", "buy milk", "list 2"}) {
    EXPECT_FALSE(parse_todo_request(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace reprise::cli
