#include <map>

#include "base/zstd_library.h"
#include "engine/origin.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "session/import.h"

namespace reprise {

Result<> import_originals(Source& source, const SessionId& foreign, Store& target,
                          const SessionId& id) {
  OriginalReader* const from = source.capabilities().original_reader;
  Artefacts* const to = target.capabilities().artefacts;
  if (from == nullptr || to == nullptr) {
    return {};
  }
  REPRISE_ASSIGN(const std::vector<OriginalReader::File> files, from->originals(foreign));
  REPRISE_ASSIGN(const std::vector<ArtefactReader::Entry> present, to->list_artefacts(id));
  // As for messages (CopyOptions): the caller's next write makes them durable.
  const bool is_synced_later = target.capabilities().deferred_creation != nullptr;
  std::map<std::string_view, std::int64_t> unused;  // bytes of the stored pieces, by their names
  for (const ArtefactReader::Entry& entry : present) {
    if (entry.step == Step{0} && entry.name.starts_with(kOriginalsFolder)) {
      unused.emplace(entry.name, entry.bytes);
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::int64_t number = 0;
    constexpr auto kStep = static_cast<std::int64_t>(kOriginalPieceBytes);
    for (std::int64_t at = 0; at < files[i].bytes; at += kStep) {
      REPRISE_ASSIGN(const std::string bytes,
                     from->read_original(foreign, i, at, kOriginalPieceBytes));
      const std::string piece = zstd_packed(bytes);
      const std::string name = original_piece_name(files[i].name, number++);
      if (unused.erase(name) == 0) {
        REPRISE_TRY(is_synced_later ? to->append_artefact(id, Step{0}, name, piece)
                                    : to->save_artefact(id, Step{0}, name, piece));
        continue;
      }
      REPRISE_ASSIGN(const auto stored, to->find_artefact(id, Step{0}, name));
      if (stored != piece) {
        REPRISE_TRY(to->save_artefact(id, Step{0}, name, piece));
      }
    }
  }
  for (const auto& [name, bytes] : unused) {  // of a file that became shorter, or has gone
    REPRISE_TRY(bytes == 0 ? Result<>() : to->save_artefact(id, Step{0}, name, ""));
  }
  return {};
}

}  // namespace reprise
