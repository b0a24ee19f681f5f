#pragma once

// What a chat directory holds at one moment, told by its files: enough to copy it as it was then
// while others go on writing, and without their locks, as the directory may be one that can only
// be read.

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <set>

#include "reprise/types.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/document/documents.h"

namespace reprise::store::chatdir {

// A chat or an archive. Messages are added at the end, so those of the moment can be told from
// later ones by the size that their file had.
struct ChatMoment {
  Layout::Listed listed;
  std::optional<FileIdentity> record;    // messages.jsonl, or chat.zip
  std::optional<FileIdentity> metadata;  // reprise.json, or chat.json
  std::optional<ino_t> answer;           // of the running one
  std::string metadata_bytes = {};       // of a chat that changes all the time

  friend bool operator==(const ChatMoment& a, const ChatMoment& b) {
    return a.listed.place.folder == b.listed.place.folder && a.record == b.record &&
           a.metadata == b.metadata && a.answer == b.answer;
  }
};
Result<ChatMoment> identify_chat(const Layout::Listed& listed);

struct Moment {
  std::map<std::filesystem::path, ChatMoment> chats;  // by their folders
  std::optional<SessionId> current;
  std::optional<std::string> model;  // the bytes of llimo.json
  friend bool operator==(const Moment&, const Moment&) = default;
};

// Two looks that see the same: all of it was there between them. The metadata of the `busy` chats
// are read, as they would have changed again when they are copied. busy when all changes too fast.
Result<Moment> find_moment(Chats& chats, const std::set<std::filesystem::path>& busy);

// All files of a chat's folder that are no record, into a folder that is made. Links are left out.
Result<> copy_other_files(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace reprise::store::chatdir
