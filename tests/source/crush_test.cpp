#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "source/source_fixture.h"
#include "sqlite/sqlite_support.h"
#include "support/must.h"

namespace reprise::test::crush_history {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kSchema = R"(
CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER);
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
  message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0,
  updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
  parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT,
  is_summary_message INTEGER DEFAULT 0 NOT NULL);
CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT, path TEXT, content TEXT);
CREATE TRIGGER update_sessions_updated_at AFTER UPDATE ON sessions BEGIN
  UPDATE sessions SET updated_at = 1 WHERE id = new.id; END;
)";

class CrushTest : public SourceTest {
 protected:
  void fill(std::string_view sql) {
    std::filesystem::create_directories(location() / ".crush");
    PlainDatabase(location() / ".crush" / "crush.db").run(std::string(sql));
  }
};

TEST_F(CrushTest, MessagesAreThereInTheirOrder) {
  fill(kSchema);
  fill(R"(
INSERT INTO sessions VALUES('s1', NULL, 'Named', 4, 30, 9, 0.125, 1767323099, 1767323045, 'm5',
  '[{"content":"Do","status":"in_progress","active_form":"Doing"}]');
INSERT INTO sessions VALUES('title-s1', 's1', 'Generate a title', 1, 0, 0, 0, 1767323045, 1767323045,
  NULL, NULL), ('m2$$c1', 's1', 'Agent', 1, 0, 0, 0, 1767323045, 1767323045, NULL, NULL);
INSERT INTO messages(id, session_id, role, parts, model, provider, created_at, updated_at,
  is_summary_message) VALUES
 ('m1', 's1', 'user', '[{"type":"text","data":{"text":"Why?"}},{"type":"binary","data":{"Path":"a.png",
  "MIMEType":"image/png","Data":"AAAA"}}]', '', '', 1767323045, 0, 0),
 ('m2', 's1', 'assistant', '[{"type":"reasoning","data":{"thinking":"hm","signature":"s"}},{"type":
  "tool_call","data":{"id":"c1","name":"bash","input":"{\"x\":1.0}","finished":true}},{"type":"finish",
  "data":{"reason":"tool_use","time":1767323046}}]', 'c-1', 'anthropic', 1767323046, 0, 0),
 ('m3', 's1', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"c1","name":"bash","content":"done",
  "is_error":false}}]', '', '', 1767323046, 0, 0),
 ('m4', 's1', 'assistant', '[{"type":"text","data":{"text":"hal"}}]', 'c-1', 'anthropic', 1767323047, 0,
  0),
 ('m5', 's1', 'assistant', '[{"type":"text","data":{"text":"Summary"}},{"type":"finish","data":{"reason":
  "end_turn"}}]', 'c-1', 'anthropic', 1767323048, 0, 1),
 ('m6', 's1', 'user', '[{"type":"shell_command","data":{"command":"ls","output":"a","exit_code":0}},
  {"type":"of_tomorrow","data":{}}]', '', '', 1767323049, 0, 0);
)");
  open("crush");
  EXPECT_EQ(sessions(), Lines{"s1 Named (6)"});
  EXPECT_EQ(sessions(true).size(), 2U);
  EXPECT_EQ(transcript("s1"),
            (Lines{"user: Why? | [image/png data:image/png;base64,AAAA]",
                   "assistant: (thinking) hm | call bash c1 {\"x\":1.0}", "tool: c1 = done",
                   "assistant (cut): hal", "*assistant: Summary", "user: $ ls\na | ?of_tomorrow"}));
  EXPECT_EQ(summaries("s1"), Lines{"Summary"});
  const Session found = session("s1");
  EXPECT_EQ(found.info.working_dir, location().native());
  EXPECT_EQ(found.usage.cost->str(), "0.125");
  EXPECT_EQ(format_time(found.info.created_at), "2026-01-02T03:04:05Z");
  const auto todos = must(source().capabilities().todo_reader->todos(must(SessionId::parse("s1"))));
  ASSERT_EQ(todos.size(), 1U);
  EXPECT_EQ(todos[0].active_form, "Doing");
}

TEST_F(CrushTest, AnOlderSchemaAndHostileValuesAreNoEnd) {
  fill(
      "CREATE TABLE sessions (id, title, prompt_tokens);"
      "CREATE TABLE messages (id, session_id, role, parts, finished_at);"
      "INSERT INTO sessions VALUES('s1', x'00ff1b5b', -5), (NULL, NULL, 'many');"
      "INSERT INTO messages VALUES('a', 's1', 'user', "
      "'[{\"type\":\"text\",\"data\":{\"text\":\"Hi\"}}]',"
      " 1), ('b', 's1', 'user', '[[[', 1), ('c', 's1', 7, '[7,{\"type\":8},\"x\"]', 1)");
  open("crush");
  EXPECT_EQ(sessions().size(), 2U);
  EXPECT_EQ(transcript("s1").front(), "user: Hi");
  EXPECT_EQ(damage("s1").size(), 1U);
}

TEST_F(CrushTest, TheListOfProjectsLeadsToAll) {
  fill(kSchema);
  fill(
      "INSERT INTO sessions VALUES('s1', NULL, 'One', 0, 0, 0, 0, 1, 1, NULL, NULL);"
      "INSERT INTO messages(id, session_id, role, created_at, updated_at) VALUES('m', 's1', "
      "'user', 1, 1)");
  const auto list_project = [this](const std::string& folder, std::string_view data) {
    write(folder + "/projects.json", {cat("{'projects':[{'path':'", location().native(), "'", data,
                                          "},{'path':'/nowhere/at/all'}]}")});
  };
  list_project("usual", "");
  list_project("relative", ",'data_dir':'.crush'");
  list_project("absolute", cat(",'data_dir':'", (location() / ".crush").native(), "'"));
  for (const char* const folder : {"usual", "relative", "absolute"}) {
    open("crush", folder);
    EXPECT_EQ(sessions(), Lines{"s1 One (1)"}) << folder;
  }
}

TEST_F(CrushTest, ProjectsAreAddedWhileItIsOpen) {
  fill(kSchema);
  fill("INSERT INTO sessions VALUES('s1', NULL, 'One', 0, 0, 0, 0, 1, 1, NULL, NULL)");
  const TemporaryFolder folder;
  const auto list_projects = [&folder](std::string_view projects) {
    must(replace_file(folder.path() / "projects.json", cat(R"({"projects":[)", projects, "]}")));
  };
  list_projects("");
  const auto source = must(open_source(cat("crush:", folder.path().native())));
  EXPECT_TRUE(must(source->list({})).sessions.empty());
  list_projects(cat(R"({"path":")", location().native(), R"("})"));
  EXPECT_EQ(must(source->list({})).sessions.size(), 1U);
}

TEST_F(CrushTest, ProjectsWithTheSameDatabaseAreRead) {
  fill(kSchema);
  fill("INSERT INTO sessions VALUES('s1', NULL, 'One', 0, 0, 0, 0, 1, 1, NULL, NULL)");
  const std::string data = (location() / ".crush").native();
  write("list/projects.json",
        {cat("{'projects':[{'path':'", location().native(), "/sub','data_dir':'", data,
             "'},{'path':'", location().native(), "','data_dir':'", data, "'}]}")});
  open("crush", "list");
  EXPECT_EQ(sessions(), Lines{"s1 One (0)"});
  EXPECT_EQ(session("s1").info.working_dir, location().native());
}

TEST_F(CrushTest, WhatTheProgramAsksAfterACompactionIsInjected) {
  fill(kSchema);
  fill(
      "INSERT INTO sessions VALUES('s1', NULL, '', 0, 0, 0, 0, 1, 1, NULL, NULL);"
      "INSERT INTO messages(id, session_id, role, parts, created_at, updated_at) VALUES('m1', 's1',"
      " 'user', '[{\"type\":\"text\",\"data\":{\"text\":\"The previous session was interrupted"
      " because it got too long, the initial user request was: `Why?`\"}}]', 1, 1), ('m2', 's1',"
      " 'user', '[{\"type\":\"text\",\"data\":{\"text\":\"And?\"}}]', 2, 2)");
  open("crush");
  const Lines lines = transcript("s1");
  EXPECT_EQ(lines.at(0).substr(0, 19), "*user: The previous");
  EXPECT_EQ(lines.at(1), "user: And?");
  EXPECT_EQ(session("s1").info.title, "And?");
}

TEST_F(CrushTest, TheCostOfSubAgentsIsTheirs) {
  fill(kSchema);
  fill(R"(
INSERT INTO sessions VALUES('s1', NULL, 'One', 0, 0, 0, 0.75, 1, 1, NULL, NULL),
 ('m$$a', 's1', 'Agent', 0, 0, 0, 0.25, 1, 1, NULL, NULL),
 ('m$$b', 's1', 'Agent', 0, 0, 0, 0.125, 1, 1, NULL, NULL),
 ('s2', NULL, 'Two', 0, 0, 0, 0.5, 1, 1, NULL, NULL);
)");
  open("crush");
  EXPECT_EQ(session("s1").usage.cost->str(), "0.375");
  EXPECT_EQ(session("s2").usage.cost->str(), "0.5");
}

TEST_F(CrushTest, AttachedFilesAreRead) {
  fill(kSchema);
  fill(R"(
INSERT INTO sessions VALUES('s1', NULL, 'One', 0, 0, 0, 0, 1, 1, NULL, NULL);
INSERT INTO messages(id, session_id, role, parts, created_at, updated_at) VALUES
 ('m1', 's1', 'user', '[{"type":"text","data":{"text":"See"}},{"type":"binary","data":{"Path":"a.txt",
  "MIMEType":"text/plain","Data":"SGVsbG8K"}},{"type":"binary","data":{"Path":"b.txt","MIMEType":
  "text/plain","Data":"/w=="}}]', 1, 1),
 ('m2', 's1', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"c1","content":"a","mime_type":
  "application/pdf","data":"AAAA"}},{"type":"tool_result","data":{"tool_call_id":"c2","content":"b",
  "mime_type":"audio/wav","data":"AAAA"}}]', 2, 2);
)");
  open("crush");
  EXPECT_EQ(transcript("s1"),
            (Lines{"user: See | Hello\n | ?binary",
                   "tool: c1 = a | [application/pdf data:application/pdf;base64,AAAA] | c2 = b |"
                   " ?unknown"}));
}

TEST_F(CrushTest, ItIsRecognised) {
  fill(kSchema);
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "crush");
  EXPECT_EQ(must(source_kind_of((location() / ".crush/crush.db").native()))->name, "crush");
}

TEST_F(CrushTest, AListHasWhatTheSessionsHave) {
  fill(kSchema);
  fill(R"(
INSERT INTO sessions VALUES('s1', NULL, 'Untitled Session', 2, 0, 0, 0, 1767323099, 1767323045, NULL, NULL);
INSERT INTO messages(id, session_id, role, parts, model, provider, created_at, updated_at) VALUES
 ('m1', 's1', 'user', '[{"type":"text","data":{"text":"Why?"}}]', '', '', 1767323045, 0),
 ('m2', 's1', 'assistant', '[{"type":"text","data":{"text":"So."}}]', 'c-1', 'anthropic', 1767323046, 0);
)");
  open("crush");
  const SessionInfo listed = must(source().list({})).sessions.at(0);
  const SessionInfo found = session("s1").info;
  EXPECT_EQ(cat(listed.title, listed.provider, listed.model), "Why?anthropicc-1");
  EXPECT_EQ(cat(found.title, found.provider, found.model), "Why?anthropicc-1");
}

}  // namespace
}  // namespace reprise::test::crush_history
