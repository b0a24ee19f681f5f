#pragma once

// Prints a turn: as text for people, or as events in JSON lines.

#include "base/terminal_text.h"
#include "cli/process/progress.h"
#include "cli/program/context.h"   // IWYU pragma: export
#include "reprise/conversation.h"  // IWYU pragma: export

namespace reprise::cli {

// Writes the answer to standard output as it arrives. Sanitized on a terminal, unchanged to a pipe
// or file.
class TextAnswer final : public TurnObserver {
 public:
  explicit TextAnswer(Context& context);
  ~TextAnswer() override;
  TextAnswer(const TextAnswer&) = delete;
  TextAnswer& operator=(const TextAnswer&) = delete;
  void on_text(std::string_view text) override;
  void on_thinking(std::string_view text) override;
  void on_tool_call(const ToolUseBlock& call) override;
  void on_tool_result(const ToolResultBlock& result) override;
  void on_warning(std::string_view text) override;
  void on_note(std::string_view text) override;
  // Ends the answer's last line.
  void finish();

 private:
  void print(std::string_view text);
  void resume_spinner();

  Context& context_;
  Spinner spinner_;  // until the answer begins
  TerminalSanitizer gate_;
  bool line_open_ = false;
};

// One JSON object per line; docs/json.md lists them.
class JsonAnswer final : public TurnObserver {
 public:
  // From now on, the context's warnings are events, too.
  explicit JsonAnswer(Context& context) : context_(context) { context.console().warn_by_events(); }
  void begin(const Session& session, bool saved);
  // Before the next event, because a new conversation in a store of one session may become part of
  // another one when its question is stored. `conversation` must outlive this.
  void begin_later(const Conversation& conversation) { unnamed_ = &conversation; }
  // Does what was put off, if anything was.
  void begin_now();
  void on_text(std::string_view text) override;
  void on_thinking(std::string_view text) override;
  void on_tool_call(const ToolUseBlock& call) override;
  void on_tool_result(const ToolResultBlock& result) override;
  void on_message(const Message& stored) override;
  void on_usage(const Usage& usage) override;
  void on_warning(std::string_view text) override;
  void on_note(std::string_view text) override;
  void finish(Exit exit);

 private:
  void print(std::string_view event);

  Context& context_;
  const Conversation* unnamed_ = nullptr;
};

}  // namespace reprise::cli
