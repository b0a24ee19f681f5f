#pragma once

// The usage of answers that other programs added. Their lines do not have it, but the steps do: the
// number of a step is that of its answer.

#include <filesystem>
#include <set>
#include <string>

#include "reprise/source.h"
#include "store/chatdir/line.h"
#include "store/chatdir/message_log.h"

namespace reprise::store::chatdir {

class AnswerUsages {
 public:
  // Of the chat in this folder, from its first message on.
  explicit AnswerUsages(std::filesystem::path chat) : chat_(std::move(chat)) {}
  ~AnswerUsages();
  AnswerUsages(const AnswerUsages&) = delete;
  AnswerUsages& operator=(const AnswerUsages&) = delete;

  // From any message on, in this order. Earlier answers are counted when that is needed. The log
  // must outlive this object, and keeps the count for the next one.
  void begin_in(const MessageLog& log, bool newest_first);

  // Called with one message after the other, in order. Adds the usage to an answer of another
  // program. io if a file cannot be read.
  Result<> add_to(Line& line);

 private:
  Result<bool> may_have_step(const Line& line);
  Result<> count_to(Seq to);

  const std::filesystem::path chat_;
  const MessageLog* log_ = nullptr;
  bool newest_first_ = false;
  MessageLog::AnswerCount count_;
  bool has_listed_ = false;
  std::set<std::string> steps_;  // the names of their folders
};

}  // namespace reprise::store::chatdir
