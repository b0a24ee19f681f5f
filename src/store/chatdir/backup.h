#pragma once

// A snapshot of a whole chat directory while others go on writing.

#include <filesystem>

#include "reprise/error.h"
#include "reprise/store_offers.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"

namespace reprise::store::chatdir {

class ChatBackup final : public Backup {
 public:
  explicit ChatBackup(Chats& chats) : chats_(chats) {}
  // The directory as it was at one moment: its chats, their messages and what they say of
  // themselves. Artefacts are of that moment or later ones. Links are left out. busy when that
  // moment cannot be found because too much changes.
  Result<> backup(const std::filesystem::path& named) override;

 private:
  Result<> copy_all(const Layout& to);

  Chats& chats_;
};

// All files of a chat's folder that are no record, into a folder that is made. Links are left out.
Result<> copy_other_files(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace reprise::store::chatdir
