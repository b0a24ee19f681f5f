#pragma once

// A tool's folder, written by a test like by the tool. At the end of the test, no byte, time or
// name in it may have changed since it was first read.

#include <gtest/gtest.h>

#include <map>

#include "base/testing/temporary_folder.h"
#include "reprise/open_source.h"

namespace reprise::test {

class SourceTest : public testing::Test {
 protected:
  void TearDown() override;

  const std::filesystem::path& location() const { return folder_.path(); }
  // Writes lines of JSON in which ' stands for ".
  void write(const std::string& file, const std::vector<std::string>& lines);
  void append(const std::string& file, std::string_view bytes);
  // Opens the tool's folder, or the file `below` in it, which must not change from here on.
  Source& open(const std::string& scheme, std::string_view below = "");
  Source& source() { return *source_; }

  // The messages as "user: text", "assistant: (thinking) hm", "assistant: call Bash t1 {…}",
  // "tool: t1 = text"; "*" before those that are injected.
  std::vector<std::string> transcript(std::string_view id);
  // The texts of the messages that stand for earlier ones: a request may begin with them.
  std::vector<std::string> summaries(std::string_view id);
  // "ID title (messages)", "~" before a branch.
  std::vector<std::string> sessions(bool branches = false);
  Session session(std::string_view id);
  // "TITLE|PROVIDER|MODEL|FOLDER|CREATED|UPDATED".
  std::string metadata(std::string_view id);
  std::vector<Damage> damage(std::string_view id);

 private:
  std::map<std::string, std::string> snapshot() const;
  TemporaryFolder folder_;
  std::unique_ptr<Source> source_;
  std::map<std::string, std::string> before_;
};

}  // namespace reprise::test
