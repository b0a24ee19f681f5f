// Exports for other tools. tests/referees checks that the real programs accept them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/json_scan.h"
#include "base/text.h"
#include "export/exported.h"
#include "export/tool_values.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

using namespace test;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::vector<std::string_view> tool_formats() {
  return {"jsonl", "codex", "copilot", "opencode", "gemini", "claude", "pi"};
}

// Hostile text in every possible place.
std::vector<Message> hostile_messages() {
  std::vector<Message> messages = exchange_with_tools();
  for (const std::string& text : hard_texts()) {
    messages.push_back(message(role::kUser, text));
    Message answer = message(role::kAssistant, text);
    answer.model = answer.provider = text_block(text).text;
    answer.blocks.emplace_back(ThinkingBlock{text_block(text).text, "s", {}});
    answer.blocks.emplace_back(ToolUseBlock{
        text_block(text).text, text_block(text).text, raw("{\n\"a\":\n\"\\u2028\"\n}"), {}});
    answer.blocks.emplace_back(ToolUseBlock{"c", "f", RawJson::string(text), {}});
    answer.blocks.emplace_back(UnknownBlock{"x", raw("[\n1]")});
    messages.push_back(answer);
  }
  messages.push_back(Message{.role = "system", .created_at = at(1)});
  messages.push_back(Message{.role = "narrator", .blocks = {TextBlock{"another role", {}}}});
  messages.push_back(Message{.role = "assistant"});
  return messages;
}

TEST(ToolValues, DerivesAGivenNumberOfDigits) {
  for (std::size_t digits = 0; digits < 70; ++digits) {
    const std::string hex = exporting::derived_hex("seed", digits);
    EXPECT_EQ(hex.size(), digits);
    EXPECT_TRUE(exporting::derived_hex("seed", 70).starts_with(hex));
  }
}

TEST(ToolValues, KeepsTheInputOfTheModel) {
  const auto text_of = [](std::string_view input) {
    return exporting::input_text(ToolUseBlock{"c", "f", raw(std::string(input)), {}});
  };
  EXPECT_EQ(text_of(R"("a \"b\"")"), "a \"b\"");
  EXPECT_EQ(text_of(R"({"a":1.0})"), R"({"a":1.0})");
  EXPECT_EQ(text_of("17"), "17");
}

class ToolFormats : public testing::TestWithParam<std::string_view> {};

TEST_P(ToolFormats, WritesAJsonObjectPerLine) {
  Session session = exported_session();
  session.info.title = session.info.working_dir = session.system_prompt =
      "\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\n\"\x1b";
  const auto store = store_with(session, hostile_messages());
  const std::string text = exported_as(GetParam(), *store).text;
  EXPECT_TRUE(text.ends_with("\n"));
  // Characters that some programs treat as line ends.
  for (const char* end : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    EXPECT_THAT(text, Not(HasSubstr(end)));
  }
  for (const std::string& line : lines_of(text)) {
    ASSERT_THAT(line, StartsWith("{"));
    ASSERT_TRUE(works(RawJson::parse(line))) << line;
  }
}

TEST_P(ToolFormats, IsDeterministic) {
  const auto store = store_with(exported_session(), exchange_with_tools());
  EXPECT_EQ(exported_as(GetParam(), *store).text, exported_as(GetParam(), *store).text);
}

TEST_P(ToolFormats, KeepsAllTextInOrder) {
  const std::string text = exported_as(GetParam(), exchange_with_tools()).text;
  std::size_t from = 0;
  for (const char* word :
       {"Read a.txt", "I look.", "read_file", "hello", "no such folder", "Done."}) {
    const std::size_t found = text.find(word, from);
    ASSERT_NE(found, std::string::npos) << word;
    from = found;
  }
}

// A process was killed during a tool call, and a result has lost its call.
TEST_P(ToolFormats, EveryCallHasAResult) {
  std::vector<Message> messages = exchange_with_tools();
  auto& results = messages[2].blocks;
  results.pop_back();
  results.emplace_back(
      ToolResultBlock{.tool_use_id = "nobody", .text = "stray", .blob = {}, .extra = {}});
  const ExportedText out = exported_as(GetParam(), messages);
  EXPECT_THAT(out.text, HasSubstr("(interrupted before there was a result)"));
  EXPECT_THAT(out.text, Not(HasSubstr("stray")));
  EXPECT_THAT(out.exported.losses, Contains("results of calls that do not exist"));
}

TEST_P(ToolFormats, AMessageBetweenResultsLosesNone) {
  std::vector<Message> messages = exchange_with_tools();
  Message second = messages[2];
  second.blocks.erase(second.blocks.begin());
  messages[2].blocks.pop_back();
  messages.insert(messages.begin() + 3, {user("a note"), second});
  const ExportedText out = exported_as(GetParam(), messages);
  EXPECT_THAT(out.text, Not(HasSubstr("interrupted before")));
  EXPECT_THAT(out.exported.losses, Not(Contains("results of calls that do not exist")));
  EXPECT_LT(out.text.find("no such folder"), out.text.find("a note"));
  EXPECT_LT(out.text.find("a note"), out.text.find("Done."));
}

TEST_P(ToolFormats, ExportsAnEmptySession) {
  EXPECT_FALSE(exported_as(GetParam(), std::vector<Message>{}).text.empty());
}

// The whole large result, not only its beginning.
TEST_P(ToolFormats, IncludesLargeResults) {
  const auto store = store_with(exported_session(), {});
  std::vector<Message> messages = exchange_with_tools();
  auto& result = std::get<ToolResultBlock>(messages[2].blocks[0]);
  result.blob = must(store->capabilities().blobs->put_blob("hello, and all the others"));
  must(store->append(session_id(kExportedId), messages, {}));
  EXPECT_THAT(exported_as(GetParam(), *store).text, HasSubstr("hello, and all the others"));
}

INSTANTIATE_TEST_SUITE_P(Formats, ToolFormats, testing::ValuesIn(tool_formats()),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(ExportTraining, WritesOneLineOfChatMessages) {
  const ExportedText out = exported_as("jsonl", exchange_with_tools());
  EXPECT_EQ(
      out.text,
      R"({"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Read a.txt"},)"
      R"({"role":"assistant","content":"I look.","tool_calls":[)"
      R"({"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.txt\"}"}},)"
      R"({"id":"call_2","type":"function","function":{"name":"list_files","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"call_1","content":"hello"},)"
      R"({"role":"tool","tool_call_id":"call_2","content":"no such folder"},)"
      R"({"role":"assistant","content":"Done."}],)"
      R"("tools":[{"type":"function","function":{"name":"list_files","parameters":{"type":"object","properties":{}}}},)"
      R"({"type":"function","function":{"name":"read_file","parameters":{"type":"object","properties":{}}}}]})"
      "\n");
}

TEST(ExportCodex, EventsHaveNoInjectedText) {
  Message injected = user("<environment_context>");
  injected.extra.push_back({std::string(kInjectedField), raw("true")});
  const std::vector<std::string> lines =
      lines_of(exported_as("codex", std::vector{injected, user("hi")}).text);
  ASSERT_EQ(lines.size(), 5U);  // the session, its prompt, the injected one, the question twice
  EXPECT_THAT(lines[0], AllOf(HasSubstr(R"("type":"session_meta")"),
                              HasSubstr(R"("cwd":"/home/a/project")"), HasSubstr(kExportedId)));
  EXPECT_THAT(lines[2], HasSubstr("environment_context"));
  EXPECT_THAT(lines[3], HasSubstr(R"("type":"response_item")"));
  EXPECT_THAT(lines[4], HasSubstr(R"("type":"user_message","message":"hi")"));
}

TEST(ExportTools, ListsThatTheFormatCannotMarkInjectedMessages) {
  Message injected = user("<reminder>");
  injected.extra.push_back({std::string(kInjectedField), raw("true")});
  std::vector<std::string> formats;
  for (const ExportFormat& format : export_formats()) {
    const auto losses = exported_as(format.name, std::vector{injected}).exported.losses;
    if (std::ranges::find(losses, "which messages programs wrote") != losses.end()) {
      formats.emplace_back(format.name);
    }
  }
  EXPECT_THAT(formats, ElementsAre("jsonl", "copilot", "gemini", "pi"));
}

TEST(ExportCodex, CountsUsageOnce) {
  std::vector<Message> messages = exchange_with_tools();
  messages.push_back(messages.back());
  EXPECT_THAT(lines_of(exported_as("codex", messages).text).back(),
              HasSubstr(R"("total_token_usage":{"input_tokens":250)"));
}

TEST(ExportClaude, EachLineNamesItsParent) {
  const std::vector<std::string> lines =
      lines_of(exported_as("claude", exchange_with_tools()).text);
  ASSERT_EQ(lines.size(), 5U);
  std::string before = "null";
  for (std::size_t at = 0; at < 4; ++at) {
    EXPECT_THAT(lines[at], StartsWith(cat(R"({"parentUuid":)", before, ",")));
    const auto uuid = lines[at].find(R"("uuid":)");
    before = lines[at].substr(uuid + 7, 38);
  }
  EXPECT_THAT(lines[4], HasSubstr(R"("customTitle":"Release notes")"));
  // This provider would refuse thinking signed by another one.
  EXPECT_THAT(lines[1], Not(HasSubstr("thinking")));
}

TEST(ExportClaude, KeepsThinkingOfItsProviderOnly) {
  Message answer = assistant("a");
  answer.provider = "anthropic";
  answer.blocks.emplace_back(ThinkingBlock{"hm", "proof", {}});
  EXPECT_THAT(exported_as("claude", std::vector{answer}).text,
              HasSubstr(R"({"type":"thinking","thinking":"hm","signature":"proof"})"));
}

TEST(ExportCopilot, OmitsRejectedMembers) {
  std::vector<Message> messages = exchange_with_tools();
  messages.push_back(message(role::kSystem, "not taken"));
  const ExportedText out = exported_as("copilot", messages);
  EXPECT_THAT(out.text, Not(HasSubstr("not taken")));
  EXPECT_THAT(out.text, HasSubstr(R"("success":false,"error":{"message":"no such folder"})"));
  EXPECT_THAT(out.exported.losses, Contains("thinking"));
}

TEST(ExportOpencode, IdsAscend) {
  const std::string text = exported_as("opencode", exchange_with_tools()).text;
  std::vector<std::string> ids;
  for (std::size_t at = 0; (at = text.find(R"("id":")", at)) != std::string::npos; ++at) {
    ids.push_back(text.substr(at + 10, 26));
  }
  ASSERT_GT(ids.size(), 5U);
  EXPECT_TRUE(std::is_sorted(ids.begin() + 1, ids.end(), [](const auto& a, const auto& b) {
    return a.substr(0, 12) < b.substr(0, 12);
  }));
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST(ExportGemini, AnAnswerHasItsCallsAndTheirResults) {
  const std::vector<std::string> lines =
      lines_of(exported_as("gemini", exchange_with_tools()).text);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0], HasSubstr(R"("summary":"Release notes")"));
  EXPECT_THAT(lines[2], HasSubstr(R"("functionResponse":{"id":"call_1","name":"read_file",)"
                                  R"("response":{"output":"hello"}})"));
  EXPECT_THAT(lines[2], HasSubstr(R"("response":{"error":"no such folder"})"));
}

TEST(ExportPi, ChainsEntriesWithUsage) {
  const std::vector<std::string> lines = lines_of(exported_as("pi", exchange_with_tools()).text);
  ASSERT_EQ(lines.size(), 7U);  // session, name, question, answer, two results, answer
  EXPECT_THAT(lines[1], HasSubstr(R"("id":"00000001","parentId":null)"));
  EXPECT_THAT(lines[6], HasSubstr(R"("id":"00000006","parentId":"00000005")"));
  EXPECT_THAT(lines[6], HasSubstr(R"("usage":{"input":150,"output":5)"));
}

TEST(ToolValues, ConvertsIdsToUuids) {
  EXPECT_EQ(exporting::uuid_of(exported_session()), kExportedId);
  const std::string made = exporting::uuid_of(session("ses_1"));
  EXPECT_EQ(made.size(), 36U);
  EXPECT_EQ(made[14], '4');
  EXPECT_EQ(made, exporting::uuid_of(session("ses_1")));
  EXPECT_NE(made, exporting::uuid_of(session("ses_2")));
}

TEST(ToolValues, TimesAreMonotonicMilliseconds) {
  EXPECT_EQ(exporting::iso_milliseconds(at(1, 2'999)), "2026-01-18T20:00:01.002Z");
  EXPECT_EQ(exporting::iso_milliseconds(Time(std::chrono::microseconds(-1))),
            "1969-12-31T23:59:59.999Z");
  exporting::MonotonicTimes times(exported_session());
  EXPECT_EQ(times.next({}), at(0));
  EXPECT_EQ(times.next(at(5)), at(5));
  EXPECT_EQ(times.next(at(3)), at(5));
}

}  // namespace
}  // namespace reprise
