#pragma once

// The metadata of a chat: reprise.json in its folder, a small file that is replaced as a whole.
// Chats of the original program have none; their metadata is derived from other files.
//
// The usage is recorded in the steps of a chat: the tokens in usage.json; the cost there, or in the
// last chunks of the provider (chunks.jsonl). Turns that we append are counted by their lines,
// those of other programs by the files of their steps.

#include <filesystem>

#include "reprise/message.h"
#include "reprise/store.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/message_log.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {

// Identifies the conversation that a chat holds, whatever is added to it: its first question. Other
// programs remove all messages of a chat, and begin another conversation in it.
struct Described {
  std::string question;       // a hash; "" if there is none
  std::int64_t messages = 0;  // at that time
};
// What the messages of [0, to) and `more` make.
Result<Described> describe(const MessageLog& log, Seq to, const std::vector<Message>& more = {});

// The session without its messages. Its usage, update time, running answer and operations are those
// at `log`; lines written later take precedence.
struct ChatMetadata {
  StoredSession stored;
  LogPoint log = point_of(LogState::of_nothing());
  Described described = {};

  explicit ChatMetadata(const SessionId& id) : stored{.session = {.info = {.id = id}}} {}
  ChatMetadata(StoredSession session, LogPoint at, Described conversation)
      : stored(std::move(session)), log(at), described(std::move(conversation)) {}
};

struct MetadataFile {
  explicit MetadataFile(const SessionId& id) : current(id) {}

  ChatMetadata current;
  // A replacement in progress: if the log ends at this point, this metadata applies.
  std::optional<ChatMetadata> after_truncation = {};
  Extra others = {};        // unknown members
  bool is_derived = false;  // from files other than reprise.json

  const ChatMetadata& at(const LogPoint& log) const;
};

// The state of a session after a batch, without its messages.
struct State {
  Usage usage = {};
  std::optional<PartialStart> answering = {};
  Time updated_at = {};  // only if the time of the line is unknown
  std::optional<Time> arrived_at = {};
};
std::string state_to_json(const State& state);
State state_from_json(std::string_view json);

std::string metadata_to_json(const MetadataFile& metadata);
// corrupt if the JSON is malformed.
Result<MetadataFile> metadata_from_json(const SessionId& id, std::string_view json);

enum class MetadataScope : std::uint8_t;

// Derives the metadata of a chat without reprise.json. io if any of its files cannot be read,
// because the next change would store the result.
Result<MetadataFile> derive_metadata(const Layout& layout, const std::filesystem::path& folder,
                                     const SessionId& id, std::string_view working_dir,
                                     MetadataScope scope);

// The session with the log in this state.
StoredSession session_at(const MetadataFile& metadata, const LogState& log);

// Whether another program has appended to the log since the usage was summed up, so that
// usage_added_by_others() is missing from it.
bool lacks_usage_of_others(const MetadataFile& metadata, const LogState& log);

std::string step_usage_to_json(const Usage& usage);

// All zero if the JSON cannot be read.
Usage step_usage_from_json(std::string_view json);

// The usage of all steps in a chat's folder. io if one cannot be read.
Result<Usage> usage_of_steps(const std::filesystem::path& chat);

// The usage of the answers that another program appended after `from`, an offset in the log, and
// after our last line. The number of a step is that of its answer.
Result<Usage> usage_added_by_others(const MessageLog& log, std::int64_t from,
                                    const std::filesystem::path& chat);

}  // namespace reprise::store::chatdir
