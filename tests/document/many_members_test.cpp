// Files with as many members and elements as fit: reading must take linear time; with a search for
// each among all others, it would take minutes.

#include <gtest/gtest.h>

#include <ostream>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/must.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using test::must;

constexpr std::size_t kCount = REPRISE_TEST_MEMBERS;
constexpr std::string_view kUuid = "0198f3ab-0000-7000-8000-000000000001";

// kCount pieces, with '#' replaced by their number.
std::string many(std::string_view piece, std::string_view between = ",") {
  std::string out;
  for (std::size_t i = 0; i < kCount; ++i) {
    out += i == 0 ? "" : between;
    const std::size_t mark = piece.find('#');
    out += piece.substr(0, mark);
    if (mark != std::string_view::npos) {
      out.append(std::to_string(i)).append(piece.substr(mark + 1));
    }
  }
  return out;
}

struct Form {
  std::string name;
  std::string url;   // of the store, after FOLDER/
  std::string file;  // the contents of the file
  std::function<std::string()> text;
};

void PrintTo(const Form& form, std::ostream* out) {
  *out << form.name;
}

std::string session_with(std::string_view member, std::string_view message_member = "") {
  return cat(R"({"id":")", kUuid,
             R"(","name":"n","project_path":"/p","created_at":"2026-01-18T20:00:00Z",)",
             R"("updated_at":"2026-01-18T20:00:00Z","version":1,"config":{},"todos":[],)",
             R"("conversation":[{"role":"user","content":"question",)", message_member,
             R"("timestamp":"2026-01-18T20:00:00Z"}])", member, "}");
}

std::string context_with(std::string_view member, std::string_view entry_member = "") {
  return cat(R"({"provider":"openai","model":"m","conversation":[{"role":"user",)", entry_member,
             R"("content":"question"}])", member, "}");
}

std::string chat_with(std::string_view member) {
  return cat(R"({"role":"user","content":"question")", member, "}\n");
}

std::vector<Form> forms() {
  const std::string chat = cat("chats/chat/", kUuid, "/messages.jsonl");
  const std::string session = cat("sessions/", kUuid, ".json");
  const auto nested = [] {
    return cat(R"(,"deep":)", std::string(400, '['), many("#"), std::string(400, ']'));
  };
  return {
      {"ChatMembers", "chatdir:chats", chat, [] { return chat_with("," + many(R"("m#":1)")); }},
      {"ChatElements", "chatdir:chats", chat,
       [] { return chat_with(cat(R"(,"list":[)", many(R"("\u00e9#")"), "]")); }},
      {"ChatParts", "chatdir:chats", chat,
       [] {
         return cat(R"({"role":"user","content":[)", many(R"({"type":"text","text":"question"})"),
                    "]}\n");
       }},
      {"ChatCalls", "chatdir:chats", chat,
       [] {
         return cat(chat_with(""), R"({"role":"assistant","content":[)",
                    many(R"({"type":"tool-call","toolCallId":"t#","toolName":"ls","input":{}})"),
                    "]}\n");
       }},
      {"ChatNested", "chatdir:chats", chat, [nested] { return chat_with(nested()); }},
      {"SessionMembers", "sessions:sessions", session,
       [] { return session_with("," + many(R"("m#":1)")); }},
      {"SessionConfig", "sessions:sessions", session,
       [] { return session_with(cat(R"(,"config":{)", many(R"("m#":1)"), "}")); }},
      {"SessionTodos", "sessions:sessions", session,
       [] {
         return session_with(
             cat(R"(,"todos":[)", many(R"({"content":"c#","status":"pending"})"), "]"));
       }},
      {"SessionPrompts", "sessions:sessions", session,
       [] { return session_with(cat(R"(,"prompt_history":[)", many(R"("p#")"), "]")); }},
      {"SessionMessage", "sessions:sessions", session,
       [] { return session_with("", many(R"("m#":1)") + ","); }},
      {"SessionUsage", "sessions:sessions", session,
       [] { return session_with("", cat(R"("usage":{)", many(R"("m#":1)"), "},")); }},
      {"SessionNested", "sessions:sessions", session, [nested] { return session_with(nested()); }},
      {"ContextMembers", "context:c.json", "c.json",
       [] { return context_with("," + many(R"("m#":1)")); }},
      {"ContextMeta", "context:c.json", "c.json",
       [] { return context_with(cat(R"(,"meta":{)", many(R"("m#":1)"), "}")); }},
      {"ContextEntry", "context:c.json", "c.json",
       [] { return context_with("", many(R"("m#":1)") + ","); }},
      {"ContextNested", "context:c.json", "c.json", [nested] { return context_with(nested()); }},
      {"ChainMembers", "chain:c.json", "c.json",
       [] {
         return cat(R"({"conversations":[{"id":"c-1","responseIds":["r"],)", many(R"("m#":1)"),
                    "}],", many(R"("f#":1)"), "}");
       }},
      {"ChainIds", "chain:c.json", "c.json",
       [] {
         return cat(R"({"conversations":[{"id":"c-1","responseIds":[)", many(R"("r#")"),
                    R"(],"reprise":{"response_chain":[)",
                    many(R"({"provider":"p","response_id":"r#"})"), "]}}]}");
       }},
  };
}

class ManyMembers : public testing::TestWithParam<Form> {};

TEST_P(ManyMembers, TakeLinearTime) {
  const Form& form = GetParam();
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / form.file;
  must(make_private_folders(file.parent_path()));
  must(replace_file(file, form.text()));
  const std::size_t colon = form.url.find(':') + 1;
  const std::string url =
      cat(form.url.substr(0, colon), (folder.path() / form.url.substr(colon)).native());
  const auto store = must(open_store(url));
  const SessionPage page =
      must(store->list({.states = {SessionState::active, SessionState::closed}}));
  ASSERT_EQ(page.sessions.size(), 1U);
  const SessionId id = page.sessions.front().id;
  if (store->capabilities().messages) {
    EXPECT_GE(must(read_all(*store, id)).size(), 1U);
  }
  must(store->capabilities().verifier->verify());
  // Twice, to read what was written.
  for (const char* const title : {"one", "two"}) {
    must(store->update(id, {.title = title}));
    EXPECT_EQ(must(get(*store, id)).info.title, title);
  }
  EXPECT_EQ(must(get(*must(open_store(url)), id)).info.title, "two");
}

INSTANTIATE_TEST_SUITE_P(Forms, ManyMembers, testing::ValuesIn(forms()),
                         [](const auto& form) { return form.param.name; });

}  // namespace
}  // namespace reprise
