// Statements of docs/formats/postgres.md, checked with plain SQL.

#include <gtest/gtest.h>

#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/postgres/schema.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

class PostgresFormat : public testing::Test {
 protected:
  std::string one(std::string_view sql) const { return query(url_, sql); }
  // The rows of one column, one per line.
  std::string rows(std::string_view sql) const {
    return query(url_, cat("SELECT coalesce(string_agg(x, E'\n'), '') FROM (", sql, ") AS t(x)"));
  }

  std::string url_ = new_database();
  std::unique_ptr<Store> store_ = must(open_store(url_));
  SessionId id_ = session_id("s");
};

TEST_F(PostgresFormat, TablesHaveTheDocumentedKeys) {
  EXPECT_EQ(rows("SELECT tc.table_name || '(' || string_agg(k.column_name, ', ' ORDER BY"
                 " k.ordinal_position) || ')' FROM information_schema.table_constraints AS tc JOIN"
                 " information_schema.key_column_usage AS k USING (constraint_name, table_name)"
                 " WHERE tc.constraint_type = 'PRIMARY KEY' AND tc.table_schema = 'public'"
                 " GROUP BY tc.table_name ORDER BY tc.table_name"),
            "reprise_artefacts(tenant, session_id, step, name, part)\n"
            "reprise_blob_refs(tenant, session_id, hash)\n"
            "reprise_blobs(tenant, hash, part)\n"
            "reprise_branches(tenant, session_id, branch)\n"
            "reprise_deltas(tenant, session_id, answer, piece, part)\n"
            "reprise_heads(tenant, session_id)\n"
            "reprise_indexed(tenant, session_id)\n"
            "reprise_indexing(tenant)\n"
            "reprise_message_parts(tenant, session_id, branch, seq, part)\n"
            "reprise_messages(tenant, session_id, branch, seq)\n"
            "reprise_once(tenant, session_id, name)\n"
            "reprise_schema(version)\n"
            "reprise_sessions(tenant, session_id)\n"
            "reprise_values(tenant, session_id, name, part)\n"
            "reprise_words(tenant, session_id, branch, seq)");
  EXPECT_EQ(rows("SELECT version::text FROM reprise_schema"), "6");
}

TEST_F(PostgresFormat, ASessionIsAHeadARowAndValues) {
  Session whole = full_session("s");
  whole.info.state = SessionState::closed;
  whole.info.working_dir = cat("/", std::string(300, 'd'));
  must(store_->create(whole));
  EXPECT_EQ(one("SELECT head || ' ' || branch || ' ' || state || ' ' || (updated_slot = updated_us"
                " >> 26) FROM reprise_heads"),
            "0 0 1 true");
  EXPECT_EQ(one("SELECT convert_from(substr(folder, 1, 7), 'UTF8') || ' ' || length(folder)"
                " FROM reprise_heads"),
            "sha256: 71");
  EXPECT_EQ(one("SELECT (title_start = substr(title_lower, 1, 200)) || ' ' || (mode_key = mode)"
                " FROM reprise_heads JOIN reprise_sessions USING (tenant, session_id)"),
            "true true");
  EXPECT_EQ(one("SELECT convert_from(title_lower, 'UTF8') FROM reprise_sessions"),
            ascii_lower(whole.info.title));
  EXPECT_EQ(rows("SELECT DISTINCT name FROM reprise_values ORDER BY name"),
            "config\nextra\nprompt_history\nresponse_chain\nsystem_prompt");
  must(store_->capabilities().todos->edit_todos(id_, [](std::vector<Todo>& todos) -> Result<> {
    todos.push_back({"do it", TodoStatus::pending, "", {}});
    return {};
  }));
  EXPECT_EQ(one("SELECT count(*) FROM reprise_values WHERE name = 'todos'"), "1");
  must(store_->capabilities().trash->trash(id_, at(5)));
  EXPECT_EQ(one("SELECT h.state || ' ' || s.state_before_trash || ' ' || (s.trashed_us > 0)"
                " FROM reprise_heads AS h JOIN reprise_sessions AS s USING (session_id)"),
            "3 1 true");
}

TEST_F(PostgresFormat, LongContentsAreStoredInParts) {
  must(store_->create(session("s")));
  must(store_->append(id_, {user("short"), user(std::string(600'000, 'x'))}, {}));
  EXPECT_EQ(rows("SELECT seq || ' ' || more || ' ' || (detail IS NULL) || ' ' ||"
                 " (length(content) <= 262144) FROM reprise_messages ORDER BY seq"),
            "0 0 true true\n1 2 true true");
  EXPECT_EQ(rows("SELECT seq || ' ' || part || ' ' || (length(bytes) <= 262144)"
                 " FROM reprise_message_parts ORDER BY part"),
            "1 1 true\n1 2 true");
}

TEST_F(PostgresFormat, OperationsHaveNames) {
  must(store_->create(session("s")));
  Message answer = assistant("a");
  answer.usage = usage("req-1", 1, 1);
  answer.usage->cache_written = {5};
  must(store_->append(id_, {user("q"), answer}, {.operation = operation_id("op")}));
  EXPECT_EQ(rows("SELECT convert_from(name, 'UTF8') || ' ' || first_seq || ' ' || head"
                 " FROM reprise_once WHERE name NOT LIKE 'operation:%-%'::bytea ORDER BY 1"),
            "operation:op 0 2\nrequest:req-1 0 2\nsum:cache_written 5 0");
}

TEST_F(PostgresFormat, ReplacingAndForkingCreateBranchesAndMoveNothing) {
  must(store_->create(session("s")));
  must(store_->append(id_, {user("1"), assistant("2")}, {}));
  must(store_->capabilities().rewriting->replace_suffix(id_, Seq{1}, {assistant("new")}, {}));
  must(store_->capabilities().forking->fork(id_, Seq{2}, session("child")));
  EXPECT_EQ(rows("SELECT session_id || ' ' || branch || ' ' || base_session || ' ' || base_branch"
                 " || ' ' || base_count FROM reprise_branches ORDER BY session_id DESC"),
            "s 1 s 0 1\nchild 0 s 1 2");
  EXPECT_EQ(rows("SELECT session_id || ' ' || branch || ' ' || seq FROM reprise_messages"
                 " ORDER BY branch, seq"),
            "s 0 0\ns 0 1\ns 1 1");
}

TEST_F(PostgresFormat, PiecesAreRemovedWithTheirAnswer) {
  must(store_->create(session("s")));
  must(store_->append(id_, {user("q")}, {.begin_partial = running_answer("a")}));
  for (const char* piece : {"one", "two"}) {
    must(store_->capabilities().partials->add_partial(id_, operation_id("a"),
                                                      std::vector<Block>{TextBlock{piece, {}}}));
  }
  EXPECT_EQ(one("SELECT answer || ' ' || (answer_start IS NOT NULL) FROM reprise_heads"), "a true");
  EXPECT_EQ(one("SELECT count(*) FROM reprise_deltas WHERE answer = 'a'"), "2");
  must(store_->append(id_, {assistant("onetwo")}, {.end_partial = operation_id("a")}));
  EXPECT_EQ(one("SELECT count(*) FROM reprise_deltas"), "0");
  EXPECT_EQ(one("SELECT answer IS NULL FROM reprise_heads"), "true");
}

TEST_F(PostgresFormat, BlobsAndArtefactsAreStoredInParts) {
  must(store_->create(session("s")));
  const BlobHash hash = must(store_->capabilities().blobs->put_blob(std::string(600'000, 'b')));
  EXPECT_EQ(rows("SELECT part || ' ' || length(bytes) || ' ' || (put_us > 0) || ' ' ||"
                 " (put_by <> '') FROM reprise_blobs ORDER BY part"),
            "0 262144 true true\n1 262144 true true\n2 75712 true true");
  Message named = user("see");
  named.blocks.emplace_back(ImageBlock{"image/png", hash, {}, {}});
  must(store_->append(id_, {named}, {}));
  EXPECT_EQ(one("SELECT session_id || ' ' || hash FROM reprise_blob_refs"), cat("s ", hash.str()));
  must(store_->capabilities().artefacts->save_artefact(id_, {1}, "log", std::string(300'000, 'a')));
  EXPECT_EQ(rows("SELECT step || ' ' || name || ' ' || part || ' ' || length(bytes)"
                 " FROM reprise_artefacts ORDER BY part"),
            "1 log 1 262144\n1 log 2 37856");
}

}  // namespace
}  // namespace reprise::test
