#pragma once

// The usage of answers that other programs added. Their lines do not have it, but the steps do: the
// number of a step is that of its answer.

#include <filesystem>

#include "reprise/source.h"
#include "store/chatdir/line.h"
#include "store/chatdir/message_log.h"

namespace reprise::store::chatdir {

class AnswerUsages {
 public:
  // Of the chat in this folder, from its first message on.
  explicit AnswerUsages(std::filesystem::path chat) : chat_(std::move(chat)) {}

  // From the messages of this range on, in its order.
  Result<> go_to(const MessageLog& log, const ReadRange& range);

  // Called with one message after the other, in order. Adds the usage to an answer of another
  // program. io if a file cannot be read.
  Result<> add_to(Line& line);

 private:
  const std::filesystem::path chat_;
  std::int64_t answers_ = 0;  // before the next message in the file, or before and including it
  bool newest_first_ = false;
};

}  // namespace reprise::store::chatdir
