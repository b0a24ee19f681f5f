#include "source/source_fixture.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "engine/session_notes.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

std::string block_text(const Block& block) {
  struct Visitor {
    std::string operator()(const TextBlock& text) const { return text.text; }
    std::string operator()(const ThinkingBlock& text) const { return "(thinking) " + text.text; }
    std::string operator()(const ToolUseBlock& use) const {
      return cat("call ", use.name, " ", use.id, " ", use.input.text());
    }
    std::string operator()(const ToolResultBlock& result) const {
      return cat(result.tool_use_id, result.is_error ? " failed: " : " = ", result.text);
    }
    std::string operator()(const ImageBlock& image) const {
      return cat("[", image.media_type, " ", image.url.substr(0, 40), "]");
    }
    std::string operator()(const UnknownBlock& block) const { return cat("?", block.type); }
  };
  return std::visit(Visitor(), block);
}

std::string line_of(const Message& message) {
  std::string line = cat(is_injected(message) ? "*" : "", message.role,
                         message.state == MessageState::incomplete ? " (cut)" : "", ":");
  for (const Block& block : message.blocks) {
    line += cat(line.ends_with(":") ? " " : " | ", block_text(block));
  }
  return line;
}

// Every listed session is also found by its id and by a prefix of it.
void expect_found_by_prefix(Source& source) {
  const auto page = source.list({.limit = kPageMax});
  if (!page) {
    return;  // a test with an unreadable folder
  }
  for (const SessionInfo& info : page->sessions) {
    const std::string& id = info.id.str();
    for (const std::string& prefix : {id, id.substr(0, id.size() - 1)}) {
      const SessionPage found = must(source.list({.id_prefix = prefix, .limit = kPageMax}));
      EXPECT_EQ(std::ranges::count(found.sessions, info.id, &SessionInfo::id), 1) << prefix;
    }
  }
}

}  // namespace

void SourceTest::TearDown() {
  if (source_ != nullptr) {
    expect_found_by_prefix(*source_);
    source_.reset();
    EXPECT_EQ(snapshot(), before_) << "the tool's place has changed";
  }
}

void SourceTest::write(const std::string& file, const std::vector<std::string>& lines) {
  std::string bytes;
  for (std::string line : lines) {
    std::ranges::replace(line, '\'', '"');
    bytes += line + "\n";
  }
  append(file, bytes);
}

void SourceTest::append(const std::string& file, std::string_view bytes) {
  fs::create_directories((location() / file).parent_path());
  std::ofstream out(location() / file, std::ios::binary | std::ios::app);
  out << bytes;
  ASSERT_TRUE(out.flush());
  before_ = source_ == nullptr ? before_ : snapshot();
}

Source& SourceTest::open(const std::string& scheme, std::string_view below) {
  before_ = snapshot();
  source_ =
      must(open_source(cat(scheme, ":", location().native(), below.empty() ? "" : "/", below)));
  return *source_;
}

std::map<std::string, std::string> SourceTest::snapshot() const {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(location())) {
    struct stat status = {};
    EXPECT_EQ(::lstat(entry.path().c_str(), &status), 0);
    std::string state = cat(status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec, " ", status.st_mode,
                            " ", status.st_ino, " ");
    if (entry.is_regular_file()) {
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      state += bytes.str();
    }
    all.emplace(entry.path().native(), std::move(state));
  }
  return all;
}

std::vector<std::string> SourceTest::transcript(std::string_view id) {
  std::vector<std::string> lines;
  for (const Message& message : must(read_all(source(), must(SessionId::parse(id))))) {
    EXPECT_EQ(message.seq.value, std::ssize(lines));
    lines.push_back(line_of(message));
  }
  return lines;
}

std::vector<std::string> SourceTest::summaries(std::string_view id) {
  std::vector<std::string> texts;
  for (const Message& message : must(read_all(source(), must(SessionId::parse(id))))) {
    if (is_summary(message)) {
      texts.push_back(plain_text(message));
    }
  }
  return texts;
}

std::vector<std::string> SourceTest::sessions(bool branches) {
  std::vector<std::string> lines;
  SessionQuery query;
  query.states.push_back(SessionState::archived);
  query.branches = branches;
  for (const SessionInfo& info : must(source().list(query)).sessions) {
    lines.push_back(cat(info.forked_from ? "~" : "", info.id.str(), " ", info.title, " (",
                        info.head.value, info.is_head_known ? "" : "+", ")"));
  }
  return lines;
}

Session SourceTest::session(std::string_view id) {
  return must(get(source(), must(SessionId::parse(id))));
}

std::string SourceTest::metadata(std::string_view id) {
  const SessionInfo info = session(id).info;
  return cat(info.title, "|", info.provider, "|", info.model, "|", info.working_dir, "|",
             format_time(info.created_at), "|", format_time(info.updated_at));
}

std::vector<Damage> SourceTest::damage(std::string_view id) {
  return must(source().read(must(SessionId::parse(id)), {},
                            [](const Message&) { return Flow::proceed; }))
      .damage;
}

}  // namespace reprise::test
