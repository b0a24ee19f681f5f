#include "engine/copy_replaced.h"

#include "base/text.h"

namespace reprise::engine {
namespace {

// An artefact names no blobs: their bytes would go after a day.
void note_blobs(const Message& message, Losses& losses) {
  const auto note = [&losses](const std::optional<BlobHash>& blob) {
    if (blob) {
      losses.insert(cat("blob ", blob->str(), " of a replaced message"));
    }
  };
  for (const Block& block : message.blocks) {
    if (const auto* const result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
      note(result->blob);
    } else if (const auto* const image = std::get_if<ImageBlock>(&block); image != nullptr) {
      note(image->blob);
    }
  }
}

struct Replaced {
  std::string lines;
  bool is_damaged = false;
};

Result<Replaced> read_lines(Source& source, const SessionId& id, Losses& losses) {
  Replaced out;
  if (ArtefactReader* const artefacts = source.capabilities().artefact_reader;
      artefacts != nullptr) {
    REPRISE_ASSIGN(auto earlier, artefacts->find_artefact(id, {0}, kReplacedArtefact));
    out.lines = std::move(earlier).value_or("");
    out.lines += out.lines.empty() || out.lines.ends_with('\n') ? "" : "\n";
  }
  const auto take = [&](Message&& message) {
    note_blobs(message, losses);
    out.lines += cat(message_to_json(message), "\n");
    return Flow::go_on;
  };
  REPRISE_ASSIGN(const ReadReport report,
                 source.capabilities().replaced_reader->read_replaced(id, take));
  for (const Damage& part : report.damage) {
    losses.insert(cat("a damaged part: ", part.where, ": ", part.reason));
    out.is_damaged = true;
  }
  return out;
}

}  // namespace

Result<std::int64_t> count_replaced(Source& source, const SessionId& id) {
  ReplacedReader* const reader = source.capabilities().replaced_reader;
  return reader != nullptr ? reader->count_replaced(id) : 0;
}

Result<bool> copy_replaced(Source& source, Store& target, const SessionId& id, Losses& losses) {
  REPRISE_ASSIGN(const std::int64_t count, count_replaced(source, id));
  if (count == 0) {
    return false;
  }
  Artefacts* const artefacts = target.capabilities().artefacts;
  if (artefacts == nullptr) {
    losses.insert(cat("replaced messages: ", count));
    return false;
  }
  REPRISE_ASSIGN(const Replaced replaced, read_lines(source, id, losses));
  REPRISE_ASSIGN(const auto there, artefacts->find_artefact(id, {0}, kReplacedArtefact));
  if (there == replaced.lines) {
    return replaced.is_damaged;
  }
  if (there && !replaced.lines.starts_with(*there)) {
    losses.insert(cat("replaced messages: ", count, ": the target has others"));
    return replaced.is_damaged;
  }
  const auto saved = artefacts->save_artefact(id, {0}, kReplacedArtefact, replaced.lines);
  if (!saved && saved.error().code != Code::invalid_argument) {
    return std::unexpected(saved.error());
  }
  if (!saved) {
    losses.insert(cat("replaced messages: ", count, ": ", saved.error().message));
  }
  return replaced.is_damaged;
}

}  // namespace reprise::engine
