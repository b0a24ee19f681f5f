#pragma once

// Sessions and messages for the engine's tests.

#include "base/text.h"
#include "engine/maker.h"
#include "engine/message_of.h"
#include "reprise/conversation.h"

namespace reprise {

inline Session make_session(std::string_view id) {
  return {
      SessionInfo{
          *SessionId::parse(id), {}, {}, SessionState::active, {}, {}, {}, {}, {}, {}, {}, {}, {}},
      {},
      {},
      {},
      {},
      {},
      {}};
}

inline TextBlock text_of(std::string_view text) {
  return {std::string(text), {}};
}
inline ToolUseBlock call_of(std::string_view id, std::string_view input = "{}",
                            std::string_view name = "t") {
  return {std::string(id), std::string(name), *RawJson::parse(std::string(input)), {}};
}
inline ToolResultBlock result_of(std::string_view id, std::string_view text = "ok") {
  return {std::string(id), std::string(text), false, {}, {}};
}
inline Message user(std::string_view text) {
  return message_of(role::kUser, {text_of(text)});
}
inline Message assistant(std::vector<Block> blocks, std::string_view provider = "fake") {
  Message message = message_of(role::kAssistant, std::move(blocks));
  message.provider = provider;
  if (provider == "fake") {
    record_maker(message, {.provider = "fake", .host = "", .model = ""}, {});
  }
  return message;
}
inline Message assistant(std::string_view text) {
  return assistant({Block(text_of(text))});
}
inline Message incomplete(std::vector<Block> blocks) {
  Message message = assistant(std::move(blocks));
  message.state = MessageState::incomplete;
  return message;
}
inline Message results(std::vector<Block> blocks) {
  return message_of(role::kTool, std::move(blocks));
}

// "user: text | assistant: call t1, …": the messages of a view on one line.
std::string spell(const std::vector<Message>& messages);

// Records all events.
class RecordingObserver final : public TurnObserver {
 public:
  void on_text(std::string_view piece) override { text += piece; }
  void on_thinking(std::string_view piece) override { thinking += piece; }
  void on_tool_call(const ToolUseBlock& call) override { calls.push_back(call.id); }
  void on_tool_result(const ToolResultBlock& result) override { results.push_back(result); }
  void on_message(const Message& stored) override { messages.push_back(stored); }
  void on_usage(const Usage& usage) override { usages.push_back(usage); }
  void on_warning(std::string_view line) override { warnings.emplace_back(line); }
  void on_note(std::string_view line) override { notes.emplace_back(line); }

  std::string text;
  std::string thinking;
  std::vector<std::string> calls;
  std::vector<ToolResultBlock> results;
  std::vector<Message> messages;
  std::vector<Usage> usages;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
};

}  // namespace reprise
