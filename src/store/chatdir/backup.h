#pragma once

// A snapshot of a whole chat directory while others go on writing.

#include <filesystem>

#include "reprise/error.h"
#include "reprise/store_offers.h"
#include "store/chatdir/chats.h"

namespace reprise::store::chatdir {

class ChatBackup final : public Backup {
 public:
  explicit ChatBackup(Chats& chats) : chats_(chats) {}
  // Each chat as it was at one moment. Links are left out.
  Result<> backup(const std::filesystem::path& named) override;

 private:
  Result<> copy_all(const Layout& to);

  Chats& chats_;
};

// All files of a chat's folder that are no record, into a folder that is made. Links are left out.
Result<> copy_other_files(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace reprise::store::chatdir
