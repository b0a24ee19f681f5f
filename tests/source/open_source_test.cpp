#include <algorithm>

#include "base/text.h"
#include "source/source_fixture.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using std::filesystem::path;

class OpenSource : public SourceTest {};

const SourceKind& kind(std::string_view name) {
  return *std::ranges::find(source_kinds(), name, &SourceKind::name);
}

TEST_F(OpenSource, TheDefaultLocationIsThatOfTheFirstVariableThatIsSet) {
  const auto with = [](const std::map<std::string, std::string, std::less<>>& variables) {
    return default_location(
        kind("claude"), [&](std::string_view name) -> std::optional<std::string> {
          const auto found = variables.find(name);
          return found == variables.end() ? std::nullopt : std::optional(found->second);
        });
  };
  EXPECT_EQ(with({{"HOME", "/home/a"}}), path("/home/a/.claude"));
  EXPECT_EQ(with({{"HOME", "/home/a"}, {"CLAUDE_CONFIG_DIR", "/c"}}), path("/c"));
  EXPECT_EQ(with({}), std::nullopt);
}

TEST_F(OpenSource, ToolsHaveVariables) {
  const auto with_all = [](std::string_view name) {
    return default_location(
        kind(name), [](std::string_view variable) { return std::optional(std::string(variable)); });
  };
  EXPECT_EQ(with_all("copilot"), path("COPILOT_HOME"));
  EXPECT_EQ(with_all("crush"), path("CRUSH_GLOBAL_DATA"));
  EXPECT_EQ(with_all("goose"), path("GOOSE_PATH_ROOT/data/sessions"));
}

// Many files of the folder are no sessions.
TEST_F(OpenSource, AFolderIsRecognisedByAnyOfItsFiles) {
  for (int i = 0; i < 20; ++i) {
    write(cat("projects/-x/", i, ".jsonl"), {"{'type':'of tomorrow'}"});
  }
  write("projects/-x/a.jsonl",
        {"{'type':'user','uuid':'u','sessionId':'s','message':{'content':'Why?'}}"});
  EXPECT_EQ(must(source_kind_of(location().native()))->name, "claude");
}

TEST_F(OpenSource, KindsHaveNamesOfTheirOwn) {
  std::vector<std::string_view> names;
  for (const SourceKind& kind : source_kinds()) {
    EXPECT_TRUE(kind.form.starts_with(kind.name)) << kind.name;
    names.push_back(kind.name);
  }
  for (const StoreKind& kind : store_kinds()) {
    names.push_back(kind.name);
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST_F(OpenSource, ErrorsListTheForms) {
  std::string sources;
  for (const SourceKind& kind : source_kinds()) {
    sources += cat(sources.empty() ? "" : ", ", kind.form);
  }
  EXPECT_EQ(source_forms(), sources);
  std::string stores;
  for (const StoreKind& kind : store_kinds()) {
    stores += cat(stores.empty() ? "" : ", ", kind.form);
  }
  const auto unknown = open_store("nobody:/x");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find(stores), std::string::npos) << unknown.error().message;
}

TEST_F(OpenSource, NothingThereIsNotFound) {
  EXPECT_TRUE(fails(open_source("claude:/nowhere/at/all"), Code::not_found));
  EXPECT_TRUE(fails(open_source("nobody:/x"), Code::invalid_argument));
}

TEST_F(OpenSource, AStoreIsASourceToReadOnly) {
  EXPECT_TRUE(works(open_source("memory:")));
  EXPECT_TRUE(fails(open_source("sqlite:" + (location() / "new.db").native()), Code::not_found));
  EXPECT_TRUE(std::filesystem::is_empty(location()));
}

}  // namespace
}  // namespace reprise::test
