#include "cli/repl/line_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"

namespace reprise::cli {
namespace {

TEST(MultiLine, WaitsAfterABackslash) {
  EXPECT_FALSE(needs_another_line(""));
  EXPECT_FALSE(needs_another_line("a"));
  EXPECT_TRUE(needs_another_line("a\\"));
  EXPECT_TRUE(needs_another_line("\\"));
  EXPECT_FALSE(needs_another_line("a\\\\"));
  EXPECT_TRUE(needs_another_line("a\\\\\\"));
  EXPECT_FALSE(needs_another_line("a\\\nb"));
}

TEST(MultiLine, WaitsInsideAFence) {
  EXPECT_TRUE(needs_another_line("look:\n```c"));
  EXPECT_TRUE(needs_another_line("```c\nint x;"));
  EXPECT_FALSE(needs_another_line("```c\nint x;\n```"));
  EXPECT_FALSE(needs_another_line("  ```\nx\n  ```  "));
  EXPECT_FALSE(needs_another_line("```code in one line```"));
  EXPECT_TRUE(needs_another_line("````\n```\n"));
  EXPECT_FALSE(needs_another_line("````\n```\n````"));
  EXPECT_TRUE(needs_another_line("```\na\n```\nb\n```"));
  EXPECT_FALSE(needs_another_line("``"));
  EXPECT_FALSE(needs_another_line("say ``` in the middle"));
}

TEST(MultiLine, JoinsLines) {
  std::string text = "a\\";
  add_line(text, "b\\");
  EXPECT_EQ(text, "a\nb\\");
  add_line(text, "");
  EXPECT_EQ(text, "a\nb\n");
  std::string fence = "```\nx\\";
  add_line(fence, "```");
  EXPECT_EQ(fence, "```\nx\\\n```");
}

TEST(MultiLine, CleansPastedText) {
  EXPECT_EQ(clean_paste("a\r\nb\rc\nd"), "a\nb\nc\nd");
  EXPECT_EQ(clean_paste("tab\there"), "tab\there");
  EXPECT_EQ(clean_paste("x\x1b[31m\x07y\x7fz"), "x[31myz");
  EXPECT_EQ(clean_paste("end\r\n\r\n"), "end");
  EXPECT_EQ(clean_paste("bad \xff byte"), "bad \xEF\xBF\xBD byte");
  EXPECT_EQ(clean_paste(""), "");
  EXPECT_EQ(clean_paste("\n\n"), "");
  EXPECT_EQ(clean_paste("\nkept"), "\nkept");
}

// A pipe with the test's input.
struct Pipe {
  Fd reader;
  Fd writer;
};

Pipe make_pipe(std::string_view bytes) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  Pipe made{Fd(ends[0]), Fd(ends[1])};
  EXPECT_TRUE(write_all(made.writer.get(), bytes, "pipe"));
  return made;
}

std::vector<std::string> all_of(std::string_view bytes) {
  Pipe pipe = make_pipe(bytes);
  EXPECT_TRUE(pipe.writer.close("pipe"));
  const auto source = make_plain_source({.input_fd = pipe.reader.get()});
  std::vector<std::string> texts;
  for (Input input = source->read("", {}); input.kind == Input::Kind::text;
       input = source->read("", {})) {
    texts.push_back(input.text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(PlainSource, ReadsLinesAndAnUnterminatedLastLine) {
  EXPECT_EQ(all_of("one\ntwo\r\n\nlast"), (Texts{"one", "two", "", "last"}));
  EXPECT_EQ(all_of(""), Texts{});
  EXPECT_EQ(all_of("\n"), Texts{""});
}

TEST(PlainSource, JoinsContinuedLines) {
  EXPECT_EQ(all_of("a\\\nb\n```\nx\n```\nc\n"), (Texts{"a\nb", "```\nx\n```", "c"}));
  // The end of input completes an open fence.
  EXPECT_EQ(all_of("```\nx"), Texts{"```\nx"});
  EXPECT_EQ(all_of("a\\"), Texts{"a\\"});
}

TEST(PlainSource, PreservesArbitraryBytes) {
  EXPECT_EQ(all_of(std::string("\xff\0z\n", 4)), (Texts{std::string("\xff\0z", 3)}));
}

TEST(PlainSource, TruncatesTooLongInputAndContinues) {
  Pipe pipe = make_pipe("");
  const auto source = make_plain_source({.input_fd = pipe.reader.get()});
  const std::jthread writer([&pipe] {
    const std::string long_line(kInputBytesMax + 1000, 'x');
    EXPECT_TRUE(write_all(pipe.writer.get(), long_line, "pipe"));
    EXPECT_TRUE(write_all(pipe.writer.get(), "\nnext\n", "pipe"));
  });
  const Input long_input = source->read("", {});
  EXPECT_TRUE(long_input.truncated);
  EXPECT_EQ(long_input.text.size(), kInputBytesMax);
  const Input next = source->read("", {});
  EXPECT_FALSE(next.truncated);
  EXPECT_EQ(next.text, "next");
}

TEST(PlainSource, ShowsContinuationPrompts) {
  const Pipe pipe = make_pipe("a\\\nb\n");
  std::string shown;
  const auto source = make_plain_source(
      {.input_fd = pipe.reader.get(), .show = [&shown](std::string_view p) { shown += p; }});
  EXPECT_EQ(source->read("> ", {}).text, "a\nb");
  EXPECT_EQ(shown, "> . ");
}

TEST(PlainSource, StopsOnRequest) {
  const Pipe pipe = make_pipe("half a line");
  const auto source = make_plain_source({.input_fd = pipe.reader.get()});
  std::stop_source stop;
  const std::jthread stopper([&stop] { stop.request_stop(); });
  EXPECT_EQ(source->read("", stop.get_token()).kind, Input::Kind::stopped);
  // Only what was typed before the stop is discarded.
  EXPECT_TRUE(write_all(pipe.writer.get(), "next\n", "pipe"));
  EXPECT_TRUE(source->read("", {}).text.ends_with("next"));
}

}  // namespace

}  // namespace reprise::cli
