#pragma once

// The files of each kind of store that fuzzers and trials replace by bad ones. The table is the
// only list of them; every kind of store in a file or a folder is in it
// (StoreFiles.CoverEveryKind).

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "reprise/open_store.h"

namespace reprise::test {

struct StoreFile {
  std::string_view name;  // of its folder in fuzz/corpus/stores
  std::string_view file;  // its path in the folder of the store
  std::string_view kind;  // of the store
};

// The chat and session that the files belong to.
inline constexpr std::string_view kStoreFilesId = "01990000-0000-7000-8000-000000000001";

// Its input is not the file itself: of a database, only bytes are changed.
inline constexpr std::string_view kDatabaseFile = "database";

inline constexpr std::array<StoreFile, 7> kStoreFiles = {{
    {"chat_log", "chats/chat/01990000-0000-7000-8000-000000000001/messages.jsonl", "chatdir"},
    {"chat_metadata", "chats/chat/01990000-0000-7000-8000-000000000001/reprise.json", "chatdir"},
    {"chat_archive", "chats/archive/fyi9s-0-m4g-pa8-1/chat.zip", "chatdir"},
    {"session", "sessions/active/01990000-0000-7000-8000-000000000001.json", "sessions"},
    {"chain", "conversations.json", "chain"},
    {"context", "openai.json", "context"},
    {kDatabaseFile, "reprise.db", "sqlite"},
}};

// The URL of the store in a folder.
inline std::string store_url_of(const StoreFile& file, const std::filesystem::path& folder) {
  return url_in_folder(*std::ranges::find(store_kinds(), file.kind, &StoreKind::name), folder);
}

}  // namespace reprise::test
