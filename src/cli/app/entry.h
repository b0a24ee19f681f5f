#pragma once

// Entries of a transcript: questions, answers, thoughts, tool calls and notices of the program.

#include <cstddef>  // IWYU pragma: export
#include <memory>

#include "cli/markdown/style.h"
#include "reprise/message.h"
#include "store/usage_sum.h"  // IWYU pragma: export

namespace reprise::cli::app {

// How much of an entry is laid out at first, since layout takes time.
inline constexpr std::size_t kEntryBytesAtFirst = std::size_t{256} << 10;

struct Entry {
  enum class Kind : std::uint8_t {
    question,
    waiting,  // a queued question, sent when the running answer has ended
    answer,
    thinking,
    tool,
    footer,  // of an answer: model, usage, time
    notice,  // from the program; not part of the conversation
    warning,
  };
  Kind kind = Kind::notice;
  std::string text = {};                // tool: its name
  std::string author = {};              // question: its author, if somebody else
  std::string id = {};                  // tool: the call's id
  std::string input = {};               // tool: JSON
  std::string result = {};              // tool: the output
  bool ended = true;                    // tool: it has returned; answer, thinking: it has ended
  bool failed = false;                  // tool: the result is an error; answer: it is incomplete
  std::vector<std::string> files = {};  // waiting: its attachments
  std::vector<std::string> mentioned = {};  // waiting: words after '@', attached if they are files
  std::optional<Time> at = {};
  Seq seq{-1};                    // of its message, if that was read from a store
  std::optional<bool> open = {};  // overrides the tab's folding; set by the user

  std::size_t shown_bytes = kEntryBytesAtFirst;  // bytes shown of each of its texts

  // The cached layout; not part of the value.
  struct Layout {
    std::size_t width = 0;
    bool unfolded = false;
    std::vector<Line> lines;
  };
  mutable std::shared_ptr<const Layout> layout = {};

  // Must be called after every change.
  void changed() { layout.reset(); }
};

// Creates entries from stored messages, oldest first.
class EntryMaker {
 public:
  // `reader`: the user, whose questions are shown without an author.
  explicit EntryMaker(std::optional<Author> reader = std::nullopt) : reader_(std::move(reader)) {}

  // A tool's result is added to the entry of its call.
  void add(const Message& message);

  std::vector<Entry> take() { return std::move(entries_); }
  // Tokens of the last request; 0 if unknown.
  std::int64_t last_input() const { return last_input_; }
  const store::CountedRequests& counted_requests() const { return counted_requests_; }

 private:
  void add_footer(const Message& message);

  std::optional<Author> reader_;
  std::vector<Entry> entries_;
  // The usage of the turn; nullopt if the turn began before the first message.
  std::optional<Usage> turn_;
  store::CountedRequests counted_requests_;
  std::int64_t last_input_ = 0;
};

// Adds a tool's result to the entry of its call, if there is one.
void add_result(std::vector<Entry>& entries, const ToolResultBlock& result);

// Whether the entry can be folded: a tool call or a finished thought.
bool is_foldable(const Entry& entry);

// How many bytes are hidden even if the entry is unfolded.
std::size_t left_out(const Entry& entry);
// Quadruples the number of bytes shown.
void show_more(Entry& entry);

// "1,234".
std::string grouped(std::int64_t number);

// For a turn: "gpt-x · 1,234 in, 56 out · $0.002"; "" if nothing is known.
std::string footer_text(std::string_view model, const std::optional<Usage>& usage);

// Lays out the entry in lines of at most `width` columns, at least one, with an empty line before
// it where needed. A folded entry has one line. Cached until changed().
const std::vector<Line>& lines_of(const Entry& entry, std::size_t width, bool unfolded, Time now);

// Whether a match of `pattern`, which is in lower case, begins in this line. The following lines
// may continue its text: after a blank, or within a word that is longer than a line.
bool begins_match(const std::vector<Line>& lines, std::size_t line, std::string_view pattern);

}  // namespace reprise::cli::app
