#include "store/chatdir/snapshot.h"

#include <set>

#include "base/file.h"
#include "base/text.h"
#include "reprise/types.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/current.h"
#include "store/chatdir/layout.h"
#include "store/document/documents.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr int kAttemptsMax = 200;

Result<Snapshot> identify_all(Chats& chats, const std::set<fs::path>& busy) {
  Snapshot snapshot;
  for (const Spot spot : {Spot::chats, Spot::archive, Spot::trash}) {
    REPRISE_ASSIGN(const auto all, chats.layout().list(spot));
    for (const Layout::Listed& listed : all) {
      REPRISE_ASSIGN(ChatSnapshot chat, identify_chat(listed));
      if (busy.contains(listed.place.folder)) {
        chat.metadata_bytes = read_file(listed.place.folder / kMetadataFile).value_or("");
      }
      snapshot.chats.emplace(listed.place.folder, std::move(chat));
    }
  }
  // Errors are ignored: it may be a link, or not name a chat.
  const auto current = find_current(chats.layout());
  snapshot.current = current ? *current : std::nullopt;
  REPRISE_ASSIGN(snapshot.model, if_exists(read_file(chats.layout().model_file())));
  return snapshot;
}

}  // namespace

Result<ChatSnapshot> identify_chat(const Layout::Listed& listed) {
  const bool is_packed = listed.place.is_packed();
  const fs::path& folder = listed.place.folder;
  ChatSnapshot chat{.listed = listed, .record = {}, .metadata = {}, .answer = {}};
  REPRISE_ASSIGN(chat.record, if_exists(identify(folder / (is_packed ? kZipFile : kMessagesFile))));
  REPRISE_ASSIGN(chat.metadata,
                 if_exists(identify(folder / (is_packed ? kZipMetadataFile : kMetadataFile))));
  REPRISE_ASSIGN(const auto answer, if_exists(identify(folder / kAnswerFile)));
  chat.answer = answer ? std::optional(answer->inode) : std::nullopt;
  return chat;
}

Result<Snapshot> take_snapshot(Chats& chats, const std::set<fs::path>& busy) {
  std::optional<Snapshot> last;
  for (int attempts = 0; attempts < kAttemptsMax; ++attempts) {
    REPRISE_ASSIGN(Snapshot now, identify_all(chats, busy));
    if (last == now) {
      return *std::move(last);  // the metadata was read between the two listings
    }
    last = std::move(now);
  }
  return fail(Code::busy,
              cat(chats.layout().root().native(), " changes faster than it can be copied"));
}

}  // namespace reprise::store::chatdir
