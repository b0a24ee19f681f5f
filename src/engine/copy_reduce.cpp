#include "engine/copy_reduce.h"

#include "reprise/store.h"

namespace reprise::engine {
namespace {

void leave_out(std::string& text, std::string_view what, Losses& losses) {
  if (!text.empty()) {
    text.clear();
    losses.emplace(what);
  }
}

}  // namespace

Session reduce(Session session, const SourceCapabilities& holds, Losses& losses) {
  SessionInfo& info = session.info;
  info.answering = std::nullopt;
  if (!holds.modes) {
    leave_out(info.mode, "the mode", losses);
  }
  if (!holds.folders) {
    leave_out(info.working_dir, "the folder", losses);
  }
  if (!holds.system_prompt) {
    leave_out(session.system_prompt, "the system prompt", losses);
  }
  if (!holds.config && !session.config.is_null()) {
    session.config = RawJson();
    losses.emplace("the session's settings");
  }
  if (info.state == SessionState::archived) {
    info.state = SessionState::closed;
  } else if (info.state == SessionState::trashed) {
    info.state = SessionState::closed;
    losses.emplace("that it was in the trash");
  }
  return session;
}

Message reduce(Message message, const SourceCapabilities& holds, Losses& losses) {
  message.seq = {};  // assigned by the target
  if (!holds.message_details) {
    if (std::exchange(message.author, std::nullopt)) {
      losses.emplace("the messages' authors");
    }
    leave_out(message.provider, "the messages' providers", losses);
    leave_out(message.model, "the messages' models", losses);
    leave_out(message.response_id, "the messages' response ids", losses);
    if (std::exchange(message.usage, std::nullopt)) {
      losses.emplace("the messages' usage");
    }
    if (std::exchange(message.state, MessageState::complete) == MessageState::incomplete) {
      losses.emplace("that answers were cut off");
    }
  }
  if (!holds.blocks) {
    const auto count = std::erase_if(message.blocks, [](const Block& block) {
      return !std::holds_alternative<TextBlock>(block);
    });
    if (count > 0) {
      losses.emplace("blocks that are not text");
    }
  }
  return message;
}

}  // namespace reprise::engine
