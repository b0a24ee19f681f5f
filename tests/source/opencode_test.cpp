#include <algorithm>
#include <fstream>
#include <memory>
#include <set>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "source/source_fixture.h"
#include "sqlite/sqlite_support.h"
#include "support/must.h"

namespace reprise::test::opencode_history {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kTables = R"(
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, vcs text);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
  directory text NOT NULL, title text NOT NULL, version text NOT NULL, share_url text, revert text,
  permission text, agent text, model text, time_created integer NOT NULL,
  time_updated integer NOT NULL, time_compacting integer, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX part_message_idx ON part (message_id);
CREATE TABLE todo (session_id text NOT NULL, content text NOT NULL, status text NOT NULL,
  priority text NOT NULL, position integer NOT NULL, PRIMARY KEY(session_id, position));
CREATE TABLE credential (id text PRIMARY KEY, secret text);
CREATE TABLE event_of_tomorrow (id text);
)";

class OpencodeTest : public SourceTest {
 protected:
  PlainDatabase& database(std::string_view tables = kTables) {
    if (!database_) {
      database_ = std::make_unique<PlainDatabase>(location() / "opencode.db");
      (void)database_->rows("PRAGMA journal_mode=WAL");
      database_->run(std::string(tables));
    }
    return *database_;
  }
  void session_row(std::string_view id, std::string_view title, std::string_view more = "NULL",
                   std::string_view parent = "NULL") {
    database().run(
        cat("INSERT INTO session(id, project_id, parent_id, slug, directory, title, version,"
            " revert, time_created, time_updated) VALUES('",
            id, "', 'p', ", parent, ", 's', '/home/a/x', '", title, "', '1.18', ", more,
            ", 1763600000000, 1763600001000)"));
  }
  // ' stands for " in `json`.
  void message_row(std::string_view session, std::string_view id, std::string json) {
    std::ranges::replace(json, '\'', '"');
    database().run(cat("INSERT INTO message VALUES('", id, "', '", session, "', ", ++time_,
                       ", 0, '", json, "')"));
  }
  void part_row(std::string_view message, std::string_view id, std::string json) {
    std::ranges::replace(json, '\'', '"');
    database().run(
        cat("INSERT INTO part VALUES('", id, "', '", message, "', 's', 0, 0, '", json, "')"));
  }
  void question(std::string_view session, std::string_view id, std::string_view text) {
    message_row(session, id, "{'role':'user','time':{'created':1763600000000}}");
    part_row(id, cat("p-", id), cat("{'type':'text','text':'", text, "'}"));
  }
  void answer(std::string_view session, std::string_view id, std::string_view text,
              std::string_view time = "'created':1763600000500,'completed':1763600000900",
              std::string_view more = "") {
    message_row(session, id,
                cat("{'role':'assistant','providerID':'anthropic','modelID':'c-1','time':{", time,
                    "},'cost':0.25,'tokens':{'input':10,'output':5,'reasoning':3,'cache':{'read':7,"
                    "'write':1}}",
                    more, "}"));
    part_row(id, cat("p-", id, "-1"), cat("{'type':'text','text':'", text, "'}"));
  }

  std::unique_ptr<PlainDatabase> database_;
  int time_ = 0;
};

TEST_F(OpencodeTest, StepsWithCallsBecomeMessages) {
  session_row("ses_1", "Talk");
  question("ses_1", "msg_1", "Why?");
  message_row(
      "ses_1", "msg_2",
      "{'role':'assistant','providerID':'a','modelID':'m','time':{'created':1763600000500,"
      "'completed':1763600000900},'cost':0.25,'tokens':{'input':10,'output':5,'reasoning':3,"
      "'cache':{'read':7,'write':1}}}");
  part_row("msg_2", "prt_1", "{'type':'step-start'}");
  part_row("msg_2", "prt_2", "{'type':'reasoning','text':'hm'}");
  part_row(
      "msg_2", "prt_3",
      "{'type':'tool','callID':'c1','tool':'bash','state':{'status':'completed','input':{'x':1.0},"
      "'output':'done','title':'T'}}");
  part_row("msg_2", "prt_4",
           "{'type':'tool','callID':'c2','tool':'read','state':{'status':'error','input':{},"
           "'error':'no file'}}");
  part_row("msg_2", "prt_5", "{'type':'step-start'}");
  part_row("msg_2", "prt_6", "{'type':'text','text':'So.'}");
  database().run("INSERT INTO todo VALUES('ses_1', 'Do it', 'in_progress', 'high', 0)");
  open("opencode");
  EXPECT_EQ(sessions(), Lines{"ses_1 Talk (2+)"});
  EXPECT_EQ(
      transcript("ses_1"),
      (Lines{"user: Why?", "assistant: (thinking) hm | call bash c1 {\"x\":1.0} | call read c2 {}",
             "tool: c1 = done | c2 failed: no file", "assistant: So."}));
  const std::vector<Message> messages = must(read_all(source(), must(SessionId::parse("ses_1"))));
  EXPECT_TRUE(messages.at(1).usage);
  EXPECT_FALSE(messages.at(3).usage) << "it is of the same request";
  const Session found = session("ses_1");
  EXPECT_EQ(found.info.head, Seq{4});
  EXPECT_EQ(found.usage.input.value, 18);
  EXPECT_EQ(found.usage.output.value, 8);
  EXPECT_EQ(found.usage.cost->str(), "0.25");
  EXPECT_EQ(found.info.working_dir, "/home/a/x");
  TodoReader* const todos = source().capabilities().todo_reader;
  ASSERT_NE(todos, nullptr);
  EXPECT_EQ(must(todos->todos(must(SessionId::parse("ses_1"))))[0].content, "Do it");
}

TEST_F(OpencodeTest, ASessionThatNobodyNamedHasTheTitleOfItsQuestion) {
  session_row("ses_1", "New session - 2026-11-20T10:00:00.000Z");
  question("ses_1", "msg_1", "Why?");
  session_row("ses_2", "New session - plans");
  question("ses_2", "msg_2", "How?");
  session_row("ses_3", "New session - 2026-11-20T10:00:00.000Z (fork #2)");
  question("ses_3", "msg_3", "Called the Read tool with the following input: {}");
  part_row("msg_3", "q", "{'type':'text','text':'<file>\\n00001| a'}");
  part_row("msg_3", "r", "{'type':'text','text':'Mend it'}");
  answer("ses_3", "msg_4", "Done.");
  open("opencode");
  EXPECT_EQ(session("ses_1").info.title, "Why?");
  EXPECT_EQ(session("ses_2").info.title, "New session - plans");
  EXPECT_EQ(transcript("ses_3").at(1), "assistant: Done.");
  Lines listed;
  for (const SessionInfo& info : must(source().list({})).sessions) {
    listed.push_back(cat(info.title, "|", info.provider, "|", info.model));
  }
  std::ranges::sort(listed);
  EXPECT_EQ(listed, (Lines{"Mend it|anthropic|c-1", "New session - plans||", "Why?||"}));
  EXPECT_EQ(transcript("ses_1"), Lines{"user: Why?"});
}

TEST_F(OpencodeTest, ItIsReadWhileItIsWritten) {
  session_row("ses_1", "Talk");
  question("ses_1", "msg_1", "One");
  open("opencode");
  EXPECT_EQ(transcript("ses_1"), Lines{"user: One"});
  database_.reset();
  EXPECT_FALSE(std::filesystem::exists(location() / "opencode.db-wal"));
  database_ = std::make_unique<PlainDatabase>(location() / "opencode.db");
  answer("ses_1", "msg_2", "Two");
  append("other", "");  // the current contents must not change
  EXPECT_EQ(transcript("ses_1"), (Lines{"user: One", "assistant: Two"}));
  EXPECT_EQ(sessions(), Lines{"ses_1 Talk (2+)"});
}

TEST_F(OpencodeTest, KilledAndAbortedAnswersAreCut) {
  session_row("ses_1", "Talk");
  question("ses_1", "msg_1", "One");
  answer("ses_1", "msg_2", "", "'created':1763600000500");
  part_row("msg_2", "z",
           "{'type':'tool','callID':'c','tool':'bash','state':{'status':'running','input':{},"
           "'metadata':{'output':'started'}}}");
  answer("ses_1", "msg_3", "half", "'created':1,'completed':2",
         ",'error':{'name':'MessageAbortedError'}");
  open("opencode");
  EXPECT_EQ(transcript("ses_1"),
            (Lines{"user: One", "assistant (cut): call bash c {}", "assistant (cut): half"}));
}

TEST_F(OpencodeTest, SubAgentsAreChildrenAndWhatWasUndoneIsAFork) {
  session_row("ses_1", "Talk", "'{\"messageID\":\"msg_3\"}'");
  session_row("ses_2", "Agent", "NULL", "'ses_1'");
  question("ses_2", "msg_9", "Do");
  question("ses_1", "msg_1", "One");
  answer("ses_1", "msg_2", "A");
  question("ses_1", "msg_3", "Two");
  open("opencode");
  EXPECT_EQ(sessions().size(), 1U);
  EXPECT_EQ(sessions(true).size(), 3U);
  EXPECT_EQ(transcript("ses_1"), (Lines{"user: One", "assistant: A"}));
  const Extra extra = session("ses_2").extra;
  const auto parent = std::ranges::find(extra, "parent", &ExtraField::name);
  ASSERT_NE(parent, extra.end());
  EXPECT_EQ(parent->value.text(), "\"ses_1\"");
}

TEST_F(OpencodeTest, TheFirstMessageMayBeUndone) {
  session_row("ses_1", "Talk", "'{\"messageID\":\"msg_1\"}'");
  question("ses_1", "msg_1", "One");
  answer("ses_1", "msg_2", "A");
  open("opencode");
  EXPECT_EQ(transcript("ses_1"), Lines());
  EXPECT_EQ(sessions(true).size(), 2U);
}

TEST_F(OpencodeTest, APartOfAnAnswerMayBeUndone) {
  session_row("ses_1", "Talk", "'{\"messageID\":\"msg_2\",\"partID\":\"prt_3\"}'");
  question("ses_1", "msg_1", "One");
  message_row("ses_1", "msg_2", "{'role':'assistant','time':{'created':1,'completed':2}}");
  part_row("msg_2", "prt_1", "{'type':'text','text':'A'}");
  part_row("msg_2", "prt_2",
           "{'type':'tool','callID':'c','tool':'bash','state':{'status':'completed','input':{},"
           "'output':'done'}}");
  part_row("msg_2", "prt_3", "{'type':'text','text':'B'}");
  question("ses_1", "msg_3", "Two");
  open("opencode");
  EXPECT_EQ(transcript("ses_1"),
            (Lines{"user: One", "assistant: A | call bash c {}", "tool: c = done"}));
  EXPECT_EQ(sessions(true).size(), 2U);
}

TEST_F(OpencodeTest, WhatTheProgramSaidIsMarkedAndCompactionKeepsBoth) {
  session_row("ses_1", "Talk");
  message_row("ses_1", "msg_1", "{'role':'user'}");
  part_row("msg_1", "a", "{'type':'text','text':'Called the Read tool','synthetic':true}");
  part_row("msg_1", "b", "{'type':'file','mime':'image/png','url':'data:image/png;base64,AAAA'}");
  part_row("msg_1", "c", "{'type':'text','text':'See'}");
  message_row("ses_1", "msg_2", "{'role':'user'}");
  part_row("msg_2", "d", "{'type':'compaction','auto':true}");
  answer("ses_1", "msg_3", "Summary", "'created':1,'completed':2", ",'summary':true");
  open("opencode");
  EXPECT_EQ(transcript("ses_1"),
            (Lines{"user: Called the Read tool | [image/png data:image/png;base64,AAAA] | See",
                   "*user: ?compaction", "*assistant: Summary"}));
  EXPECT_EQ(summaries("ses_1"), Lines{"Summary"});
  const auto messages = must(read_all(source(), must(SessionId::parse("ses_1"))));
  const auto& first = std::get<TextBlock>(messages[0].blocks[0]);
  EXPECT_EQ(first.extra.back().name, kInjectedField);
}

TEST_F(OpencodeTest, OnlyTheTextAfterACallIsItsFile) {
  session_row("ses_1", "Talk");
  question("ses_1", "msg_1", "Called the Read tool with the following input: {}");
  part_row("msg_1", "q", "{'type':'text','text':'<file>\\n00001| a'}");
  part_row("msg_1", "r", "{'type':'text','text':'Mend it'}");
  part_row("msg_1", "s", "{'type':'text','text':'<file> is a tag'}");
  open("opencode");
  const auto messages = must(read_all(source(), must(SessionId::parse("ses_1"))));
  std::string marks;
  for (const Block& block : messages.at(0).blocks) {
    const Extra& extra = std::get<TextBlock>(block).extra;
    marks += !extra.empty() && extra.back().name == kInjectedField ? "program " : "person ";
  }
  EXPECT_EQ(marks, "program program person person ");
}

// Whatever it is, it is not what ours of that name is.
TEST_F(OpencodeTest, APartWithTheNameOfABlockOfOursIsWrapped) {
  session_row("ses_1", "Talk");
  question("ses_1", "msg_1", "Why?");
  part_row("msg_1", "q", "{'type':'tool_use','id':'x'}");
  open("opencode");
  EXPECT_EQ(transcript("ses_1"), Lines{"user: Why? | ?unknown"});
}

TEST_F(OpencodeTest, MissingColumnsAndDamagedRowsAreNoEnd) {
  database(
      "CREATE TABLE session (id text PRIMARY KEY, directory text, title text);"
      "CREATE TABLE message (id text PRIMARY KEY, session_id text, data text);"
      "CREATE TABLE part (id text PRIMARY KEY, message_id text, data text);");
  database().run("INSERT INTO session VALUES('ses 1/../x', '/a', 'Old'), (NULL, 7, x'ff00')");
  database().run(
      "INSERT INTO message VALUES('m1', 'ses 1/../x', '{\"role\":\"user\"}'), ('m2', 'ses 1/../x', "
      "'{torn'), ('m3', 'ses 1/../x', '{\"role\":\"user\"}')");
  database().run(
      "INSERT INTO part VALUES('p1', 'm1', '{\"type\":\"text\",\"text\":\"One\"}'), ('p2', 'm1', "
      "'[1]'), ('p3', 'm3', '{\"type\":\"text\",\"text\":\"Three\"}')");
  open("opencode", "opencode.db");
  const Lines listed = sessions();
  ASSERT_EQ(listed.size(), 2U);
  const auto old = std::ranges::find_if(
      listed, [](const std::string& line) { return line.find("Old") != std::string::npos; });
  ASSERT_NE(old, listed.end());
  const std::string id = old->substr(0, old->find(' '));
  EXPECT_EQ(transcript(id), (Lines{"user: One", "user: Three"}));
  EXPECT_EQ(damage(id).size(), 2U);
}

TEST_F(OpencodeTest, TheOlderFilesAreRead) {
  write("storage/session/p/ses_1.json",
        {"{'id':'other','title':'Files','directory':'/d','time':{'created':1763600000000,'updated':"
         "1763600000000}}"});
  write("storage/message/ses_1/msg_1.json", {"{'role':'user','time':{'created':1763600000000}}"});
  write("storage/part/msg_1/prt_1.json", {"{'type':'text','text':'Why?'}"});
  write("storage/part/msg_1/prt_2.json", {"{'type':'te"});
  write("storage/message/ses_1/msg_2.json",
        {"{'role':'assistant','modelID':'m','time':{'created':1,'completed':2}}"});
  write("storage/part/msg_2/prt_3.json", {"{'type':'text','text':'So.'}"});
  write("storage/todo/ses_1.json", {"[{'content':'Do','status':'completed'}]"});
  open("opencode");
  EXPECT_EQ(sessions(), Lines{"ses_1 Files (2+)"});
  EXPECT_EQ(transcript("ses_1"), (Lines{"user: Why?", "assistant: So."}));
  EXPECT_EQ(damage("ses_1").size(), 1U);
}

TEST_F(OpencodeTest, TheFilesOfTheFirstVersionsAreRead) {
  const std::string folder = "project/home-a-x/storage/session/";
  write(folder + "info/ses_1.json",
        {"{'title':'First','time':{'created':1763600000000,'updated':1763600000000}}"});
  write(folder + "message/ses_1/msg_1.json", {"{'role':'user','time':{'created':1763600000000}}"});
  write(folder + "part/ses_1/msg_1/prt_1.json", {"{'type':'text','text':'Why?'}"});
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "opencode");
  open("opencode");
  EXPECT_EQ(sessions(), Lines{"ses_1 First (1+)"});
  EXPECT_EQ(transcript("ses_1"), Lines{"user: Why?"});
}

TEST_F(OpencodeTest, AnExportWithoutAProjectIsRecognised) {
  write("a.json", {"{'info':{'id':'ses_1','title':'Exported'},'messages':[]}"});
  EXPECT_EQ(must(source_kind_of((location() / "a.json").native()))->name, "opencode");
}

TEST_F(OpencodeTest, AnExportIsRead) {
  write(
      "a.json",
      {"{'info':{'id':'ses_1','projectID':'p','title':'Exported','time':{'created':1763600000000,"
       "'updated':1763600000000}},'messages':[{'info':{'id':'msg_1','role':'user'},'parts':[{'id':"
       "'p','type':'text','text':'Why?'}]}]}"});
  open("opencode", "a.json");
  EXPECT_EQ(sessions(), Lines{"ses_1 Exported (1+)"});
  EXPECT_EQ(transcript("ses_1"), Lines{"user: Why?"});
  EXPECT_EQ(must(source_kind_of((location() / "a.json").native()))->name, "opencode");
}

TEST_F(OpencodeTest, EntriesOfAnExportThatAreNoMessagesAreDamage) {
  write("a.json",
        {"{'info':{'id':'ses_1','projectID':'p','title':'Exported','time':{'created':1763600000000,"
         "'updated':1763600000000}},'messages':[17,{'parts':[]},{'info':'x','parts':[]},{'info':{'"
         "id':"
         "'msg_1','role':'user'},'parts':[{'id':'p','type':'text','text':'Why?'}]}]}"});
  open("opencode", "a.json");
  EXPECT_EQ(transcript("ses_1"), Lines{"user: Why?"});
  EXPECT_EQ(damage("ses_1").size(), 3U);
}

TEST_F(OpencodeTest, ItsFolderIsRecognisedAndKiloIsToldByItsName) {
  session_row("ses_1", "Talk");
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "opencode");
  std::filesystem::copy_file(location() / "opencode.db", location() / "kilo.db");
  database_.reset();
  std::filesystem::copy_file(location() / "opencode.db", location() / "kilo.db",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(must(source_kind_of((location() / "kilo.db").native()))->name, "kilo");
}

TEST_F(OpencodeTest, ADamagedDatabaseDoesNotHideTheOthers) {
  session_row("ses_1", "Talk");
  question("ses_1", "msg_1", "Why?");
  database_.reset();
  std::filesystem::copy_file(location() / "opencode.db", location() / "opencode-a.db");
  open("opencode");
  std::ofstream(location() / "opencode-a.db") << std::string(5000, 'x');
  append("noted", "");
  EXPECT_EQ(sessions(), Lines{"ses_1 Talk (1+)"});
  EXPECT_EQ(must(source().list({})).damage.size(), 1U);
  EXPECT_EQ(transcript("ses_1"), Lines{"user: Why?"});
  EXPECT_FALSE(source().find(must(SessionId::parse("ses_2")))) << "it may be in another one";
}

TEST_F(OpencodeTest, DatabasesThatCannotBeOpenedDoNotHideTheOthers) {
  session_row("ses_1", "Talk");
  database_.reset();
  for (const char* const name : {"opencode-a.db", "other.db"}) {
    std::filesystem::copy_file(location() / "opencode.db", location() / name);
    std::filesystem::create_symlink("nowhere", location() / cat(name, "-wal"));
  }
  std::ofstream(location() / "opencode-b.db") << std::string(5000, 'x');
  PlainDatabase(location() / "opencode-c.db").run("CREATE TABLE other(x)");
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "opencode");
  open("opencode");
  EXPECT_EQ(sessions(), Lines{"ses_1 Talk (0+)"});
  EXPECT_EQ(must(source().list({})).damage.size(), 3U);
  EXPECT_FALSE(source().find(must(SessionId::parse("ses_2")))) << "it may be in another one";
}

TEST_F(OpencodeTest, ADatabaseThatCannotBeOpenedIsAnErrorWhereItIsTheOnlyOne) {
  session_row("ses_1", "Talk");
  database_.reset();
  std::filesystem::create_symlink("nowhere", location() / "opencode.db-wal");
  EXPECT_FALSE(source_kind_of(location().native()));
  open("opencode");
  EXPECT_FALSE(source().list({}));
}

TEST_F(OpencodeTest, RequestsThatAForkRepeatsAreTheSame) {
  for (const std::string id : {"ses_1", "ses_2"}) {
    session_row(id, "Talk");
    question(id, id + "_1", "Why?");
    answer(id, id + "_2", "So.");
    answer(id, id + "_3", "More.", "'created':1763600001000,'completed':1763600002000");
  }
  open("opencode");
  std::set<std::string> requests;
  for (const std::string id : {"ses_1", "ses_2"}) {
    EXPECT_EQ(session(id).usage.input.value, 36);
    for (const Message& message : must(read_all(source(), must(SessionId::parse(id))))) {
      requests.insert(message.usage ? message.usage->request_id : "");
    }
  }
  EXPECT_EQ(requests.size(), 3U) << "with that of the questions";
}

TEST_F(OpencodeTest, ACommandThatTheUserRanIsTheirs) {
  session_row("ses_1", "Talk");
  message_row("ses_1", "msg_1", "{'role':'user'}");
  part_row("msg_1", "prt_1",
           "{'type':'text','text':'The following tool was executed by the user','synthetic':true}");
  const std::string call =
      "{'type':'tool','callID':'c','tool':'bash','state':{'status':'completed','input':{'command':"
      "'ls'},'output':'a.txt','title':''}}";
  for (const std::string id : {"2", "3"}) {
    message_row("ses_1", "msg_" + id,
                cat("{'role':'assistant','modelID':'m','time':{'created':1,'completed':2},"
                    "'tokens':{'input':0,'output':0}",
                    id == "3" ? ",'finish':'tool-calls'}" : "}"));
    part_row("msg_" + id, "prt_" + id, call);
  }
  open("opencode");
  EXPECT_EQ(transcript("ses_1"),
            (Lines{"*user: The following tool was executed by the user", "user: $ ls\na.txt",
                   "assistant: call bash c {\"command\":\"ls\"}", "tool: c = a.txt"}));
  EXPECT_EQ(must(read_all(source(), must(SessionId::parse("ses_1")))).at(1).model, "");
}

TEST_F(OpencodeTest, AnAnswerAtTheTokenLimitIsCut) {
  session_row("ses_1", "Talk");
  answer("ses_1", "msg_1", "A", "'created':1,'completed':2", ",'finish':'length'");
  answer("ses_1", "msg_2", "B", "'created':1,'completed':2",
         ",'error':{'name':'MessageOutputLengthError'}");
  answer("ses_1", "msg_3", "C", "'created':1,'completed':2", ",'finish':'stop'");
  open("opencode");
  EXPECT_EQ(transcript("ses_1"),
            (Lines{"assistant (cut): A", "assistant (cut): B", "assistant: C"}));
}

// What does not fit into memory is read again.
TEST_F(OpencodeTest, MessagesOfLargeSessionsAreReadWhenTheyAreNeeded) {
  write("storage/session/p/ses_1.json", {"{'title':'Files'}"});
  for (const std::string id : {"1", "2", "3"}) {
    write(cat("storage/message/ses_1/msg_", id, ".json"), {"{'role':'user'}"});
    write(cat("storage/part/msg_", id, "/prt_1.json"),
          {cat("{'type':'text','text':'", id, std::string(9'000'000, 'x'), "'}")});
  }
  open("opencode");
  std::string first_letters;
  const auto report = must(source().read(must(SessionId::parse("ses_1")), {}, [&](Message&& one) {
    if (first_letters.empty()) {
      std::filesystem::remove_all(location() / "storage/part/msg_3");
    }
    first_letters += plain_text(one).substr(0, 1);
    return Flow::proceed;
  }));
  append("noted", "");
  EXPECT_EQ(first_letters, "12");
  EXPECT_EQ(report.damage.size(), 1U);
}

TEST_F(OpencodeTest, FilesRemovedDuringReadingAreStillRead) {
  write("storage/session/p/ses_1.json", {"{'title':'Files'}"});
  for (const std::string id : {"1", "2"}) {
    write(cat("storage/message/ses_1/msg_", id, ".json"), {"{'role':'user'}"});
    write(cat("storage/part/msg_", id, "/prt_1.json"), {cat("{'type':'text','text':'", id, "'}")});
  }
  open("opencode");
  Lines texts;
  const auto report = must(source().read(must(SessionId::parse("ses_1")), {}, [&](Message&& one) {
    std::filesystem::remove_all(location() / "storage/message");
    texts.push_back(plain_text(one));
    return Flow::proceed;
  }));
  append("noted", "");
  EXPECT_EQ(texts, (Lines{"1", "2"}));
  EXPECT_EQ(report.damage.size(), 0U);
}

TEST_F(OpencodeTest, ACostOf0IsACost) {
  session_row("ses_1", "Talk");
  question("ses_1", "msg_1", "Why?");
  message_row("ses_1", "msg_2",
              "{'role':'assistant','providerID':'local','modelID':'m','time':{'created':1,"
              "'completed':2},'cost':0,'tokens':{'input':10,'output':5}}");
  part_row("msg_2", "p", "{'type':'text','text':'So.'}");
  open("opencode");
  ASSERT_TRUE(session("ses_1").usage.cost);
  EXPECT_EQ(session("ses_1").usage.cost->str(), "0");
}

}  // namespace
}  // namespace reprise::test::opencode_history
