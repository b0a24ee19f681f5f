#include <stdlib.h>
#include <time.h>

#include <map>

#include "base/text.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::aichat_history {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kSession = R"(model: openai:gpt-x
temperature: 0.5
compressed_messages:
- role: user
  content: Long ago
messages:
- role: system
  content: 'This is a recap'
- role: user
  content:
  - type: text
    text: 'Why: "#1"?'
  - type: image_url
    image_url:
      url: data:image/png;base64,AAAA
- role: tool
  content:
    tool_results:
    - call:
        name: look
        arguments:
          q: 1.0
          yes: true
          version: "12"
        id: c1
      output: null
    - call:
        name: look
        arguments: {}
        id: null
      output:
        found: 2
    text: Let me see
    sequence: false
- role: assistant
  content: |-
    Two
    lines
data_urls: {}
)";

class AichatTest : public SourceTest {
 protected:
  AichatTest() { set_zone("UTC0"); }
  ~AichatTest() override {
    if (zone_ != nullptr) {
      ::setenv("TZ", was_.c_str(), 1);
    } else {
      ::unsetenv("TZ");
    }
    ::tzset();
  }

  static void set_zone(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
  }

 private:
  const char* zone_ = ::getenv("TZ");
  std::string was_ = zone_ == nullptr ? "" : zone_;
};

TEST_F(AichatTest, MessagesWithWhatWasCompressed) {
  append("sessions/work.yaml", kSession);
  open("aichat");
  EXPECT_EQ(sessions(), Lines{"work work (6)"});
  EXPECT_EQ(
      transcript("work"),
      (Lines{"user: Long ago", "*system: This is a recap",
             "user: Why: \"#1\"? | [image/png data:image/png;base64,AAAA]",
             "assistant: Let me see | call look c1 {\"q\":1.0,\"yes\":true,\"version\":\"12\"} | "
             "call look call-3-1 {}",
             "tool: c1 =  | call-3-1 = {\"found\":2}", "assistant: Two\nlines"}));
  EXPECT_EQ(session("work").info.model, "gpt-x");
  EXPECT_EQ(session("work").info.provider, "openai");
}

TEST_F(AichatTest, NamesTellTheTimeAndFoldersTellSessionsApart) {
  const std::string_view small = "model: a:b\nmessages:\n- role: user\n  content: Hello\n";
  append("sessions/_/20260102T030405-hello.yaml", small);
  append("agents/coder/sessions/work.yaml", small);
  append("agents/coder/config.yaml", "model: a:b\n");
  append("sessions/work.yaml", small);
  append("sessions/torn.yaml", "model: a:b\nmessages:\n- role: 'us");
  append("sessions/odd.yaml", "- 1\n- 2\n");
  append("sessions/empty.yaml", "");
  open("aichat");
  const Lines listed = sessions();
  EXPECT_EQ(listed.size(), 3U);
  EXPECT_EQ(format_time(session("20260102T030405-hello").info.created_at), "2026-01-02T03:04:05Z");
  EXPECT_EQ(session("20260102T030405-hello").info.title, "Hello");
  EXPECT_EQ(must(source().list({})).damage.size(), 3U);
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "aichat");
}

// aichat names its files in local time.
TEST_F(AichatTest, TimesInNamesAreLocal) {
  set_zone("EST5");
  append("sessions/_/20260102T030405-hello.yaml",
         "model: a:b\nmessages:\n- role: user\n  content: Hello\n");
  open("aichat");
  EXPECT_EQ(format_time(session("20260102T030405-hello").info.created_at), "2026-01-02T08:04:05Z");
}

TEST_F(AichatTest, CallsWithoutASession) {
  append("messages.md",
         "# CHAT: Why? [2026-11-20T10:00:00+01:00] (coder)\nWhy?\n--------\n<tool_calls>\nLet me "
         "see\n[{\"call\":{\"name\":\"look\",\"arguments\":{\"q\":1},\"id\":\"c1\"},\"output\":"
         "\"x\"}]\n"
         "</tool_calls>\nSo.\n--------\n\n"
         "# CHAT: And? [2026-11-20T10:01:00+01:00]\nAnd?\n--------\n<tool_calls>\n"
         "[{\"call\":{\"name\":\"look\",\"arguments\":{},\"id\":null},\"output\":{\"n\":1}}]\n"
         "</tool_calls>\n\n--------\n\n"
         "# CHAT: Hm [2026-11-20T10:02:00+01:00]\nHm\n--------\n<tool_calls>\nnone\n</tool_calls>\n"
         "--------\n\n");
  open("aichat");
  EXPECT_EQ(transcript("messages"),
            (Lines{"user: Why?", "assistant: Let me see | call look c1 {\"q\":1}", "tool: c1 = x",
                   "assistant: So.", "user: And?", "assistant: call look call-5-0 {}",
                   "tool: call-5-0 = {\"n\":1}", "user: Hm",
                   "assistant: <tool_calls>\nnone\n</tool_calls>"}));
}

TEST_F(AichatTest, AliasesAreNotRepeatedAndDepthIsBounded) {
  append("sessions/laugh.yaml",
         "model: a:b\nx: &x [1, 2]\ny: [*x, *x]\nmessages:\n- role: user\n  content: Hi\n");
  append("sessions/deep.yaml",
         cat("model: a:b\nmessages: ", std::string(3000, '['), std::string(3000, ']'), "\n"));
  open("aichat");
  EXPECT_EQ(sessions(), Lines{"laugh laugh (1)"});
}

TEST_F(AichatTest, WhatWasAskedWithoutASessionIsOne) {
  append("sessions/a.yaml", "model: x:y\nmessages:\n- role: user\n  content: Hi\n");
  append("messages.md",
         "# CHAT: Why? [2026-11-20T10:00:00+01:00]\nWhy?\n--------\nSo.\n--------\nas it is\n"
         "--------\n\n"
         "# CHAT: Show a heading [2026-11-20T10:05:00+01:00]\nShow a\nheading\n--------\n"
         "# CHAT: no time\n--------\n\n"
         "# CHAT: Cut [2026-11-20T10:06:00+01:00]\nCut");
  append("agents/b/messages.md", "# CHAT: Other [2026-11-20T11:00:00+01:00]\nOther\n--------\n");
  open("aichat");
  EXPECT_EQ(sessions().size(), 3U);
  EXPECT_EQ(transcript("messages"),
            (std::vector<std::string>{"user: Why?", "assistant: So.\n--------\nas it is",
                                      "user: Show a\nheading", "assistant: # CHAT: no time",
                                      "user: Cut"}));
  EXPECT_EQ(format_time(session("messages").info.created_at), "2026-11-20T09:00:00Z");
}

TEST_F(AichatTest, SessionsOfTheSameNameLeaveIdsUnchanged) {
  const auto add = [this](const std::string& file) {
    append(file, file.ends_with(".md")
                     ? cat("# CHAT: Hm [2026-11-20T11:00:00+01:00]\n", file, "\n--------\n")
                     : cat("model: a:b\nmessages:\n- role: user\n  content: ", file, "\n"));
  };
  add("agents/coder/sessions/work.yaml");
  add("agents/coder/messages.md");
  add("sessions/team/work.yaml");
  open("aichat");
  const auto transcripts = [this] {
    std::map<std::string, Lines> all;
    for (const SessionInfo& info : must(source().list({})).sessions) {
      all.emplace(info.id.str(), transcript(info.id.str()));
    }
    return all;
  };
  const auto before = transcripts();
  EXPECT_EQ(before.size(), 3U);
  add("agents/adviser/sessions/work.yaml");
  add("agents/adviser/messages.md");
  add("sessions/other/work.yaml");
  add("sessions/work.yaml");
  add("messages.md");
  const auto now = transcripts();
  EXPECT_EQ(now.size(), 8U);
  for (const auto& [id, lines] : before) {
    EXPECT_EQ(now.at(id), lines) << id;
  }
  EXPECT_EQ(now.at("work"), Lines{"user: sessions/work.yaml"});
  EXPECT_EQ(now.at("messages"), Lines{"user: messages.md"});
}

}  // namespace
}  // namespace reprise::test::aichat_history
