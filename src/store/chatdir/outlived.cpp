// Metadata that has outlived the conversation that it describes: another program has removed all
// messages of a chat and begun another conversation in it. Nothing of ours is about that one.

#include "base/file.h"
#include "base/text.h"
#include "store/chatdir/chat.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/chat_writer.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/message_log.h"
#include "store/paths.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {

namespace fs = std::filesystem;

// By the first question, since other programs write the lines anew.
Result<bool> Chat::is_described(const MetadataFile& metadata, const LogState& state) {
  const ChatMetadata& at = metadata.at(point_of(state));
  if (metadata.is_derived || at.described.question.empty() || state.trailer != nullptr ||
      (at.log == point_of(state) && state.head.value > 0)) {
    return true;
  }
  REPRISE_ASSIGN(const auto log, if_exists(this->log()));
  if (!log) {
    return true;
  }
  const MessageLog& messages = **log;
  constexpr Seq kSearchEnd{20};
  if (state.head.value > 0 && !messages.damaged_spans({}, kSearchEnd).empty()) {
    return true;  // the question may be there
  }
  REPRISE_ASSIGN(const Described found, describe(messages, state.head));
  return found.question == at.described.question && found.messages >= at.described.messages;
}

Result<bool> Chat::is_described() {
  REPRISE_ASSIGN(const ReadMetadata read, this->metadata());
  REPRISE_ASSIGN(const LogState state, this->state());
  return is_described(*read.metadata, state);
}

// As if there were no reprise.json.
Result<MetadataFile> Chat::derive_anew() {
  REPRISE_ASSIGN(MetadataFile metadata,
                 derive_metadata(layout_, location_.folder, id_, settings_.working_dir,
                                 MetadataScope::all_but_usage));
  if (settings_.scope == MetadataScope::all) {
    REPRISE_ASSIGN(const std::shared_ptr<MessageLog> log, this->log());
    REPRISE_ASSIGN(metadata.current.stored.session.usage,
                   usage_added_by_others(*log, 0, location_.folder));
  }
  return metadata;
}

Result<StoredSession> Chat::session_anew(const LogState& state) {
  REPRISE_ASSIGN(const MetadataFile metadata, derive_anew());
  return session_at(metadata, state);
}

// Before a change: what describes a conversation that is gone is kept under another name. The
// caller holds the lock.
Result<> Chat::put_aside_replaced() {
  REPRISE_ASSIGN(const ReadMetadata read, this->metadata());
  REPRISE_ASSIGN(const LogState state, this->state());
  REPRISE_ASSIGN(const bool is_described, this->is_described(*read.metadata, state));
  if (is_described) {
    return {};
  }
  REPRISE_ASSIGN(MetadataFile metadata, derive_anew());
  std::string kept;
  for (const std::string_view name : {kMetadataFile, kReplacedFile, kAnswerFile}) {
    REPRISE_ASSIGN(const auto bytes, if_exists(read_file(file(name))));
    if (bytes && !bytes->empty()) {
      REPRISE_ASSIGN(const fs::path saved, quarantine(file(name), *bytes));
      kept += cat(kept.empty() ? "" : " and ", saved.filename().native());
    }
  }
  REPRISE_ASSIGN(const std::shared_ptr<MessageLog> log, this->log());
  REPRISE_ASSIGN(Described described, describe(*log, state.head));
  metadata.current = {session_at(metadata, state), point_of(state), std::move(described)};
  REPRISE_TRY(write_metadata(location_.folder, metadata));
  for (const std::string_view name : {kReplacedFile, kAnswerFile}) {
    REPRISE_TRY(remove_if_exists(file(name)));
  }
  if (settings_.on_warning) {
    settings_.on_warning(
        cat(location_.folder.native(),
            ": another program has started a new conversation in this chat; the title, "
            "todos and settings of the old one are kept in ",
            kept));
  }
  return {};
}

}  // namespace reprise::store::chatdir
