#pragma once

// Artefacts of steps: files in steps/NNN/, those of step 0 in the chat's own folder. A name may be
// a file's, or the key that the original calls it by ("parts" is stream.jsonl). Older layouts are
// read: flat folders, answer-step1.md, step/001/.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/error.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/chatdir/chats.h"

namespace reprise::store::chatdir {

class ChatArtefacts final : public Artefacts {
 public:
  explicit ChatArtefacts(Chats& chats) : chats_(chats) {}
  // invalid_argument for the files of the record itself.
  Result<> save_artefact(const SessionId& id, Step step, std::string_view name,
                         std::string_view bytes) override;
  Result<> append_artefact(const SessionId& id, Step step, std::string_view name,
                           std::string_view bytes) override;
  Result<std::optional<std::string>> find_artefact(const SessionId& id, Step step,
                                                   std::string_view name) override;
  Result<std::vector<Entry>> list_artefacts(const SessionId& id) override;

 private:
  Chats& chats_;
};

}  // namespace reprise::store::chatdir
