#pragma once

// Imports from a tool's folder into a store.

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "session/import.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::imports {

using Lines = std::vector<std::string>;

inline const std::string kFile = "sessions/--x--/2026-11-20T10-00-00-000Z_one.jsonl";
inline constexpr std::string_view kHeader =
    "{'type':'session','version':3,'id':'one','timestamp':'2026-11-20T10:00:00.000Z',"
    "'cwd':'/home/a/x'}";

inline std::string entry(int id, int parent, std::string_view role, std::string_view text,
                         std::string_view more = "") {
  return cat("{'type':'message','id':'", id, "','parentId':", parent,
             ",'timestamp':'2026-11-20T10:", 10 + id, ":00.000Z','message':{'role':'", role,
             "','content':[{'type':'text','text':'", text, "'}]", more, "}}");
}
inline std::string named(int id, int parent, std::string_view role, std::string_view text,
                         std::string_view more = "") {
  std::string line = entry(id, parent, role, text, more);
  const std::string number = cat("'parentId':", parent, ",");
  const std::string name = parent == 0 ? "'parentId':null," : cat("'parentId':'", parent, "',");
  return line.replace(line.find(number), number.size(), name);
}

class ImportTest : public SourceTest {
 protected:
  // Imports all sessions of the tool; returns the outcome of each, and the number of new messages.
  Lines import_all() {
    Lines outcomes;
    SessionQuery query;
    query.children = true;
    for (const SessionInfo& info : must(source().list(query)).sessions) {
      const ImportedSession done = must(import_session(source(), "pi", *store_, info));
      outcomes.push_back(cat(to_string(done.outcome), " ", done.messages));
    }
    return outcomes;
  }
  // The texts of each session in the store's lists, or in its archive.
  std::vector<Lines> stored(std::vector<SessionState> states = {SessionState::active,
                                                                SessionState::closed}) {
    std::vector<Lines> all;
    for (const SessionInfo& info : must(store_->list({.states = std::move(states)})).sessions) {
      Lines texts;
      for (const Message& message : must(read_all(*store_, info.id))) {
        texts.push_back(plain_text(message));
      }
      all.push_back(texts);
    }
    return all;
  }

  TemporaryFolder own_;
  std::unique_ptr<Store> store_ = must(open_store("sqlite:" + (own_.path() / "own.db").native()));
};

}  // namespace reprise::test::imports
