#pragma once

// What stands in a transcript: questions, answers, thoughts, tool calls and what the program says.

#include <cstddef>  // IWYU pragma: export
#include <memory>

#include "cli/app/style.h"
#include "reprise/message.h"

namespace reprise::cli::app {

// Of one entry, what is shown at first: laying out more takes a moment.
inline constexpr std::size_t kEntryBytesAtFirst = std::size_t{256} << 10;

struct Entry {
  enum class Kind : std::uint8_t {
    question,
    waiting,  // a question that is sent when the running answer has ended
    answer,
    thinking,
    tool,
    footer,  // of an answer: who answered, what it cost, when
    notice,  // what the program says; not part of the conversation
    warning,
  };
  Kind kind = Kind::notice;
  std::string text = {};                // tool: its name
  std::string author = {};              // question: who asked, if that was somebody else
  std::string id = {};                  // tool: of the call
  std::string input = {};               // tool: JSON
  std::string result = {};              // tool: what came back
  bool done = true;                     // tool: it has come back; answer, thinking: it has ended
  bool failed = false;                  // tool: the result is an error; answer: it was cut
  std::vector<std::string> files = {};  // waiting: what is sent with it
  std::vector<std::string> mentioned = {};  // waiting: that, if there is such a file
  std::optional<Time> at = {};
  Seq seq{-1};                    // of the message it is from, as far as that was read from a store
  std::optional<bool> open = {};  // as a person wants this one, whatever the others are

  std::size_t shown = kEntryBytesAtFirst;  // of each of its texts

  // The lines as they were laid out last; no part of the value.
  struct Laid {
    std::size_t width = 0;
    bool unfolded = false;
    std::vector<Line> lines;
  };
  mutable std::shared_ptr<const Laid> laid = {};

  // To be called after every change.
  void changed() { laid.reset(); }
};

// Makes entries of stored messages, the oldest first.
class EntryMaker {
 public:
  // `reader`: whose questions need no name.
  explicit EntryMaker(std::optional<Author> reader = std::nullopt) : reader_(std::move(reader)) {}

  // A tool's result goes to the entry of its call.
  void add(const Message& message);

  std::vector<Entry> take() { return std::move(entries_); }
  // Tokens of the last request; 0 when nothing is known.
  std::int64_t last_input() const { return last_input_; }

 private:
  void add_footer(const Message& message);

  std::optional<Author> reader_;
  std::vector<Entry> entries_;
  // What the turn has used so far; none when it began before the first message.
  std::optional<Usage> turn_;
  std::int64_t last_input_ = 0;
};

// Gives a tool's result to the entry of its call, if it is there.
void add_result(std::vector<Entry>& entries, const ToolResultBlock& result);

// A tool call, or a thought that has ended: it can be one line or all of them.
bool is_foldable(const Entry& entry);

// How many bytes are not shown, though it is unfolded.
std::size_t left_out(const Entry& entry);
// Shows four times as much.
void show_more(Entry& entry);

// "1,234".
std::string grouped(std::int64_t number);

// Of a turn: "gpt-x · 1,234 in, 56 out · $0.002"; "" when nothing is known.
std::string footer_text(std::string_view model, const std::optional<Usage>& usage);

// Puts the entry on lines of at most `width` columns, one at least; an empty line parts it from
// what stands before it where one is due. Folded, a tool call and a thought have one line.
// Remembered until changed().
const std::vector<Line>& lines_of(const Entry& entry, std::size_t width, bool unfolded, Time now);

}  // namespace reprise::cli::app
