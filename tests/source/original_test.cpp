// Unchanged sessions of a tool are exported to it byte for byte, even via our own store; exports of
// Reprise are imported completely.
#include <fstream>
#include <ostream>
#include <random>
#include <sstream>

#include "base/text.h"
#include "base/zstd_library.h"
#include "engine/origin.h"
#include "reprise/capabilities.h"
#include "reprise/export.h"
#include "reprise/open_store.h"
#include "reprise/sessions.h"
#include "session/import.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test::originals {
namespace {

namespace fs = std::filesystem;

struct Sample {
  std::string_view tool;
  std::string_view file;  // in the tool's folder
  std::string_view bytes;
};

// Lines that are not messages, with unusual spelling, blank, malformed, torn.
constexpr std::string_view kOdd =
    "{ \"type\" : \"unheard-of\" , \"n\" : 1.50 "
    "}\r\n\n{\"type\":\"progress\",\"a\":\"\\u00e9\xE2\x80\xA8\"}\n"
    "not json\n{\"torn\":";

const Sample kSamples[] = {
    {"claude", "projects/-x/0a1b2c3d-0000-4000-8000-000000000001.jsonl",
     R"({"type":"user","uuid":"u1","parentUuid":null,"sessionId":"x","timestamp":"2026-11-20T10:00:00Z","message":{"role":"user","content":"Why\/not?"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"x","timestamp":"2026-11-20T10:00:01Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"So."}]}}
)"},
    {"codex",
     "sessions/2026/11/20/rollout-2026-11-20T05-00-00-01a208dc-faed-7b2b-97ef-067a33fdd6d9.jsonl",
     R"({"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"01a208dc-faed-7b2b-97ef-067a33fdd6d9","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/x","originator":"o","cli_version":"1"}}
{"timestamp":"2026-11-20T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Why?"}]}}
{"timestamp":"2026-11-20T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"So."}]}}
)"},
    {"gemini", "tmp/x/chats/session-2026-11-20T10-00-01a208dc.jsonl",
     R"({"sessionId":"01a208dc-faed-4b2b-97ef-067a33fdd6d9","projectHash":"h","startTime":"2026-11-20T10:00:00.000Z","lastUpdated":"2026-11-20T10:00:00.000Z"}
{"id":"u1","timestamp":"2026-11-20T10:00:01.000Z","type":"user","content":"Why?"}
{"id":"g1","timestamp":"2026-11-20T10:00:02.000Z","type":"gemini","content":"So."}
)"},
    {"pi", "sessions/--x--/2026-11-20T10-00-00-000Z_one.jsonl",
     R"({"type":"session","version":3,"id":"one","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/x"}
{"type":"message","id":"1","parentId":null,"timestamp":"2026-11-20T10:00:00Z","message":{"role":"user","content":"Why?"}}
{"type":"message","id":"2","parentId":"1","timestamp":"2026-11-20T10:00:01Z","message":{"role":"assistant","content":[{"type":"text","text":"So."}],"usage":{"input":5,"output":2}}}
)"},
};

void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.tool;
}

std::string bytes_of(const fs::path& file) {
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  return bytes.str();
}

class OriginalTest : public SourceTest, public testing::WithParamInterface<Sample> {
 protected:
  SessionId import_only() {
    const SessionInfo info = must(source().list({})).sessions.at(0);
    return must(import_session(source(), GetParam().tool, *store_, info)).id;
  }
  fs::path exported(Source& from, const SessionId& id) {
    return must(
        export_to_folder(from, id, format(), own_.path(), {.existing = ExistingFile::replaced}));
  }

  static const ExportFormat& format() { return *find_export_format(GetParam().tool); }

  TemporaryFolder own_;
  std::unique_ptr<Store> store_ = must(open_store("sqlite:" + (own_.path() / "own.db").native()));
};
INSTANTIATE_TEST_SUITE_P(Tools, OriginalTest, testing::ValuesIn(kSamples),
                         [](const auto& sample) { return std::string(sample.param.tool); });

TEST_P(OriginalTest, GoesBackByteForByte) {
  const std::string file(GetParam().file);
  append(file, cat(GetParam().bytes, kOdd));
  open(std::string(GetParam().tool));
  const SessionId id = import_only();
  const fs::path back = exported(*store_, id);
  EXPECT_EQ(back.filename(), fs::path(file).filename());
  EXPECT_EQ(bytes_of(back), cat(GetParam().bytes, kOdd));
  const Session session = must(get(*store_, id));
  const std::string id_there = must(exported_id(*store_, session, format()));
  EXPECT_TRUE(cat(file, GetParam().bytes).contains(id_there)) << id_there;
  // A session that has grown is exported in its current state.
  const std::string_view later =
      GetParam().tool == "gemini"
          ? R"({"id":"later","type":"user","content":"More","timestamp":"2026-11-21T10:00:00.000Z"})"
          : R"({"type":"noted","timestamp":"2026-11-21T10:00:00.000Z"})";
  append(file, cat("1}\n", std::string(9U << 20, ' '), "\n", later, "\n"));
  import_only();
  EXPECT_TRUE(bytes_of(exported(*store_, id)) == bytes_of(location() / file));
  import_only();
  EXPECT_TRUE(bytes_of(exported(*store_, id)) == bytes_of(location() / file));
}

TEST_P(OriginalTest, GoesBackFromTheToolsOwnPlace) {
  append(std::string(GetParam().file), cat(GetParam().bytes, kOdd));
  open(std::string(GetParam().tool));
  const SessionId id = must(source().list({})).sessions.at(0).id;
  EXPECT_EQ(bytes_of(exported(source(), id)), cat(GetParam().bytes, kOdd));
  OriginalReader& reader = *source().capabilities().original_reader;
  const std::size_t files = must(reader.originals(id)).size();
  const auto beyond = reader.read_original(id, files, 0, 1);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, Code::not_found);
}

// It may be larger than a piece.
TEST_F(SourceTest, ACompressedFileOfCodexGoesBackUncompressed) {
  const Sample& codex = kSamples[1];
  std::string bytes(codex.bytes);
  std::mt19937_64 random;  // NOLINT: the same bytes each time
  while (bytes.size() < 3 * kOriginalPieceBytes) {
    bytes += cat(R"({"type":"noted","payload":{"n":")", random(), random(), "\"}}\n");
  }
  append(cat(codex.file, ".zst"), zstd_packed(bytes));
  open("codex");
  const ExportFormat& format = *find_export_format("codex");
  const SessionInfo info = must(source().list({})).sessions.at(0);
  const TemporaryFolder own;
  const fs::path back = must(export_to_folder(source(), info.id, format, own.path(), {}));
  EXPECT_EQ(back.filename(), fs::path(codex.file).filename());
  EXPECT_TRUE(bytes_of(back) == bytes);
  const auto store = must(open_store("sqlite:" + (own.path() / "own.db").native()));
  const SessionId id = must(import_session(source(), codex.tool, *store, info)).id;
  EXPECT_TRUE(bytes_of(must(export_to_folder(*store, id, format, own.path(),
                                             {.existing = ExistingFile::replaced}))) == bytes);
}

TEST_P(OriginalTest, WhatHasGoneOnHereIsWrittenAnew) {
  append(std::string(GetParam().file), GetParam().bytes);
  open(std::string(GetParam().tool));
  const SessionId id = import_only();
  must(store_->append(id, {{.role = "user", .blocks = {text_block("More")}}}, {}));
  import_only();
  const std::string bytes = bytes_of(exported(*store_, id));
  EXPECT_NE(bytes, GetParam().bytes);
  EXPECT_TRUE(bytes.contains("More"));
}

TEST_P(OriginalTest, ARenamedSessionIsWrittenAnew) {
  append(std::string(GetParam().file), GetParam().bytes);
  open(std::string(GetParam().tool));
  const SessionId id = import_only();
  must(store_->update(id, {.title = "Another"}));
  EXPECT_NE(bytes_of(exported(*store_, id)), GetParam().bytes);
}

class ForkOriginalTest : public SourceTest {
 protected:
  TemporaryFolder own_;
};

// The file of a fork has only what follows the messages that it shares.
TEST_F(ForkOriginalTest, IsConverted) {
  const std::string folder = "sessions/2026/11/20/rollout-2026-11-20T10-00-00-";
  const std::string parent = "019a0000-0000-7000-8000-000000000001";
  const std::string child = "019a0000-0000-7000-8000-000000000002";
  const auto line = [](std::string_view type, std::string_view payload) {
    return cat("{'timestamp':'2026-11-20T10:00:00.000Z','ordinal':1,'type':'", type,
               "','payload':{", payload, "}}");
  };
  const auto prompt = [&](std::string_view text) {
    return line("response_item",
                cat("'type':'message','role':'user','content':[{'type':'input_text','text':'", text,
                    "'}]"));
  };
  const auto meta = [&](std::string_view id, std::string_view more) {
    return line("session_meta", cat("'id':'", id, "','cwd':'/x'", more));
  };
  write(cat(folder, parent, ".jsonl"), {meta(parent, ""), prompt("Shared")});
  const auto shared = fs::file_size(location() / cat(folder, parent, ".jsonl"));
  write(cat(folder, child, ".jsonl"),
        {meta(child, cat(",'forked_from_id':'", parent, "','history_base':{'thread_id':'", parent,
                         "','end_ordinal_exclusive':2,'end_byte_offset':", shared, "}")),
         prompt("Own")});
  open("codex");
  const ExportFormat& codex = *find_export_format("codex");
  const SessionId id = must(SessionId::parse(child));
  const std::string bytes = bytes_of(must(export_to_folder(source(), id, codex, own_.path(), {})));
  EXPECT_TRUE(bytes.contains("Shared") && bytes.contains("Own")) << bytes;
  // Likewise when it was imported.
  const auto store = must(open_store("sqlite:" + (own_.path() / "own.db").native()));
  SessionId there = id;
  for (const SessionInfo& info : must(source().list({})).sessions) {
    const SessionId imported = must(import_session(source(), "codex", *store, info)).id;
    there = info.id == id ? imported : there;
  }
  const std::string again = bytes_of(must(
      export_to_folder(*store, there, codex, own_.path(), {.existing = ExistingFile::replaced})));
  EXPECT_TRUE(again.contains("Shared") && again.contains("Own")) << again;
}

// ---- The format json

class ExportedJsonTest : public SourceTest {
 protected:
  std::unique_ptr<Store> new_store(std::string_view name) {
    return must(open_store(cat("sqlite:", (own_.path() / name).native())));
  }
  TemporaryFolder own_;
};

TEST_F(ExportedJsonTest, ComesBackWhole) {
  append(std::string(kSamples[0].file), cat(kSamples[0].bytes, kOdd));
  open("claude");
  const auto first = new_store("first.db");
  const SessionInfo info = must(source().list({})).sessions.at(0);
  const SessionId id = must(import_session(source(), "claude", *first, info)).id;
  must(first->capabilities().todos->edit_todos(id, [](std::vector<Todo>& todos) -> Result<> {
    todos.push_back({"Do", TodoStatus::in_progress, "Doing", {}});
    return {};
  }));
  const BlobHash blob = must(first->capabilities().blobs->put_blob("image"));
  must(first->append(id,
                     {{.role = "user",
                       .blocks = {ImageBlock{"image/png", blob, "", {}}},
                       .created_at = Time(std::chrono::seconds(1'700'000'000))}},
                     {}));
  must(first->update(id, {.title = "Another", .config = RawJson::parse("{\"a\":1.50}").value()}));
  const fs::path file =
      must(export_to_folder(*first, id, *find_export_format("json"), own_.path(), {}));

  const auto second = new_store("second.db");
  const auto exported = must(open_source(file.native()));
  const SessionPage page = must(exported->list({}));
  ASSERT_EQ(page.sessions.size(), 1U);
  const auto done = must(import_session(*exported, "exported", *second, page.sessions.front()));
  EXPECT_EQ(done.outcome, CopyOutcome::copied);
  EXPECT_EQ(done.damage, std::vector<std::string>());
  EXPECT_EQ(must(get(*second, id)), must(get(*first, id)));
  EXPECT_EQ(must(read_all(*second, id)), must(read_all(*first, id)));
  EXPECT_EQ(must(second->capabilities().todos->todos(id)),
            must(first->capabilities().todos->todos(id)));
  EXPECT_EQ(must(second->capabilities().artefacts->list_artefacts(id)),
            must(first->capabilities().artefacts->list_artefacts(id)));
  std::string bytes;
  must(second->capabilities().blobs->read_blob(blob, [&](std::string_view piece) {
    bytes += piece;
    return Flow::proceed;
  }));
  EXPECT_EQ(bytes, "image");
  EXPECT_EQ(must(import_session(*exported, "exported", *second, page.sessions.front())).outcome,
            CopyOutcome::unchanged);
}

TEST_F(ExportedJsonTest, ADamagedFileDoesNotHideTheImagesOfOthers) {
  const auto store = new_store("first.db");
  const SessionId id = must(SessionId::parse("one"));
  const BlobHash blob = must(store->capabilities().blobs->put_blob("image"));
  must(store->create({.info = {.id = id, .title = "one"}}));
  must(
      store->append(id, {{.role = "user", .blocks = {ImageBlock{"image/png", blob, "", {}}}}}, {}));
  must(export_to_folder(*store, id, *find_export_format("json"), location(), {}));
  append("0.json", "{\"format\":\"reprise\",\"version\":1,\n\"session\":{");
  open("exported");
  BlobReader& blobs = *source().capabilities().blob_reader;
  std::string bytes;
  must(blobs.read_blob(blob, [&](std::string_view piece) {
    bytes += piece;
    return Flow::proceed;
  }));
  EXPECT_EQ(bytes, "image");
  const BlobHash missing = must(store->capabilities().blobs->put_blob("another"));
  for (int i = 0; i < 2; ++i) {  // it may be in the damaged one
    EXPECT_TRUE(fails(blobs.read_blob(missing, [](std::string_view) { return Flow::proceed; }),
                      Code::corrupt));
  }
}

TEST_F(ExportedJsonTest, AnImageThatWasAddedToAFileIsFound) {
  const auto store = new_store("first.db");
  const SessionId id = must(SessionId::parse("one"));
  must(store->create({.info = {.id = id, .title = "one"}}));
  const auto add = [&](const BlobHash& blob) {
    must(store->append(id, {{.role = "user", .blocks = {ImageBlock{"image/png", blob, "", {}}}}},
                       {}));
  };
  const auto write_to = [&](const fs::path& folder) {
    return must(export_to_folder(*store, id, *find_export_format("json"), folder, {}));
  };
  add(must(store->capabilities().blobs->put_blob("image")));
  const fs::path file = write_to(location());
  open("exported");
  BlobReader& blobs = *source().capabilities().blob_reader;
  std::string bytes;
  const auto sink = [&](std::string_view piece) {
    bytes += piece;
    return Flow::proceed;
  };
  const BlobHash added = must(store->capabilities().blobs->put_blob("another"));
  EXPECT_TRUE(fails(blobs.read_blob(added, sink), Code::not_found));
  add(added);
  fs::copy_file(write_to(own_.path()), file, fs::copy_options::overwrite_existing);
  append(file.filename().native(), "");
  EXPECT_EQ(session("one").info.head, Seq{2});
  must(blobs.read_blob(added, sink));
  EXPECT_EQ(bytes, "another");
}

TEST_F(ExportedJsonTest, OfTwoExportsOfASessionTheNewerOneCounts) {
  const auto store = new_store("first.db");
  const SessionId id = must(SessionId::parse("one"));
  must(store->create(
      {.info = {.id = id, .title = "zeta", .updated_at = Time(std::chrono::seconds(1))}}));
  must(export_to_folder(*store, id, *find_export_format("json"), location(), {}));
  must(store->update(id, {.title = "alpha"}));
  must(store->append(
      id, {{.role = "user", .created_at = Time(std::chrono::seconds(1'700'000'000))}}, {}));
  must(export_to_folder(*store, id, *find_export_format("json"), location(), {}));
  open("exported");
  EXPECT_EQ(session("one").info.title, "alpha");
}

TEST_F(ExportedJsonTest, AFolderOfThemIsReadAndWhatIsNoneIsDamageOrLeft) {
  const auto store = new_store("first.db");
  for (const char* const id : {"one", "two"}) {
    must(store->create({.info = {.id = must(SessionId::parse(id)), .title = id}}));
    must(export_to_folder(*store, must(SessionId::parse(id)), *find_export_format("json"),
                          location(), {}));
  }
  append("cut.json", "{\"format\":\"reprise\",\"version\":1,\n\"session\":{");
  append("other.json", "{}");
  open("exported");
  const SessionPage page = must(source().list({}));
  EXPECT_EQ(page.sessions.size(), 2U);
  EXPECT_EQ(page.damage.size(), 1U);
  EXPECT_TRUE(must(get(source(), must(SessionId::parse("two")))).info.title == "two");
}

}  // namespace
}  // namespace reprise::test::originals
