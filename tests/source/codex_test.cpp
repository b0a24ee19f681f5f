#include <algorithm>

#include "base/text.h"
#include "base/zstd_library.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::codex {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kThread = "019a0000-0000-7000-8000-000000000001";
constexpr std::string_view kOther = "019a0000-0000-7000-8000-000000000002";

std::string file_of(std::string_view thread, std::string_view time = "2026-11-20T10-00-00",
                    std::string_view segment = "") {
  return cat("sessions/2026/11/20/rollout-", time, "-", thread, segment, ".jsonl");
}

// A line, with its number in the newer files.
std::string line(int ordinal, std::string_view type, std::string_view payload) {
  return cat("{'timestamp':'2026-11-20T10:00:", ordinal < 10 ? "0" : "", ordinal, ".000Z',",
             ordinal < 0 ? "" : cat("'ordinal':", ordinal, ","), "'type':'", type,
             "','payload':", payload, "}");
}

std::string meta(std::string_view thread, std::string_view more = "") {
  return line(0, "session_meta",
              cat("{'id':'", thread, "','timestamp':'2026-11-20T10:00:00.000Z','cwd':'/home/a/x',",
                  "'originator':'t','cli_version':'0'", more, "}"));
}

std::string message_line(int at, std::string_view role, std::string_view text,
                         std::string_view kinds = "") {
  const std::string metadata =
      kinds.empty() ? ""
                    : cat(",'internal_chat_message_metadata_passthrough':{'content_item_kinds':[",
                          kinds, "]}");
  return line(at, "response_item",
              cat("{'type':'message','role':'", role, "','content':[{'type':'",
                  role == "assistant" ? "output_text" : "input_text", "','text':'", text, "'}]",
                  metadata, "}"));
}

std::string prompt_line(int at, std::string_view text) {
  return message_line(at, "user", text, "'user.text'");
}

std::string total_line(int at, int input, int output) {
  return line(at, "event_msg",
              cat("{'type':'token_count','info':{'total_token_usage':{'input_tokens':", input,
                  ",'output_tokens':", output, "}}}"));
}

class CodexTest : public SourceTest {};

TEST_F(CodexTest, ATurnWithACallAndItsUsage) {
  write(file_of(kThread),
        {meta(kThread), line(1, "turn_context", "{'model':'gpt-x','cwd':'/home/a/x'}"),
         message_line(2, "developer", "Rules", "'permissions.instructions'"),
         message_line(3, "user", "<environment_context>here</environment_context>",
                      "'environments.environment_context'"),
         prompt_line(4, "List them"),
         line(5, "response_item",
              "{'type':'reasoning','summary':[{'type':'summary_text','text':'hm'}],"
              "'encrypted_content':'gAAA'}"),
         line(6, "response_item",
              "{'type':'function_call','name':'shell','arguments':'{\\'a\\':1}','call_id':'c1'}"),
         line(7, "token_usage_record",
              "{'response_id':'r1','usage':{'input_tokens':10,'cached_input_tokens':4,"
              "'output_tokens':3,'reasoning_output_tokens':1}}"),
         line(8, "response_item", "{'type':'function_call_output','call_id':'c1','output':'a b'}"),
         message_line(9, "assistant", "Two."),
         line(10, "token_usage_record",
              "{'response_id':'r2','usage':{'input_tokens':20,'output_tokens':5}}")});
  open("codex");
  EXPECT_EQ(sessions(), Lines{cat(kThread, " List them (6)")});
  EXPECT_EQ(transcript(kThread),
            (Lines{"*system: Rules", "*user: <environment_context>here</environment_context>",
                   "user: List them", "assistant: (thinking) hm | call shell c1 {\"a\":1}",
                   "tool: c1 = a b", "assistant: Two."}));
  const Session found = session(kThread);
  EXPECT_EQ(found.usage.input.value, 30);
  EXPECT_EQ(found.usage.output.value, 8);
  EXPECT_EQ(found.usage.reasoning.value, 1);
  EXPECT_EQ(found.info.model, "gpt-x");
  EXPECT_EQ(found.info.working_dir, "/home/a/x");
}

TEST_F(CodexTest, OlderFilesTellThePersonByAnEvent) {
  write(file_of(kThread),
        {meta(kThread), message_line(1, "user", "# AGENTS.md instructions for /x"),
         message_line(2, "user", "odd program text"), message_line(3, "user", "A question"),
         line(4, "event_msg", "{'type':'user_message','message':'A question'}"),
         message_line(5, "assistant", "An answer"),
         line(6, "event_msg", "{'type':'agent_message','message':'An answer'}"),
         line(7, "event_msg",
              "{'type':'token_count','info':{'total_token_usage':{'input_tokens':10,"
              "'output_tokens':2}}}"),
         line(8, "event_msg",
              "{'type':'token_count','info':{'total_token_usage':{'input_tokens':10,"
              "'output_tokens':2}}}")});
  open("codex");
  EXPECT_EQ(transcript(kThread),
            (Lines{"*user: # AGENTS.md instructions for /x", "*user: odd program text",
                   "user: A question", "assistant: An answer"}));
  EXPECT_EQ(session(kThread).usage.input.value, 10);
  EXPECT_EQ(session(kThread).info.title, "A question");
}

TEST_F(CodexTest, WhatWasOnlyShownIsReadWhenThereIsNothingElse) {
  write(file_of(kThread),
        {meta(kThread), line(1, "event_msg", "{'type':'user_message','message':'Hi'}"),
         line(2, "event_msg", "{'type':'agent_message','message':'Ho'}")});
  open("codex");
  EXPECT_EQ(transcript(kThread), (Lines{"user: Hi", "assistant: Ho"}));
}

TEST_F(CodexTest, ARollBackLeavesABranch) {
  write(file_of(kThread), {meta(kThread), message_line(1, "user", "One"),
                           line(2, "event_msg", "{'type':'user_message','message':'One'}"),
                           message_line(3, "assistant", "1"), message_line(4, "user", "Two"),
                           line(5, "event_msg", "{'type':'user_message','message':'Two'}"),
                           message_line(6, "assistant", "2"),
                           line(7, "event_msg", "{'type':'thread_rolled_back','num_turns':1}"),
                           message_line(8, "user", "Three"),
                           line(9, "event_msg", "{'type':'user_message','message':'Three'}"),
                           message_line(10, "assistant", "3")});
  open("codex");
  EXPECT_EQ(transcript(kThread),
            (Lines{"user: One", "assistant: 1", "user: Three", "assistant: 3"}));
  EXPECT_EQ(sessions().size(), 1U);
  EXPECT_EQ(sessions(true).size(), 2U);
}

TEST_F(CodexTest, ARevertIsASecondFileOfTheSameThread) {
  const std::string file = file_of(kThread);
  write(file, {meta(kThread), prompt_line(1, "One"), message_line(2, "assistant", "1")});
  const auto bytes_before = std::filesystem::file_size(location() / file);
  write(file, {prompt_line(3, "Two"), message_line(4, "assistant", "2")});
  write(file_of(kThread, "2026-11-20T11-00-00", "_019a0000-0000-7000-8000-00000000000f"),
        {meta(kThread, cat(",'history_base':{'thread_id':'", kThread,
                           "','end_ordinal_exclusive':3,'end_byte_offset':", bytes_before, "}")),
         prompt_line(3, "Three"), message_line(4, "assistant", "3")});
  open("codex");
  EXPECT_EQ(sessions().size(), 1U);
  EXPECT_EQ(transcript(kThread),
            (Lines{"user: One", "assistant: 1", "user: Three", "assistant: 3"}));
  const Lines all = sessions(true);
  ASSERT_EQ(all.size(), 2U);
  const std::string left = all[0].starts_with("~") ? all[0] : all[1];
  EXPECT_EQ(transcript(left.substr(1, left.find(' ') - 1)),
            (Lines{"user: One", "assistant: 1", "user: Two", "assistant: 2"}));
}

TEST_F(CodexTest, AForkGoesOnFromAnotherThread) {
  const std::string file = file_of(kThread);
  write(file, {meta(kThread), prompt_line(1, "One"), message_line(2, "assistant", "1"),
               line(3, "token_usage_record",
                    "{'response_id':'r1','usage':{'input_tokens':10,'output_tokens':3}}")});
  const auto bytes_before = std::filesystem::file_size(location() / file);
  write(file, {prompt_line(4, "Two")});
  write(
      file_of(kOther, "2026-11-20T12-00-00"),
      {meta(kOther, cat(",'forked_from_id':'", kThread, "','history_base':{'thread_id':'", kThread,
                        "','end_ordinal_exclusive':4,'end_byte_offset':", bytes_before, "}")),
       prompt_line(4, "Other"), message_line(5, "assistant", "o")});
  open("codex");
  EXPECT_EQ(transcript(kOther),
            (Lines{"user: One", "assistant: 1", "user: Other", "assistant: o"}));
  EXPECT_EQ(transcript(kThread), (Lines{"user: One", "assistant: 1", "user: Two"}));
  const Session fork = session(kOther);
  EXPECT_EQ(fork.info.forked_from, (ForkOrigin{must(SessionId::parse(kThread)), Seq{2}}));
  EXPECT_EQ(fork.usage.input.value, 0);  // counted for the parent
  EXPECT_EQ(sessions(true).size(), 2U);
}

TEST_F(CodexTest, WhatTheParentAbandonedIsNoBranchOfAFork) {
  const std::string file = file_of(kThread);
  write(file, {meta(kThread), prompt_line(1, "One")});
  const auto end = std::filesystem::file_size(location() / file);
  write(file, {prompt_line(2, "Two")});
  const std::string segment =
      file_of(kThread, "2026-11-20T11-00-00", "_019a0000-0000-7000-8000-00000000000f");
  const auto base = [](int ordinal, std::uintmax_t bytes) {
    return cat(",'history_base':{'thread_id':'", kThread, "','end_ordinal_exclusive':", ordinal,
               ",'end_byte_offset':", bytes, "}");
  };
  write(segment, {meta(kThread, base(2, end)), prompt_line(2, "Three")});
  write(file_of(kOther, "2026-11-20T12-00-00"),
        {meta(kOther, base(3, std::filesystem::file_size(location() / segment))),
         prompt_line(3, "Other")});
  open("codex");
  EXPECT_EQ(transcript(kOther), (Lines{"user: One", "user: Three", "user: Other"}));
  EXPECT_EQ(sessions(true).size(), 3U);  // two threads, and one branch of the first
}

TEST_F(CodexTest, AForkWhoseParentIsGoneIsReadAndSaysSo) {
  write(file_of(kOther), {meta(kOther, cat(",'history_base':{'thread_id':'", kThread,
                                           "','end_ordinal_exclusive':4,'end_byte_offset':99}")),
                          prompt_line(4, "Other")});
  open("codex");
  EXPECT_EQ(transcript(kOther), Lines{"user: Other"});
  ASSERT_EQ(damage(kOther).size(), 1U);
  EXPECT_TRUE(damage(kOther)[0].reason.contains(kThread));
}

TEST_F(CodexTest, ASecondFileOfAThreadIsReported) {
  write(file_of(kThread), {meta(kThread), prompt_line(1, "One")});
  write(file_of(kThread, "2026-11-20T12-00-00"), {meta(kThread), prompt_line(1, "Two")});
  open("codex");
  const SessionPage page = must(source().list({}));
  EXPECT_EQ(page.sessions.size(), 1U);
  ASSERT_EQ(page.damage.size(), 1U);
  EXPECT_TRUE(page.damage[0].where.contains("12-00-00")) << page.damage[0].where;
  EXPECT_TRUE(page.damage[0].reason.starts_with("ignored: the thread is already read from "));
}

TEST_F(CodexTest, ThreadsThatPointAtEachOtherEnd) {
  for (const auto& [own, other] : {std::pair(kThread, kOther), std::pair(kOther, kThread)}) {
    write(file_of(own), {meta(own, cat(",'history_base':{'thread_id':'", other,
                                       "','end_ordinal_exclusive':1,'end_byte_offset':999}")),
                         prompt_line(1, "Hi")});
  }
  open("codex");
  EXPECT_EQ(transcript(kThread), (Lines{"user: Hi", "user: Hi"}));
  ASSERT_EQ(damage(kThread).size(), 1U);
  EXPECT_EQ(damage(kThread)[0].reason, "cyclic references between files");
}

TEST_F(CodexTest, KilledInMidAnswer) {
  write(file_of(kThread),
        {meta(kThread), prompt_line(1, "Go"),
         line(2, "response_item",
              "{'type':'function_call','name':'shell','arguments':'not json','call_id':'c1'}"),
         line(3, "event_msg", "{'type':'turn_aborted','reason':'interrupted'}")});
  append(file_of(kThread), "{\"timestamp\":\"2026-11-20T10:00:04.000Z\",\"ordi");
  open("codex");
  EXPECT_EQ(transcript(kThread),
            (Lines{"user: Go", "assistant (cut): call shell c1 \"not json\""}));
  EXPECT_TRUE(damage(kThread).empty());
}

TEST_F(CodexTest, AnswersAndTheirSessionHaveTheSameProvider) {
  write(file_of(kThread),
        {meta(kThread), prompt_line(1, "Go"), message_line(2, "assistant", "Done")});
  write(file_of(kOther, "2026-11-20T10-01-00"),
        {meta(kOther, ",'model_provider':'ollama'"), prompt_line(1, "Go"),
         message_line(2, "assistant", "Done")});
  open("codex");
  for (const auto& [id, provider] : {std::pair(kThread, "openai"), std::pair(kOther, "ollama")}) {
    EXPECT_EQ(session(id).info.provider, provider);
    EXPECT_EQ(must(read_all(source(), must(SessionId::parse(id)))).at(1).provider, provider);
  }
}

TEST_F(CodexTest, AnAnswerAtTheTokenLimitIsCut) {
  constexpr std::string_view kEnd =
      "{'type':'task_complete','turn_id':'t','last_agent_message':null,'error':{'message':"
      "'Incomplete response returned, reason: max_output_tokens'}}";
  write(file_of(kThread),
        {meta(kThread), line(1, "event_msg", "{'type':'task_started'}"), prompt_line(2, "Go"),
         message_line(3, "assistant", "Whole"),
         line(4, "event_msg", "{'type':'task_complete','error':null}"),
         line(5, "event_msg", "{'type':'task_started'}"), prompt_line(6, "On"),
         message_line(7, "assistant", "Half"), line(8, "event_msg", kEnd),
         line(9, "event_msg", "{'type':'task_started'}"), prompt_line(10, "List"),
         line(11, "response_item",
              "{'type':'function_call','name':'shell','arguments':'{}','call_id':'c1'}"),
         line(12, "response_item", "{'type':'function_call_output','call_id':'c1','output':'a'}"),
         line(13, "event_msg", "{'type':'task_complete','error':{'message':'503'}}")});
  open("codex");
  EXPECT_EQ(transcript(kThread),
            (Lines{"user: Go", "assistant: Whole", "user: On", "assistant (cut): Half",
                   "user: List", "assistant: call shell c1 {}", "tool: c1 = a"}));
}

TEST_F(CodexTest, NamesAndArchivedThreads) {
  write(cat("archived_sessions/rollout-2026-11-20T10-00-00-", kThread, ".jsonl"),
        {meta(kThread), prompt_line(1, "First")});
  write("session_index.jsonl", {cat("{'id':'", kThread, "','thread_name':'Old name'}"),
                                cat("{'id':'", kThread, "','thread_name':'My name'}")});
  open("codex");
  EXPECT_EQ(sessions(), Lines{cat(kThread, " My name (1)")});
  EXPECT_EQ(session(kThread).info.state, SessionState::archived);
}

TEST_F(CodexTest, OnlyTheWordsOfThePersonInAMessageWithAnImage) {
  write(file_of(kThread),
        {meta(kThread),
         line(1, "response_item",
              "{'type':'message','role':'user','content':["
              "{'type':'input_text','text':'<image name=[Image #1]>'},"
              "{'type':'input_image','image_url':'data:image/png;base64,AAAA'},"
              "{'type':'input_text','text':'</image>'},{'type':'input_text','text':'See </image>'},"
              "{'type':'input_text','text':'a note'}],"
              "'internal_chat_message_metadata_passthrough':{'content_item_kinds':"
              "['user.text','user.image','user.text','user.text','generic.note']}}")});
  open("codex");
  EXPECT_EQ(transcript(kThread),
            Lines{"user: ?input_text | [image/png data:image/png;base64,AAAA] | ?input_text | "
                  "See </image> | ?input_text"});
  EXPECT_EQ(session(kThread).info.title, "See </image>");
}

TEST_F(CodexTest, SubAgentsAreListedWithTheBranchesOnly) {
  write(file_of(kThread), {meta(kThread), prompt_line(1, "Go")});
  write(file_of(kOther, "2026-11-20T10-01-00"),
        {meta(kOther, cat(",'session_id':'", kThread, "','source':{'subagent':'review'}")),
         prompt_line(1, "Look at it")});
  open("codex");
  EXPECT_EQ(session(kOther).extra.front().name, "parent");
  EXPECT_EQ(session(kOther).extra.front().value, RawJson::string(kThread));
  EXPECT_EQ(sessions(), Lines{cat(kThread, " Go (1)")});
  EXPECT_EQ(sessions(true).size(), 2U);
}

TEST_F(CodexTest, WhatASubAgentHasOfItsSessionIsNotItsOwn) {
  write(file_of(kThread), {meta(kThread), prompt_line(1, "Go")});
  write(file_of(kOther, "2026-11-20T10-01-00"),
        {meta(kOther, cat(",'session_id':'", kOther,
                          "','subagent_history_start_ordinal':4,'source':{'subagent':"
                          "{'thread_spawn':{'parent_thread_id':'",
                          kThread, "'}}}")),
         prompt_line(1, "Go"), message_line(2, "assistant", "Copied"), total_line(3, 1000, 100),
         prompt_line(4, "Look at it"), message_line(5, "assistant", "Seen"),
         total_line(6, 1010, 101)});
  open("codex");
  EXPECT_EQ(transcript(kOther),
            (Lines{"*user: Go", "assistant: Copied", "*user: Look at it", "assistant: Seen"}));
  const Session agent = session(kOther);
  EXPECT_EQ(agent.extra.at(0).value, RawJson::string(kThread)) << "the parent";
  EXPECT_EQ(agent.info.forked_from, (ForkOrigin{must(SessionId::parse(kThread)), Seq{2}}));
  EXPECT_EQ(agent.info.title, "Look at it");
  EXPECT_EQ(agent.usage.input.value, 10);
}

TEST_F(CodexTest, ASummaryStandsBesideWhatItReplaced) {
  write(file_of(kThread),
        {meta(kThread), prompt_line(1, "Long"), message_line(2, "assistant", "talk"),
         line(3, "compacted", "{'message':'In short','replacement_history':[]}"),
         prompt_line(4, "On")});
  open("codex");
  EXPECT_EQ(transcript(kThread),
            (Lines{"user: Long", "assistant: talk", "*user: In short", "user: On"}));
  EXPECT_EQ(summaries(kThread), Lines{"In short"});
}

// Old files are compressed. If both exist, the plain one is newer.
TEST_F(CodexTest, ReadsCompressedFiles) {
  std::string bytes = cat(meta(kThread), "\n", prompt_line(1, "Why?"), "\n",
                          message_line(2, "assistant", "So."), "\n");
  std::ranges::replace(bytes, '\'', '"');
  const std::string packed = zstd_packed(bytes);
  ASSERT_TRUE(is_zstd_frame(packed));
  append(file_of(kThread) + ".zst", packed);
  append(file_of(kOther) + ".zst", packed.substr(0, packed.size() - 4));
  open("codex");
  EXPECT_EQ(transcript(kThread), (Lines{"user: Why?", "assistant: So."}));
  EXPECT_EQ(session(kThread).info.title, "Why?");
  EXPECT_TRUE(damage(kThread).empty());
  EXPECT_EQ(damage(kOther).size(), 1U);
  write(file_of(kThread), {meta(kThread), prompt_line(1, "Newer?")});
  EXPECT_EQ(sessions().size(), 1U) << "nothing was read of the other";
  EXPECT_EQ(transcript(kThread), Lines{"user: Newer?"});
}

TEST_F(CodexTest, ReadsTheDocumentsOfTheFirstVersion) {
  const std::string file = cat("sessions/rollout-2025-05-02-", kThread, ".json");
  write(file, {"{'session':{'timestamp':'2025-05-02T10:00:00.000Z','id':'x','instructions':''},",
               "'items':[{'type':'message','role':'user','content':[{'type':'input_text',",
               "'text':'Why?'}]},{'type':'function_call','name':'shell','arguments':'{}',",
               "'call_id':'c1'},{'type':'function_call_output','call_id':'c1','output':'ok'},",
               "{'type':'message','role':'assistant','content':[{'type':'output_text',",
               "'text':'So.'}]}]}"});
  open("codex");
  EXPECT_EQ(transcript(kThread), (Lines{"user: Why?", "assistant: call shell c1 {}",
                                        "tool: c1 = ok", "assistant: So."}));
  EXPECT_EQ(session(kThread).info.title, "Why?");
  EXPECT_NE(session(kThread).info.updated_at, Time{});
}

std::string usage_line(int at, std::string_view response, int input, int output) {
  return line(at, "token_usage_record",
              cat("{'response_id':'", response, "','usage':{'input_tokens':", input,
                  ",'output_tokens':", output, "}}"));
}

// "INPUT/OUTPUT (REQUEST)" of the messages with usage.
Lines usages(Source& source, std::string_view id) {
  Lines all;
  for (const Message& message : must(read_all(source, must(SessionId::parse(id))))) {
    if (const auto& usage = message.usage) {
      all.push_back(
          cat(usage->input.value, "/", usage->output.value, " (", usage->request_id, ")"));
    }
  }
  return all;
}

TEST_F(CodexTest, CountsEveryRequestOnce) {
  write(file_of(kThread),
        {meta(kThread), prompt_line(1, "One"), message_line(2, "assistant", "1"),
         usage_line(3, "resp_1", 1000, 100), usage_line(4, "resp_2", 20, 2),
         line(5, "compacted", "{'message':'In short','replacement_history':[]}"),
         prompt_line(6, "Two"), message_line(7, "assistant", "So"),
         usage_line(8, "resp_3", 300, 30), message_line(9, "assistant", "2"),
         usage_line(10, "resp_4", 4, 4), usage_line(11, "resp_4", 4, 4), total_line(12, 9, 9)});
  open("codex");
  EXPECT_EQ(session(kThread).usage.input.value, 1324);
  EXPECT_EQ(session(kThread).usage.output.value, 136);
  EXPECT_EQ(usages(source(), kThread), (Lines{"1000/100 (resp_1)", "304/34 (resp_4)"}));
}

TEST_F(CodexTest, CountsRequestsWithoutAnAnswer) {
  write(file_of(kThread),
        {meta(kThread), prompt_line(1, "One"), message_line(2, "assistant", "1"),
         line(3, "event_msg", "{'type':'task_started'}"), usage_line(4, "resp_1", 20, 2)});
  write(file_of(kOther, "2026-11-20T10-01-00"),
        {meta(kOther), message_line(1, "user", "Two"), message_line(2, "assistant", "2"),
         total_line(3, 10, 2), total_line(4, 15, 3), total_line(5, 15, 3)});
  open("codex");
  EXPECT_EQ(session(kThread).usage.input.value, 20);
  EXPECT_EQ(usages(source(), kThread), Lines());
  EXPECT_EQ(session(kOther).usage.input.value, 15);
  EXPECT_EQ(session(kOther).usage.output.value, 3);
  EXPECT_EQ(usages(source(), kOther).size(), 1U);
}

TEST_F(CodexTest, ARecordReplacesTheTotalOfTheSameRequest) {
  write(file_of(kThread), {meta(kThread), prompt_line(1, "One"), message_line(2, "assistant", "1"),
                           total_line(3, 10, 2), usage_line(4, "resp_1", 10, 2)});
  open("codex");
  EXPECT_EQ(session(kThread).usage.input.value, 10);
  EXPECT_EQ(usages(source(), kThread), Lines{"10/2 (resp_1)"});
}

TEST_F(CodexTest, BarePathsOfAllLayoutsAreRecognised) {
  const std::string bare = file_of(kThread);
  const std::string document = cat("sessions/rollout-2025-05-01-", kOther, ".json");
  write(bare,
        {cat("{'id':'", kThread, "','timestamp':'2025-08-28T12:05:24.389Z','instructions':null}"),
         "{'record_type':'state'}"});
  write(document, {cat("{'session':{'id':'", kOther, "','timestamp':'2025-05-01T10:00:00.000Z'},",
                       "'items':[{'type':'message','role':'user','content':'Hi'}]}")});
  for (const std::string& path : {bare, document}) {
    const SourceKind* const kind = must(source_kind_of((location() / path).native()));
    ASSERT_NE(kind, nullptr) << path;
    EXPECT_EQ(kind->name, "codex");
  }
}

TEST_F(CodexTest, WhatTheExtensionAddsIsNotThePersons) {
  constexpr std::string_view kContext =
      "# Context from my IDE setup:\\n\\n## Active file: a.rs\\n\\n## My request for Codex:\\n";
  write(file_of(kThread),
        {meta(kThread), message_line(1, "user", cat(kContext, "Paint it\\n")),
         line(2, "event_msg", cat("{'type':'user_message','message':'", kContext, "Paint it\\n'}")),
         message_line(3, "assistant", "Done.")});
  open("codex");
  EXPECT_EQ(session(kThread).info.title, "Paint it");
  const auto messages = must(read_all(source(), must(SessionId::parse(kThread))));
  ASSERT_EQ(messages.at(0).blocks.size(), 2U);
  EXPECT_FALSE(is_injected(messages[0]));
  EXPECT_TRUE(blocks_to_json({messages[0].blocks[0]}).contains(R"("injected":true)"));
  EXPECT_EQ(messages[0].blocks[1], Block(TextBlock{"Paint it\n", {}}));
}

TEST_F(CodexTest, AnAnswerOfATurnThatNeverEndedIsCut) {
  const std::string begin = line(9, "event_msg", "{'type':'task_started'}");
  write(file_of(kThread),
        {meta(kThread), begin, prompt_line(1, "One"), message_line(2, "assistant", "Half"), begin,
         prompt_line(3, "Two"), message_line(4, "assistant", "Whole"),
         line(9, "event_msg", "{'type':'task_complete'}"), begin, prompt_line(5, "Three"),
         message_line(6, "assistant", "Hal")});
  open("codex");
  EXPECT_EQ(transcript(kThread),
            (Lines{"user: One", "assistant (cut): Half", "user: Two", "assistant: Whole",
                   "user: Three", "assistant (cut): Hal"}));
}

TEST_F(CodexTest, AFileThatIsAlsoInTheArchiveIsReadOnce) {
  const Lines lines = {meta(kThread), prompt_line(1, "Why?")};
  write(file_of(kThread), lines);
  write(cat("archived_sessions/rollout-2026-11-20T10-00-00-", kThread, ".jsonl"), lines);
  open("codex");
  const SessionPage page = must(source().list({}));
  EXPECT_EQ(page.sessions.size(), 1U);
  EXPECT_TRUE(page.damage.empty());
}

}  // namespace
}  // namespace reprise::test::codex
