#include <set>

#include "base/file.h"
#include "store/document/document_format.h"
#include "store/document/documents.h"
#include "store/stored_session.h"

namespace reprise::store {

namespace fs = std::filesystem;

Result<std::vector<SessionInfo>> Documents::infos(std::vector<Damage>& damage) {
  REPRISE_ASSIGN(auto known, files_.infos(damage));
  if (known) {
    return *std::move(known);
  }
  const Result<std::optional<Found>> none;
  std::vector<SessionInfo> all;
  std::set<SessionId> seen;
  REPRISE_ASSIGN(const std::vector<fs::path> files, files_.files());
  for (const fs::path& file : files) {
    REPRISE_ASSIGN(const auto loaded, if_exists(load(file)));
    if (!loaded) {
      continue;  // it was moved meanwhile
    }
    const Document& document = *loaded->document;
    for (const FileSession& session : document.sessions) {
      const SessionInfo& info = session.stored.session.info;
      if (seen.insert(info.id).second) {
        REPRISE_ASSIGN(const auto whole, files_.stores_whole_turns() ? find(info.id) : none);
        all.push_back(whole ? whole->session->stored.session.info : info);
      }
      damage.insert(damage.end(), session.damage.begin(), session.damage.end());
    }
    damage.insert(damage.end(), document.damage.begin(), document.damage.end());
    if (document.unreadable) {
      damage.push_back(*document.unreadable);
    }
  }
  add_unsaved(all, damage);
  return all;
}

}  // namespace reprise::store
