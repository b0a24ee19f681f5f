#pragma once

// Looking at every chat of a directory, and writing all that can be read into a new one.

#include <filesystem>

#include "reprise/error.h"
#include "reprise/store_offers.h"
#include "store/chatdir/chats.h"

namespace reprise::store::chatdir {

class ChatRepair final : public Repair {
 public:
  explicit ChatRepair(Chats& chats) : chats_(chats) {}
  Result<VerifyReport> verify() override;
  // Files that are no records are copied as they are. A damaged messages.jsonl or reprise.json
  // stands beside the new one as .bak.
  Result<VerifyReport> repair_into(const std::filesystem::path& named) override;

 private:
  Chats& chats_;
};

}  // namespace reprise::store::chatdir
