#pragma once

// What a chat has beside its messages: reprise.json in its folder. Small, and replaced whole. A
// chat that the original made has none; then what can be told is told from its other files.

#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {

// The session without its messages. Its usage, its time of activity, the running answer and the
// operations are those at `log`: a line written later knows better.
struct ChatMetadata {
  StoredSession stored;
  LogPoint log = point_of(LogState::of_nothing());

  explicit ChatMetadata(const SessionId& id) : stored{.session = {.info = {.id = id}}} {}
  ChatMetadata(StoredSession session, LogPoint at) : stored(std::move(session)), log(at) {}
};

struct MetadataFile {
  explicit MetadataFile(const SessionId& id) : now(id) {}

  ChatMetadata now;
  // A cut that is being made: when the log ends at this point, it is this metadata that holds.
  std::optional<ChatMetadata> cut = {};
  Extra others = {};        // members we do not know
  bool is_derived = false;  // from other files than reprise.json

  const ChatMetadata& at(const LogPoint& log) const;
};

// What a session has come to, besides its messages.
struct State {
  Usage usage = {};
  std::optional<PartialStart> answering = {};
  Time updated_at = {};  // only where the line's own time is not known
};
std::string state_to_json(const State& state);
State state_from_json(std::string_view json);

std::string metadata_to_json(const MetadataFile& metadata);
// corrupt for what is no such JSON.
Result<MetadataFile> metadata_from_json(const SessionId& id, std::string_view json);

enum class Derive : std::uint8_t;

// For a chat that has no reprise.json. io when something in it cannot be looked at: the next change
// would write down what is told here.
Result<MetadataFile> derive_metadata(const Layout& layout, const std::filesystem::path& folder,
                                     const SessionId& id, std::string_view working_dir,
                                     Derive what);

// The session as it is with this record. `changed` is when the file was last written to.
StoredSession session_at(const MetadataFile& metadata, const LogState& log);

// Whether another program has added to the record since the usage there was summed up: then
// usage_added_by_others() is missing in it.
bool lacks_usage_of_others(const MetadataFile& metadata, const LogState& log);

}  // namespace reprise::store::chatdir
