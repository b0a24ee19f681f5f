#include "source/histories.h"

#include <algorithm>
#include <fstream>
#include <ios>

#include "base/text.h"
#include "export/exported.h"
#include "sqlite/sqlite_support.h"
#include "support/build.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTime = "2026-11-20T10:00:00.000Z";

void write(const fs::path& file, std::string bytes) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

// ' stands for " in `json`.
void write_json(const fs::path& file, std::string json) {
  std::ranges::replace(json, '\'', '"');
  write(file, std::move(json));
}

// The texts of each question and answer, in order.
std::string joined_turns(int exchanges, std::string_view between,
                         const std::function<std::string(int at, bool is_answer)>& spell) {
  std::string out;
  for (int at = 0; at < 2 * exchanges; ++at) {
    out += cat(at == 0 ? std::string_view() : between, spell(at, at % 2 == 1));
  }
  return out;
}

std::string words(int at, bool is_answer) {
  return cat(is_answer ? "answer " : "question ", at);
}

std::string before(int at, std::string_view none = "null") {
  return at == 0 ? std::string(none) : cat("'m", at - 1, "'");
}

// A session in the export format of a tool.
std::string exported_text(std::string_view format, int exchanges) {
  std::vector<Message> messages;
  for (int turn = 0; turn < exchanges; ++turn) {
    messages.push_back(user(words(2 * turn, false), at(2 * turn)));
    messages.push_back(assistant(words(2 * turn + 1, true), at(2 * turn + 1)));
    messages.back().model = cat("model ", turn);
  }
  return exported_as(format, std::move(messages)).text;
}

void write_claude(const fs::path& folder, int exchanges) {
  for (const auto& [id, count] : {std::pair("1", exchanges), std::pair("2", 1)}) {
    const std::string session = cat("0a1b2c3d-0000-4000-8000-00000000000", id);
    write_json(folder / "projects/-x" / cat(session, ".jsonl"),
               joined_turns(count, "", [&](int at, bool is_answer) {
                 return cat("{'type':'", is_answer ? "assistant" : "user", "','uuid':'m", at,
                            "','parentUuid':", before(at), ",'sessionId':'", session,
                            "','timestamp':'", kTime, "','cwd':'/x','message':{'role':'",
                            is_answer ? "assistant" : "user", "','content':'", words(at, is_answer),
                            "'}}\n");
               }));
  }
}

void write_codex(const fs::path& folder, int exchanges) {
  const auto name = [](int number) {
    return cat("rollout-2026-11-20T10-00-0", number, "-019a0000-0000-7000-8000-00000000000", number,
               ".jsonl");
  };
  write(folder / "sessions/2026/11/20" / name(1), exported_text("codex", exchanges));
  write(folder / "archived_sessions" / name(2), exported_text("codex", 1));
  // A fork of the first one.
  const fs::path fork = folder / "sessions/2026/11/20" / name(3);
  write_json(fork, cat("{'timestamp':'", kTime,
                       "','type':'session_meta','payload':{'id':"
                       "'019a0000-0000-7000-8000-000000000003','timestamp':'",
                       kTime,
                       "','cwd':'/x','originator':'t','cli_version':'0','history_base':{"
                       "'thread_id':'019a0000-0000-7000-8000-000000000001',"
                       "'end_ordinal_exclusive':9,'end_byte_offset':",
                       fs::file_size(folder / "sessions/2026/11/20" / name(1)),
                       "}}}\n{'timestamp':'", kTime,
                       "','type':'response_item','payload':{'type':'message','role':'user',"
                       "'content':[{'type':'input_text','text':'Other'}]}}\n"));
  write_json(folder / "session_index.jsonl",
             "{'id':'019a0000-0000-7000-8000-000000000001','thread_name':'Named'}\n");
}

void write_gemini(const fs::path& folder, int exchanges) {
  for (const auto& [number, count] : {std::pair(1, exchanges), std::pair(2, 1)}) {
    const std::string project = cat("x", number);
    write_json(folder / "tmp" / project / "chats/session-2026-11-20T10-00-6a1b2c3d.jsonl",
               cat("{'sessionId':'6a1b2c3d-0000-4000-8000-00000000000", number,
                   "','projectHash':'h','startTime':'", kTime, "'}\n",
                   joined_turns(count, "", [](int at, bool is_answer) {
                     return cat("{'id':'m", at, "','timestamp':'", kTime, "','type':'",
                                is_answer ? "gemini" : "user", "','content':'",
                                words(at, is_answer), "'}\n");
                   })));
    write(folder / "tmp" / project / ".project_root", "/x");
  }
}

void write_qwen(const fs::path& folder, int exchanges) {
  for (const auto& [id, count] : {std::pair("1", exchanges), std::pair("2", 1)}) {
    const std::string session = cat("7a1b2c3d-0000-4000-8000-00000000000", id);
    write_json(folder / "projects/-x/chats" / cat(session, ".jsonl"),
               joined_turns(count, "", [&](int at, bool is_answer) {
                 return cat("{'uuid':'m", at, "','parentUuid':", before(at), ",'sessionId':'",
                            session, "','timestamp':'", kTime, "','type':'",
                            is_answer ? "assistant" : "user",
                            "','cwd':'/x','version':'0','message':{'parts':[{'text':'",
                            words(at, is_answer), "'}]}}\n");
               }));
  }
}

void write_pi(const fs::path& folder, int exchanges) {
  for (const auto& [number, count] : {std::pair(1, exchanges), std::pair(2, 1)}) {
    write_json(
        folder / "sessions/--x--" /
            cat("2026-11-20T10-00-00-000Z_019a0000-0000-7000-8000-00000000000", number, ".jsonl"),
        cat("{'type':'session','version':3,'id':'019a0000-0000-7000-8000-00000000000", number,
            "','timestamp':'", kTime, "','cwd':'/x'}\n",
            joined_turns(count, "", [](int at, bool is_answer) {
              return cat("{'type':'message','id':'m", at, "','parentId':", before(at),
                         ",'timestamp':'", kTime, "','message':{'role':'",
                         is_answer ? "assistant" : "user", "','content':[{'type':'text','text':'",
                         words(at, is_answer), "'}]}}\n");
            })));
  }
}

void write_copilot(const fs::path& folder, int exchanges) {
  for (const auto& [number, count] : {std::pair(1, exchanges), std::pair(2, 1)}) {
    const fs::path session =
        folder / "session-state" / cat("8a1b2c3d-0000-4000-8000-00000000000", number);
    write_json(session / "events.jsonl",
               cat("{'type':'session.start','id':'s','parentId':null,'timestamp':'", kTime,
                   "','data':{'sessionId':'8a1b2c3d-0000-4000-8000-00000000000", number,
                   "','startTime':'", kTime, "','context':{'cwd':'/x'}}}\n",
                   joined_turns(count, "", [](int at, bool is_answer) {
                     return cat("{'type':'", is_answer ? "assistant" : "user", ".message','id':'m",
                                at, "','parentId':", before(at, "'s'"), ",'timestamp':'", kTime,
                                "','data':{'content':'", words(at, is_answer),
                                "','attachments':[{'assetId':'a", at,
                                "'}]}}\n{'type':'session.binary_asset','id':'b", at,
                                "','parentId':'m", at, "','timestamp':'", kTime,
                                "','data':{'assetId':'a", at, "','data':'iVBORw0KGgo='}}\n");
                   })));
    write(session / "workspace.yaml", "cwd: /x\nname: Named\n");
  }
}

// Each question comes with one of a sub-agent of its own.
void write_copilot_agents(const fs::path& folder, int exchanges) {
  const std::string id = "8a1b2c3d-0000-4000-8000-000000000001";
  write_json(
      folder / "session-state" / id / "events.jsonl",
      cat("{'type':'session.start','id':'s','parentId':null,'timestamp':'", kTime,
          "','data':{'sessionId':'", id, "','startTime':'", kTime, "','context':{'cwd':'/x'}}}\n",
          joined_turns(exchanges, "", [](int at, bool is_answer) {
            const std::string rest =
                cat("','parentId':", before(at, "'s'"), ",'timestamp':'", kTime,
                    "','data':{'content':'", words(at, is_answer), "'}");
            const std::string_view type = is_answer ? "assistant" : "user";
            return cat("{'type':'", type, ".message','id':'m", at, rest, "}\n{'type':'", type,
                       ".message','id':'a", at, rest, ",'agentId':'agent-", at / 2, "'}\n");
          })));
}

std::string spell_message(int at, bool is_answer) {
  return cat("{'id':'m", at, "','role':'", is_answer ? "assistant" : "user",
             "','ts':1763600000000,'content':[{'type':'text','text':'", words(at, is_answer),
             "'}]}");
}

void write_cline(const fs::path& folder, int exchanges) {
  for (const auto& [id, count] : {std::pair("a", exchanges), std::pair("b", 1)}) {
    const fs::path session = folder / "data/sessions" / cat("1763600000000_", id);
    write_json(session / cat(id, ".messages.json"),
               cat("{'messages':[", joined_turns(count, ",", spell_message), "]}"));
    write_json(session / cat(id, ".json"), "{'cwd':'/x','metadata':{'title':'Named'}}");
  }
}

void write_continue(const fs::path& folder, int exchanges) {
  for (const auto& [id, count] : {std::pair("a", exchanges), std::pair("b", 1)}) {
    write_json(folder / "sessions" / cat(id, ".json"),
               cat("{'sessionId':'", id, "','title':'T','workspaceDirectory':'/x','history':[",
                   joined_turns(count, ",",
                                [](int at, bool is_answer) {
                                  return cat("{'message':{'role':'",
                                             is_answer ? "assistant" : "user", "','content':'",
                                             words(at, is_answer), "'},'contextItems':[]}");
                                }),
                   "]}"));
  }
}

void write_aichat(const fs::path& folder, int exchanges) {
  for (const auto& [file, count] :
       {std::pair("sessions/a.yaml", exchanges), std::pair("agents/coder/sessions/b.yaml", 1)}) {
    write(folder / file,
          cat("model: a:b\nmessages:\n", joined_turns(count, "", [](int at, bool is_answer) {
                return cat("- role: ", is_answer ? "assistant" : "user",
                           "\n  content: ", words(at, is_answer), "\n");
              })));
  }
  write(folder / "messages.md",
        "# CHAT: Why? [2026-11-20T10:00:00+01:00]\nWhy?\n--------\nSo.\n--------\n\n");
}

void write_chatgpt(const fs::path& folder, int exchanges) {
  const auto conversation = [](std::string_view id, int count) {
    return cat("{'title':'T','create_time':1763600000.0,'update_time':1763600100.5,'mapping':{",
               joined_turns(count, ",",
                            [](int at, bool is_answer) {
                              return cat("'m", at, "':{'id':'m", at, "','parent':", before(at),
                                         ",'children':[],'message':{'id':'m", at,
                                         "','author':{'role':'", is_answer ? "assistant" : "user",
                                         "'},'create_time':1763600000.25,'content':{"
                                         "'content_type':'text','parts':['",
                                         words(at, is_answer), "']}}}");
                            }),
               "},'conversation_id':'", id, "','current_node':'m", 2 * count - 1, "'}");
  };
  write_json(folder / "conversations.json",
             cat("[", conversation("c1", exchanges), ",", conversation("c2", 1), "]"));
}

void write_claude_export(const fs::path& folder, int exchanges) {
  const auto conversation = [](std::string_view id, int count) {
    return cat("{'uuid':'", id, "','name':'T','created_at':'", kTime, "','updated_at':'", kTime,
               "','chat_messages':[",
               joined_turns(count, ",",
                            [](int at, bool is_answer) {
                              return cat("{'uuid':'m", at, "','sender':'",
                                         is_answer ? "assistant" : "human", "','created_at':'",
                                         kTime, "','content':[{'type':'text','text':'",
                                         words(at, is_answer), "'}]}");
                            }),
               "]}");
  };
  write_json(folder / "conversations.json",
             cat("[", conversation("c1", exchanges), ",", conversation("c2", 1), "]"));
}

void write_llamacpp(const fs::path& folder, int exchanges) {
  const auto conversation = [](std::string_view id, int count) {
    return cat("{'conv':{'id':'", id, "','name':'T','lastModified':1763600099000,'currNode':'m",
               2 * count - 1, "'},'messages':[",
               joined_turns(count, ",",
                            [&](int at, bool is_answer) {
                              return cat("{'id':'m", at, "','convId':'", id,
                                         "','type':'text','timestamp':1763600000123,'parent':",
                                         before(at), ",'role':'", is_answer ? "assistant" : "user",
                                         "','content':'", words(at, is_answer), "','children':[]}");
                            }),
               "]}");
  };
  write_json(folder / "a.json",
             cat("[", conversation("c1", exchanges), ",", conversation("c2", 1), "]"));
}

void write_exported(const fs::path& folder, int exchanges) {
  write(folder / "a.json", exported_text("json", exchanges));
}

// Inserts rows in one transaction.
void insert(PlainDatabase& database, int exchanges,
            const std::function<std::string(int at, bool is_answer)>& spell) {
  database.run("BEGIN");
  for (int at = 0; at < 2 * exchanges; ++at) {
    database.run(spell(at, at % 2 == 1));
  }
  database.run("COMMIT");
}

void write_opencode_database(const fs::path& folder, int exchanges) {
  PlainDatabase database(folder / "opencode.db");
  database.run(
      "CREATE TABLE project (id text PRIMARY KEY, worktree text, vcs text);"
      "CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text,"
      " directory text, title text, version text, revert text, time_created integer,"
      " time_updated integer, time_archived integer);"
      "CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer,"
      " time_updated integer, data text);"
      "CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text,"
      " time_created integer, time_updated integer, data text);"
      "CREATE INDEX part_message_idx ON part (message_id);"
      "INSERT INTO session(id, slug, directory, title, version, time_created, time_updated)"
      " VALUES('ses_1', 's', '/x', 'T', '1', 1763600000000, 1763600001000)");
  insert(database, exchanges, [](int at, bool is_answer) {
    const std::string id = cat("m", 1'000'000 + at);
    return cat("INSERT INTO message VALUES('", id, "', 'ses_1', ", at, ", 0, '{\"role\":\"",
               is_answer ? "assistant" : "user",
               "\",\"time\":{\"created\":1763600000000,\"completed\":1763600000900}}');"
               "INSERT INTO part VALUES('p",
               id, "', '", id, "', 'ses_1', 0, 0, '{\"type\":\"text\",\"text\":\"",
               words(at, is_answer), "\"}')");
  });
}

void write_opencode_folder(const fs::path& folder, int exchanges) {
  const fs::path storage = folder / "storage";
  for (const auto& [id, count] : {std::pair("ses_1", exchanges), std::pair("ses_2", 1)}) {
    write_json(storage / "session/p" / cat(id, ".json"),
               cat("{'id':'", id, "','title':'T','directory':'/x','time':{'created':1763600000000,",
                   "'updated':1763600001000}}"));
    write_json(storage / "todo" / cat(id, ".json"),
               "[{'content':'Do it','status':'pending','priority':'high'}]");
    for (int at = 0; at < 2 * count; ++at) {
      const bool is_answer = at % 2 == 1;
      const std::string message = cat(id, "_m", 1'000'000 + at);
      write_json(storage / "message" / id / cat(message, ".json"),
                 cat("{'id':'", message, "','role':'", is_answer ? "assistant" : "user",
                     "','time':{'created':1763600000000,'completed':1763600000900}}"));
      if (at % 8 < 2) {  // files take longer to write than to read
        write_json(storage / "part" / message / "p.json",
                   cat("{'id':'p','type':'text','text':'", words(at, is_answer), "'}"));
      }
    }
  }
}

void write_llm(const fs::path& folder, int exchanges) {
  PlainDatabase database(folder / "logs.db");
  database.run(
      "CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);"
      "CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT,"
      " prompt_json TEXT, options_json TEXT, response TEXT, response_json TEXT,"
      " conversation_id TEXT, duration_ms INTEGER, datetime_utc TEXT, input_tokens INTEGER,"
      " output_tokens INTEGER, token_details TEXT, schema_id TEXT, resolved_model TEXT);"
      "CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT,"
      " content BLOB);"
      "CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, \"order\" INTEGER,"
      " PRIMARY KEY (response_id, attachment_id));"
      "INSERT INTO conversations VALUES('c1', 'T', 'm')");
  insert(database, exchanges, [](int at, bool is_answer) {
    return is_answer ? cat("UPDATE responses SET response = '", words(at, true), "' WHERE id = 'r",
                           1'000'000 + at - 1, "'")
                     : cat("INSERT INTO responses(id, model, prompt, conversation_id, datetime_utc)"
                           " VALUES('r",
                           1'000'000 + at, "', 'm', '", words(at, false),
                           "', 'c1', '2026-01-02T03:04:05+00:00')");
  });
}

void write_goose(const fs::path& folder, int exchanges) {
  {
    PlainDatabase database(folder / "sessions.db");
    database.run(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type"
        " TEXT, working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP);"
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT,"
        " content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);"
        "CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY, session_id TEXT, created_timestamp"
        " INTEGER, model TEXT, input_tokens INTEGER, output_tokens INTEGER,"
        " cache_read_tokens INTEGER, cost REAL, is_compaction BOOLEAN);"
        "INSERT INTO sessions VALUES('1', 'T', '', 'user', '/x', '2026-01-02 03:04:05',"
        " '2026-01-02 03:05:05')");
    insert(database, exchanges, [](int at, bool is_answer) {
      const std::string time = cat(1'767'323'045 + at);
      return cat(
          "INSERT INTO messages(session_id, role, content_json, created_timestamp)"
          " VALUES('1', '",
          is_answer ? "assistant" : "user", "', '[{\"type\":\"text\",\"text\":\"",
          words(at, is_answer), "\"}]', ", time, ")",
          is_answer ? cat("; INSERT INTO usage_ledger(session_id, created_timestamp,"
                          " input_tokens) VALUES('1', ",
                          time, ", 5)")
                    : std::string());
    });
  }
  write_json(folder / "20250101_120000.jsonl",
             "{'working_dir':'/x','description':'','message_count':1}\n"
             "{'role':'user','created':1735732800,'content':[{'type':'text','text':'First'}]}\n");
}

void write_goose_files(const fs::path& folder, int exchanges) {
  for (const auto& [name, count] :
       {std::pair("20250101_120000.jsonl", exchanges), std::pair("20250101_130000.jsonl", 1)}) {
    write_json(folder / name, cat("{'working_dir':'/x','description':'T','message_count':2}\n",
                                  joined_turns(count, "", [](int at, bool is_answer) {
                                    return cat(
                                        "{'role':'", is_answer ? "assistant" : "user",
                                        "','created':1735732800,'content':[{'type':'text','text':'",
                                        words(at, is_answer), "'}]}\n");
                                  })));
  }
}

void write_crush_project(const fs::path& folder, int exchanges) {
  fs::create_directories(folder);
  PlainDatabase database(folder / "crush.db");
  database.run(
      "CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT,"
      " message_count INTEGER, prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL,"
      " updated_at INTEGER, created_at INTEGER, summary_message_id TEXT, todos TEXT);"
      "CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT,"
      " model TEXT, created_at INTEGER, updated_at INTEGER, finished_at INTEGER, provider TEXT,"
      " is_summary_message INTEGER DEFAULT 0 NOT NULL)");
  const std::string session = folder.parent_path().filename().native();
  database.run(cat("INSERT INTO sessions VALUES('", session,
                   "', NULL, 'T', 0, 0, 0, 0, 1767323099, 1767323045, NULL, NULL)"));
  insert(database, exchanges, [&](int at, bool is_answer) {
    return cat("INSERT INTO messages(id, session_id, role, parts, created_at) VALUES('m",
               1'000'000 + at, "', '", session, "', '", is_answer ? "assistant" : "user",
               "', '[{\"type\":\"text\",\"data\":{\"text\":\"", words(at, is_answer),
               "\"}},{\"type\":\"finish\",\"data\":{\"reason\":\"end_turn\"}}]', ",
               1'767'323'045 + at, ")");
  });
}

void write_crush(const fs::path& folder, int exchanges) {
  write_crush_project(folder / "one/.crush", exchanges);
  write_crush_project(folder / "two/.crush", 1);
  write_json(folder / "projects.json", cat("{'projects':[{'path':'", (folder / "one").native(),
                                           "'},{'path':'", (folder / "two").native(), "'}]}"));
}

void write_crush_of_project(const fs::path& folder, int exchanges) {
  write_crush_project(folder / ".crush", exchanges);
}

}  // namespace

const std::vector<History>& histories() {
  static const std::vector<History> all = {
      {"Claude", "claude", write_claude},
      {"Codex", "codex", write_codex},
      {"Gemini", "gemini", write_gemini},
      {"Qwen", "qwen", write_qwen},
      {"Pi", "pi", write_pi},
      {"Copilot", "copilot", write_copilot},
      {"CopilotAgents", "copilot", write_copilot_agents},
      {"OpencodeDatabase", "opencode", write_opencode_database},
      {"OpencodeFolder", "opencode", write_opencode_folder},
      {"Llm", "llm", write_llm},
      {"Goose", "goose", write_goose},
      {"GooseFiles", "goose", write_goose_files},
      {"Crush", "crush", write_crush},
      {"CrushProject", "crush", write_crush_of_project},
      {"Aichat", "aichat", write_aichat},
      {"Continue", "continue", write_continue},
      {"Cline", "cline", write_cline},
      {"Chatgpt", "chatgpt", write_chatgpt},
      {"ClaudeExport", "claude-export", write_claude_export},
      {"Llamacpp", "llamacpp", write_llamacpp},
      {"Exported", "exported", write_exported},
  };
  return all;
}

void write_branches(const std::filesystem::path& folder, int count, bool is_abandoned) {
  const auto line = [](std::string_view id, std::string_view parent) {
    return cat("{'type':'user','uuid':'", id, "','parentUuid':", parent,
               ",'sessionId':'0a1b2c3d-0000-4000-8000-000000000001','timestamp':'", kTime,
               "','cwd':'/x','message':{'role':'user','content':'word ", id, "'}}\n");
  };
  std::string lines;
  for (int at = 0; at < count; ++at) {
    lines += line(cat("m", at), before(at));
  }
  for (int leaf = 0; leaf < count; ++leaf) {
    lines += line(cat("leaf", leaf), before(count));
  }
  lines += is_abandoned ? line("other", "null") : "";
  write_json(folder / "projects/-x/0a1b2c3d-0000-4000-8000-000000000001.jsonl", std::move(lines));
}

}  // namespace reprise::test
