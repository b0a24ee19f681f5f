#pragma once

// The state of a chat directory at one moment, recorded as the identities of its files: enough for
// a consistent copy while others continue to write. Takes no locks, because the directory may be
// read-only.

#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "reprise/types.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"

namespace reprise::store::chatdir {

// A chat or an archive. Since messages are appended, later ones are recognised by the size that the
// file had.
struct ChatSnapshot {
  Layout::Listed listed;
  std::optional<FileIdentity> record;    // messages.jsonl, or chat.zip
  std::optional<FileIdentity> metadata;  // reprise.json, or chat.json
  std::optional<ino_t> answer;           // of the running answer
  std::string metadata_bytes = {};       // only for a chat that changes constantly

  friend bool operator==(const ChatSnapshot& a, const ChatSnapshot& b) {
    return a.listed.location.folder == b.listed.location.folder && a.record == b.record &&
           a.metadata == b.metadata && a.answer == b.answer;
  }
};
Result<ChatSnapshot> identify_chat(const Layout::Listed& listed);

struct Snapshot {
  std::map<std::filesystem::path, ChatSnapshot> chats;  // by folder
  std::optional<SessionId> current;
  std::optional<std::string> model;  // the bytes of llimo.json
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

// Two identical listings mean that nothing changed in between. The metadata of the `busy` chats is
// read here, because it would change again before it is copied. busy if everything changes too
// fast.
Result<Snapshot> take_snapshot(Chats& chats, const std::set<std::filesystem::path>& busy);

// Copies all files of a chat's folder except the record into a new folder. Links are omitted.
Result<> copy_other_files(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace reprise::store::chatdir
