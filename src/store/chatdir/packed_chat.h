#pragma once

// An archived chat: chat.zip with all its files, and chat.json with what lists show.

#include <sys/types.h>

#include <ctime>

#include "store/chatdir/layout.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {

// The mode and modification time of the chat's own folder, for which a zip has no entry.
struct FolderMetadata {
  mode_t mode = 0700;
  timespec modified = {};
};
Result<FolderMetadata> metadata_of_folder(const std::filesystem::path& chat);

// The folder to archive, with its metadata from before the chat was locked.
struct Packed {
  const std::filesystem::path& chat;
  FolderMetadata folder_metadata;
  const StoredSession& session;
  Time when;
};

// Writes both files of a chat into a new folder, verified and synced. Secret headers are removed
// from response.json. unsupported for a chat that could not be unpacked again.
Result<> pack_chat(const Packed& packed, const std::filesystem::path& folder);

// Writes the chat's files into a new folder, synced. corrupt for an unsafe zip.
Result<> unpack_chat(const std::filesystem::path& zip, const SessionId& id,
                     const std::filesystem::path& folder);

// The session from chat.json; if that cannot be read, only the id, and the reason in `damage`.
struct PackedSession {
  StoredSession stored;
  std::vector<Damage> damage;
};
PackedSession read_packed_session(const SessionId& id, const Location& location);

// Reads the messages without unpacking the chat.
Result<ReadReport> read_packed(const SessionId& id, const Location& location,
                               const ReadRange& range, const MessageSink& sink);

// The files in the zip with their sizes, by their names in the chat's folder; and the folders that
// have an entry, whose names end with '/'.
Result<std::vector<std::pair<std::string, std::int64_t>>> list_packed(const SessionId& id,
                                                                      const Location& location);
// nullopt if there is no such file.
Result<std::optional<std::string>> read_packed_file(const SessionId& id, const Location& location,
                                                    std::string_view name);

// Reads every byte of the zip; corrupt if it is unsafe or incomplete.
Result<> check_zip(const std::filesystem::path& zip);

}  // namespace reprise::store::chatdir
