#include "reprise/export.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "base/zstd_library.h"
#include "engine/origin.h"
#include "export/formats.h"  // IWYU pragma: export
#include "export/names.h"
#include "export/tool_values.h"
#include "export/writer.h"
#include "model/known_time.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"

namespace reprise {

Result<std::string> ExportOutput::add_file(std::string_view name,
                                           const std::function<Result<>(const Piece&)>& /*fill*/) {
  return fail(Code::unsupported, cat("this output cannot take the file ", name));
}

Result<std::string> exported_id(Source& source, const Session& session,
                                const ExportFormat& format) {
  REPRISE_ASSIGN(const auto original,
                 exporting::find_original(source, session, exporting::format_of(format)));
  return original ? original->id : exporting::uuid_of(session);
}

Result<ExportResult> export_session(Source& source, const SessionId& id, const ExportFormat& format,
                                    ExportOutput& output, const std::stop_token& stop) {
  const exporting::Format& entry = exporting::format_of(format);
  REPRISE_ASSIGN(const SessionSnapshot now, get_snapshot(source, id));
  const bool needs_times = !format.tool.empty();
  REPRISE_ASSIGN(const Session session, needs_times ? exporting::with_times(source, now.session)
                                                    : Result<Session>(now.session));
  exporting::Job job{.source = source, .session = session, .output = output};
  REPRISE_ASSIGN(const auto original, exporting::find_original(source, now.session, entry));
  if (original) {
    REPRISE_TRY(write_original(job, *original));
    return ExportResult{.messages = now.session.info.head.value, .losses = {}, .damage = {}};
  }
  REPRISE_TRY(add_losses(job, entry.losses));
  const auto note_time = [&](Time time) {
    if (needs_times && !is_known(time)) {
      job.losses.emplace("unknown times: other times are written");
    }
  };
  note_time(now.session.info.created_at);
  note_time(now.session.info.updated_at);
  if (!source.capabilities().messages) {
    job.losses.emplace("the messages, which only the provider has");
  }
  const std::unique_ptr<exporting::Writer> writer = entry.make(job);
  REPRISE_TRY(writer->begin());
  ExportResult exported;
  Result<> written;
  const auto write = [&](const Message& message) {
    add_losses(job, message, entry.losses);
    note_time(message.created_at);
    written = stop.stop_requested() ? fail(Code::cancelled, "stopped") : writer->message(message);
    ++exported.messages;
    return written ? Flow::proceed : Flow::stop;
  };
  REPRISE_ASSIGN(ReadReport report, source.read(id, now.range(), write));
  REPRISE_TRY(written);
  if (now.answer && !now.answer->message.blocks.empty()) {
    write(now.answer->message);
    REPRISE_TRY(written);
  }
  REPRISE_TRY(writer->end());
  exported.losses.assign(job.losses.begin(), job.losses.end());
  exported.damage = std::move(report.damage);
  std::ranges::move(job.damage, std::back_inserter(exported.damage));
  return exported;
}

}  // namespace reprise

namespace reprise::exporting {
namespace {

// Codex compresses old files (".jsonl.zst"). They are exported uncompressed, which it reads, too.
Original unpacked(Original original) {
  constexpr std::string_view kPacked = ".zst";
  original.is_packed = original.file.ends_with(kPacked);
  if (original.is_packed) {
    original.file.resize(original.file.size() - kPacked.size());
  }
  return original;
}

Result<std::optional<Original>> find_in_tool(OriginalReader& reader, const SessionId& id) {
  REPRISE_ASSIGN(const std::vector<OriginalReader::File> files, reader.originals(id));
  return files.size() == 1 ? std::optional(unpacked({id.str(), files.front().name})) : std::nullopt;
}

// Returns the next piece of a file, "" at its end.
using NextPiece = std::function<Result<std::string>()>;

NextPiece pieces_of(const Job& job, const Original& original) {
  const SessionId& id = job.session.info.id;
  if (original.pieces.empty()) {
    OriginalReader& reader = *job.source.capabilities().original_reader;
    return [&reader, &id, at = std::int64_t{0}]() mutable -> Result<std::string> {
      auto bytes = reader.read_original(id, 0, at, kOriginalPieceBytes);
      at += bytes ? std::ssize(*bytes) : 0;
      return bytes;
    };
  }
  ArtefactReader& artefacts = *job.source.capabilities().artefact_reader;
  return [&artefacts, &id, &original, i = std::size_t{0}]() mutable -> Result<std::string> {
    if (i == original.pieces.size()) {
      return "";
    }
    REPRISE_ASSIGN(auto piece, artefacts.find_artefact(id, Step{0}, original.pieces[i++]));
    std::string bytes = std::move(piece).value_or("");
    // The import does not compress what is compressed.
    return original.is_packed ? std::move(bytes) : zstd_unpacked(bytes);
  };
}

Result<> write_unpacked(const NextPiece& next, ExportOutput& output) {
  std::string piece;
  std::size_t used = 0;
  const ZstdRead read = [&](std::span<char> into) -> Result<std::size_t> {
    if (used == piece.size()) {
      REPRISE_ASSIGN(piece, next());
      used = 0;
    }
    const std::size_t count = piece.copy(into.data(), into.size(), used);
    used += count;
    return count;
  };
  return zstd_unpack(read, [&output](std::string_view bytes) { return output.write(bytes); });
}

// The FILE in "original/FILE/000002".
std::string_view file_of(std::string_view artefact) {
  artefact.remove_prefix(kOriginalsFolder.size());
  return artefact.substr(0, artefact.rfind('/'));
}

}  // namespace

Result<std::optional<Original>> find_original(Source& source, const Session& session,
                                              const Format& format) {
  if (!format.accepts_originals) {
    return std::nullopt;
  }
  const std::string_view tool = format.info.name;
  if (OriginalReader* const reader = source.capabilities().original_reader; reader != nullptr) {
    return reader->tool() == tool ? find_in_tool(*reader, session.info.id)
                                  : Result<std::optional<Original>>();
  }
  const std::optional<Origin> origin = origin_of(session);
  ArtefactReader* const artefacts = source.capabilities().artefact_reader;
  // The tool has another version under that id if it removed messages.
  if (!origin || origin->tool != tool || !is_unchanged_since(session, *origin) ||
      origin->gone == Gone::messages || artefacts == nullptr) {
    return std::nullopt;
  }
  REPRISE_ASSIGN(const auto entries, artefacts->list_artefacts(session.info.id));
  Original original{origin->id, {}, {}};
  for (const ArtefactReader::Entry& entry : entries) {
    const bool is_piece = entry.step == Step{0} && entry.name.starts_with(kOriginalsFolder);
    if (!is_piece || entry.bytes == 0) {
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
  return original.pieces.empty() ? std::nullopt : std::optional(unpacked(std::move(original)));
}

Result<> write_original(const Job& job, const Original& original) {
  const NextPiece next = pieces_of(job, original);
  if (original.is_packed) {
    return write_unpacked(next, job.output);
  }
  for (;;) {
    REPRISE_ASSIGN(const std::string bytes, next());
    if (bytes.empty()) {
      return {};
    }
    REPRISE_TRY(job.output.write(bytes));
  }
}

}  // namespace reprise::exporting
