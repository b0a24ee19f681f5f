#include "engine/copy_reduce.h"

// In targets with artefacts, replaced messages are stored in the same artefact as in chat
// directories, one message per line.

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/encode.h"
#include "base/text.h"
#include "engine/blobs.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"

namespace reprise::engine {
namespace {

void clear_lost(std::string& text, std::string_view description, Losses& losses) {
  if (!text.empty()) {
    text.clear();
    losses.emplace(description);
  }
}

// Blobs referenced only by an artefact would be purged after a day, so their bytes are stored in
// it.
void put_blobs_inline(Message& message, BlobReader* blobs, Losses& losses) {
  const auto with_bytes = [&](std::optional<BlobHash>& blob, const auto& put) {
    if (!blob) {
      return;
    }
    const auto bytes = blobs == nullptr ? fail(Code::unsupported, "the source offers no blobs")
                                        : read_blob(*blobs, *blob);
    if (bytes) {
      put(*bytes);
      blob.reset();
    } else {
      losses.insert(cat("blob ", blob->str(), " of a replaced message: ", bytes.error().message));
    }
  };
  for (Block& block : message.blocks) {
    if (auto* const result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
      with_bytes(result->blob, [result](std::string_view bytes) {
        TextBlock text = text_block(bytes);
        result->text = std::move(text.text);
        std::ranges::move(text.extra, std::back_inserter(result->extra));
      });
    } else if (auto* const image = std::get_if<ImageBlock>(&block); image != nullptr) {
      with_bytes(image->blob, [image](std::string_view bytes) {
        image->url = cat("data:", image->media_type, ";base64,", base64_encode(bytes));
      });
    }
  }
}

Result<std::string> read_lines(Source& source, const SessionId& id, Losses& losses,
                               Losses& damage) {
  std::string out;
  if (ArtefactReader* const artefacts = source.capabilities().artefact_reader;
      artefacts != nullptr) {
    REPRISE_ASSIGN(auto earlier, artefacts->find_artefact(id, {0}, kReplacedArtefact));
    out = std::move(earlier).value_or("");
    out += out.empty() || out.ends_with('\n') ? "" : "\n";
  }
  BlobReader* const blobs = source.capabilities().blob_reader;
  const auto sink = [&](Message&& message) {
    put_blobs_inline(message, blobs, losses);
    out += cat(message_to_json(message), "\n");
    return Flow::proceed;
  };
  REPRISE_ASSIGN(const ReadReport report,
                 source.capabilities().replaced_reader->read_replaced(id, sink));
  for (const Damage& part : report.damage) {
    damage.insert(cat("a damaged part: ", part.where, ": ", part.reason));
  }
  return out;
}

}  // namespace

Session reduce(Session session, const SourceCapabilities& capabilities, Losses& losses) {
  SessionInfo& info = session.info;
  info.answering = std::nullopt;
  if (!capabilities.modes) {
    clear_lost(info.mode, "the mode", losses);
  }
  if (!capabilities.folders) {
    clear_lost(info.working_dir, "the folder", losses);
  }
  if (!capabilities.system_prompt) {
    clear_lost(session.system_prompt, "the system prompt", losses);
  }
  if (!capabilities.config && !session.config.is_null()) {
    session.config = RawJson();
    losses.emplace("the session's settings");
  }
  if (info.state == SessionState::archived) {
    info.state = SessionState::closed;
  } else if (info.state == SessionState::trashed) {
    info.state = SessionState::closed;
    losses.emplace("the state trashed");
  }
  return session;
}

Message reduce(Message message, const SourceCapabilities& capabilities, Losses& losses) {
  message.seq = {};  // assigned by the target
  if (!capabilities.message_details) {
    if (std::exchange(message.author, std::nullopt)) {
      losses.emplace("the messages' authors");
    }
    clear_lost(message.provider, "the messages' providers", losses);
    clear_lost(message.model, "the messages' models", losses);
    clear_lost(message.response_id, "the messages' response ids", losses);
    if (std::exchange(message.usage, std::nullopt)) {
      losses.emplace("the messages' usage");
    }
    if (std::exchange(message.state, MessageState::complete) == MessageState::incomplete) {
      losses.emplace("whether answers are incomplete");
    }
  }
  if (!capabilities.blocks) {
    const auto count = std::erase_if(message.blocks, [](const Block& block) {
      return !std::holds_alternative<TextBlock>(block);
    });
    if (count > 0) {
      losses.emplace("blocks that are not text");
    }
  }
  return message;
}

Result<std::int64_t> count_replaced(Source& source, const SessionId& id) {
  ReplacedReader* const reader = source.capabilities().replaced_reader;
  return reader != nullptr ? reader->count_replaced(id) : 0;
}

Result<> copy_replaced(Source& source, Store& target, const SessionId& id, Losses& losses,
                       Losses& damage) {
  REPRISE_ASSIGN(const std::int64_t count, count_replaced(source, id));
  if (count == 0) {
    return {};
  }
  Artefacts* const artefacts = target.capabilities().artefacts;
  if (artefacts == nullptr) {
    losses.insert(cat("replaced messages: ", count));
    return {};
  }
  REPRISE_ASSIGN(const std::string lines, read_lines(source, id, losses, damage));
  REPRISE_ASSIGN(const auto stored, artefacts->find_artefact(id, {0}, kReplacedArtefact));
  if (stored == lines) {
    return {};
  }
  if (stored && !lines.starts_with(*stored)) {
    losses.insert(cat("replaced messages: ", count, ": the target has others"));
    return {};
  }
  const auto saved = artefacts->save_artefact(id, {0}, kReplacedArtefact, lines);
  if (!saved && saved.error().code != Code::invalid_argument) {
    return std::unexpected(saved.error());
  }
  if (!saved) {
    losses.insert(cat("replaced messages: ", count, ": ", saved.error().message));
  }
  return {};
}

}  // namespace reprise::engine
