#include "export/original.h"

#include <utility>

#include "base/text.h"
#include "base/zstd_library.h"
#include "engine/origin.h"
#include "export/formats.h"
#include "export/writer.h"
#include "reprise/capabilities.h"

namespace reprise::exporting {
namespace {

Result<std::optional<Original>> find_in_tool(OriginalReader& reader, const SessionId& id) {
  REPRISE_ASSIGN(const std::vector<OriginalReader::File> files, reader.originals(id));
  return files.size() == 1 ? std::optional(Original{id.str(), files.front().name, {}})
                           : std::nullopt;
}

// The FILE in "original/FILE/000002".
std::string_view file_of(std::string_view artefact) {
  artefact.remove_prefix(kOriginalsFolder.size());
  return artefact.substr(0, artefact.rfind('/'));
}

}  // namespace

Result<std::optional<Original>> find_original(Source& source, const Session& session,
                                              const Format& format) {
  if (!format.takes_originals) {
    return std::nullopt;
  }
  const std::string_view tool = format.shown.name;
  if (OriginalReader* const reader = source.capabilities().original_reader; reader != nullptr) {
    return reader->tool() == tool ? find_in_tool(*reader, session.info.id)
                                  : Result<std::optional<Original>>();
  }
  const std::optional<Origin> origin = origin_of(session);
  ArtefactReader* const artefacts = source.capabilities().artefact_reader;
  if (!origin || origin->tool != tool || !is_unchanged_since(session, *origin) ||
      artefacts == nullptr) {
    return std::nullopt;
  }
  REPRISE_ASSIGN(const auto entries, artefacts->list_artefacts(session.info.id));
  Original original{origin->id, {}, {}};
  for (const ArtefactReader::Entry& entry : entries) {
    if (entry.step != Step{0} || !entry.name.starts_with(kOriginalsFolder)) {
      continue;
    }
    const std::string_view file = file_of(entry.name);
    const bool is_name = !file.empty() && !file.contains('/');
    if (!is_name || (!original.file.empty() && original.file != file)) {
      return std::nullopt;
    }
    original.file = file;
    original.pieces.push_back(entry.name);
  }
  return original.pieces.empty() ? std::nullopt : std::optional(std::move(original));
}

Result<> write_original(const Job& job, const Original& original) {
  const SessionId& id = job.session.info.id;
  for (const std::string& name : original.pieces) {
    REPRISE_ASSIGN(const auto piece,
                   job.source.capabilities().artefact_reader->find_artefact(id, Step{0}, name));
    REPRISE_ASSIGN(const std::string bytes, zstd_unpacked(piece.value_or("")));
    REPRISE_TRY(job.output.write(bytes));
  }
  if (!original.pieces.empty()) {
    return {};
  }
  OriginalReader& reader = *job.source.capabilities().original_reader;
  for (std::int64_t at = 0;;) {
    REPRISE_ASSIGN(const std::string bytes, reader.read_original(id, 0, at, kOriginalPieceBytes));
    REPRISE_TRY(job.output.write(bytes));
    at += std::ssize(bytes);
    if (bytes.size() < kOriginalPieceBytes) {
      return {};
    }
  }
}

}  // namespace reprise::exporting
