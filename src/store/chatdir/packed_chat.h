#pragma once

// A chat that was packed away: chat.zip with all its files, and chat.json with what lists show.

#include <sys/types.h>

#include <ctime>

#include "store/chatdir/layout.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {

// The mode and the time of the last change of a chat's own folder, which no entry of a zip has.
struct FolderMetadata {
  mode_t mode = 0700;
  timespec modified = {};
};
Result<FolderMetadata> metadata_of_folder(const std::filesystem::path& chat);

// What is archived: the folder as it was before anybody locked the chat.
struct Packed {
  const std::filesystem::path& chat;
  FolderMetadata folder_metadata;
  const StoredSession& session;
  Time when;
};

// Writes both files of a chat into a new folder, complete, checked and synced. Secret headers are
// left out of response.json. unsupported for what could not be unpacked again.
Result<> pack_chat(const Packed& packed, const std::filesystem::path& folder);

// Writes the chat's files into a new folder, synced. corrupt for a zip that is not safe.
Result<> unpack_chat(const std::filesystem::path& zip, const SessionId& id,
                     const std::filesystem::path& folder);

// What chat.json says of the session; where it cannot be read, only the id, and the reason.
struct PackedSession {
  StoredSession stored;
  std::vector<Damage> damage;
};
PackedSession read_packed_session(const SessionId& id, const Place& place);

// Reads the messages without unpacking the chat.
Result<ReadReport> read_packed(const SessionId& id, const Place& place, const ReadRange& range,
                               const MessageSink& sink);

// The files in the zip, by their names in the chat's folder.
Result<std::vector<std::pair<std::string, std::int64_t>>> list_packed_files(const SessionId& id,
                                                                            const Place& place);
// nullopt when it is not among them.
Result<std::optional<std::string>> read_packed_file(const SessionId& id, const Place& place,
                                                    std::string_view name);

// Reads every byte of the zip; corrupt when it is not safe or not whole.
Result<> check_zip(const std::filesystem::path& zip);

}  // namespace reprise::store::chatdir
