// An export for a tool can be read as that tool's history, with the same text, calls and results in
// the same order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "export/exported.h"
#include "reprise/open_source.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using namespace test;
using testing::ElementsAreArray;

struct RoundTrip {
  std::string_view format;
  std::string_view folder;  // where the tool has its sessions, from its own folder on
  std::string_view title;   // after the round trip
  bool is_file = false;     // the source is the file itself
};

// The parts of a conversation, independent of their division into messages.
std::vector<std::string> parts_of(const std::vector<Message>& messages) {
  struct Visitor {
    std::string_view role;
    std::string operator()(const TextBlock& text) const {
      return text.text.empty() ? "" : cat(role, ": ", text.text);
    }
    std::string operator()(const ToolUseBlock& call) const {
      return cat("call ", call.id, " ", call.name, " ", call.input.text());
    }
    std::string operator()(const ToolResultBlock& result) const {
      return cat("result ", result.tool_use_id, " ", result.text);
    }
    std::string operator()(const ImageBlock& image) const { return cat("image ", image.url); }
    std::string operator()(const ThinkingBlock& /*thinking*/) const { return ""; }
    std::string operator()(const UnknownBlock& block) const { return cat("? ", block.type); }
  };
  std::vector<std::string> parts;
  for (const Message& message : messages) {
    if (is_injected(message) || message.role == role::kSystem) {
      continue;
    }
    for (const Block& block : message.blocks) {
      const std::string part = std::visit(Visitor{message.role}, block);
      if (!part.empty()) {
        parts.push_back(part);
      }
    }
  }
  return parts;
}

class ExportRoundTrip : public testing::TestWithParam<RoundTrip> {
 protected:
  std::vector<Message> there_and_back(Source& from) {
    const auto& [format, location, title, is_file] = GetParam();
    const fs::path target = folder_.path() / location;
    fs::create_directories(target);
    const fs::path file = must(
        export_to_folder(from, session_id(kExportedId), *find_export_format(format), target, {}));
    source_ =
        must(open_source(cat(format, ":", is_file ? file.string() : folder_.path().string())));
    SessionQuery query;
    query.states = {SessionState::active, SessionState::closed, SessionState::archived};
    const SessionPage page = must(source_->list(query));
    EXPECT_EQ(page.sessions.size(), 1U);
    if (page.sessions.empty()) {
      return {};
    }
    EXPECT_EQ(page.sessions[0].title, title);
    return must(read_all(*source_, page.sessions[0].id));
  }

  TemporaryFolder folder_;
  std::unique_ptr<Source> source_;
};

TEST_P(ExportRoundTrip, PreservesTheConversation) {
  std::vector<Message> messages = exchange_with_tools();
  Message image = user("Look at this", at(6));
  image.blocks.emplace_back(ImageBlock{"image/png", {}, "data:image/png;base64,iVBORw0KGgo=", {}});
  messages.push_back(image);
  messages.push_back(assistant("Two\u2028lines \U0001F469\u200D\U0001F680", at(7)));
  const auto store = store_with(exported_session(), messages);
  EXPECT_THAT(parts_of(there_and_back(*store)),
              ElementsAreArray(parts_of(must(read_all(*store, session_id(kExportedId))))));
}

INSTANTIATE_TEST_SUITE_P(
    Formats, ExportRoundTrip,
    testing::Values(RoundTrip{"codex", "sessions/2026/01/18", "Read a.txt"},
                    RoundTrip{"claude", "projects/-home-a-project", "Release notes"},
                    RoundTrip{"gemini", "tmp/project/chats", "Release notes"},
                    RoundTrip{"pi", "sessions/--home-a-project--", "Release notes"},
                    RoundTrip{"opencode", "", "Release notes", true}),
    [](const auto& parameter) { return std::string(parameter.param.format); });

}  // namespace
}  // namespace reprise
