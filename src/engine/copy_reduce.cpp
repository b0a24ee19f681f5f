#include "engine/copy_reduce.h"

// In targets with artefacts, replaced messages are stored in the same artefact as in chat
// directories, one message per line.

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/encode.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/transient.h"
#include "engine/blobs.h"
#include "model/texts.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/rules.h"

namespace reprise::engine {
namespace {

constexpr std::string_view kMended =
    "text that is not valid Unicode: it has U+FFFD, and its bytes are in an extra field";
constexpr std::string_view kReplacedArtefact = "replaced.jsonl";  // of step 0

// The number of replaced messages that the source does not return as artefacts.
Result<std::int64_t> count_replaced(Source& source, const SessionId& id) {
  ReplacedReader* const reader = source.capabilities().replaced_reader;
  return reader != nullptr ? reader->count_replaced(id) : 0;
}

void clear_lost(std::string& text, std::string_view description, Losses& losses) {
  if (!text.empty()) {
    text.clear();
    losses.emplace(description);
  }
}

Result<std::string> read_lines(Source& source, const SessionId& id, const CopyNotes& notes) {
  std::string out;
  if (ArtefactReader* const artefacts = source.capabilities().artefact_reader;
      artefacts != nullptr) {
    REPRISE_ASSIGN(auto earlier, artefacts->find_artefact(id, {0}, kReplacedArtefact));
    out = std::move(earlier).value_or("");
    out += out.empty() || out.ends_with('\n') ? "" : "\n";
  }
  BlobReader* const blobs = source.capabilities().blob_reader;
  Result<> embedded;
  const auto sink = [&](Message&& message) {
    // Blobs referenced only by an artefact would be purged after a day.
    const auto bytes =
        put_blobs_inline(message, blobs, std::numeric_limits<std::int64_t>::max(), notes.losses);
    if (!bytes) {
      embedded = std::unexpected(bytes.error());
      return Flow::stop;
    }
    out += cat(message_to_json(message), "\n");
    return Flow::proceed;
  };
  REPRISE_ASSIGN(const ReadReport report,
                 source.capabilities().replaced_reader->read_replaced(id, sink));
  REPRISE_TRY(embedded);
  for (const Damage& part : report.damage) {
    notes.damage.insert(cat("a damaged part: ", part.where, ": ", part.reason));
  }
  return out;
}

Result<> copy_artefact(ArtefactReader& from, Artefacts& to, const CopiedIds& ids,
                       const Artefacts::Entry& entry, Losses& losses) {
  const std::string name = cat("artefact ", entry.name, " of step ", entry.step.value);
  REPRISE_ASSIGN(auto bytes, from.find_artefact(ids.source, entry.step, entry.name));
  if (!bytes) {
    return {};  // removed concurrently
  }
  if (entry.name.substr(entry.name.rfind('/') + 1) == store::kResponseFile) {
    std::string redacted = redact_headers(*bytes);
    if (redacted != *bytes) {
      losses.insert(cat(name, ": headers that are secret"));
    }
    bytes = std::move(redacted);
  }
  auto done = to.find_artefact(ids.target, entry.step, entry.name);
  if (done && *done) {
    if (*done != bytes) {
      losses.insert(cat(name, ": the target has another"));
    }
    return {};
  }
  auto saved = done ? to.save_artefact(ids.target, entry.step, entry.name, *bytes)
                    : Result<>(std::unexpected(std::move(done).error()));
  if (!saved && saved.error().code == Code::invalid_argument) {
    losses.insert(cat(name, ": ", saved.error().message));
    return {};
  }
  return saved;
}

}  // namespace

Session reduce(Session session, const SourceCapabilities& capabilities, Losses& losses) {
  if (model::mend(session)) {
    losses.emplace(kMended);
  }
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
  if (model::mend(message)) {
    losses.emplace(kMended);
  }
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

Message reduced(Message message, const SourceCapabilities& capabilities) {
  Losses ignored;
  return reduce(std::move(message), capabilities, ignored);
}

Result<std::int64_t> put_blobs_inline(Message& message, BlobReader* blobs, std::int64_t bytes_max,
                                      Losses& losses) {
  std::int64_t bytes_used = 0;
  const auto with_bytes = [&](std::optional<BlobHash>& blob, bool is_base64,
                              const auto& put) -> Result<> {
    if (!blob) {
      return {};
    }
    const auto bytes = blobs == nullptr ? fail(Code::unsupported, "the source offers no blobs")
                                        : read_blob(*blobs, *blob);
    if (!bytes && is_transient(bytes.error())) {
      return std::unexpected(bytes.error());
    }
    if (!bytes) {
      losses.insert(cat("blob ", blob->str(), ": ", bytes.error().message));
      return {};
    }
    const std::int64_t size =
        is_base64 ? (std::ssize(*bytes) + 2) / 3 * 4 : std::int64_t{std::ssize(*bytes)};
    if (size > bytes_max - bytes_used) {
      losses.insert(cat("blob ", blob->str(), ": with its ", bytes->size(),
                        " bytes the session would be too large"));
      return {};
    }
    bytes_used += size;
    put(*bytes);
    blob.reset();
    return {};
  };
  for (Block& block : message.blocks) {
    if (auto* const result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
      REPRISE_TRY(with_bytes(result->blob, false, [result](std::string_view bytes) {
        TextBlock text = text_block(bytes);
        result->text = std::move(text.text);
        std::ranges::move(text.extra, std::back_inserter(result->extra));
      }));
    } else if (auto* const image = std::get_if<ImageBlock>(&block); image != nullptr) {
      REPRISE_TRY(with_bytes(image->blob, true, [image](std::string_view bytes) {
        image->url = cat("data:", image->media_type, ";base64,", base64_encode(bytes));
      }));
    }
  }
  return bytes_used;
}

Result<> copy_replaced(Source& source, Store& target, const CopiedIds& ids,
                       const CopyNotes& notes) {
  Losses& losses = notes.losses;
  REPRISE_ASSIGN(const std::int64_t count, count_replaced(source, ids.source));
  if (count == 0) {
    return {};
  }
  Artefacts* const artefacts = target.capabilities().artefacts;
  if (artefacts == nullptr) {
    losses.insert(cat("replaced messages: ", count));
    return {};
  }
  REPRISE_ASSIGN(const std::string lines, read_lines(source, ids.source, notes));
  REPRISE_ASSIGN(const auto stored, artefacts->find_artefact(ids.target, {0}, kReplacedArtefact));
  if (stored == lines) {
    return {};
  }
  if (stored && !lines.starts_with(*stored)) {
    losses.insert(cat("replaced messages: ", count, ": the target has others"));
    return {};
  }
  const auto saved = artefacts->save_artefact(ids.target, {0}, kReplacedArtefact, lines);
  if (!saved && saved.error().code != Code::invalid_argument) {
    return std::unexpected(saved.error());
  }
  if (!saved) {
    losses.insert(cat("replaced messages: ", count, ": ", saved.error().message));
  }
  return {};
}

void compare(const Session& source, const Session& existing, const CopyTarget& target,
             Losses& losses) {
  const SessionInfo& from = source.info;
  const SessionInfo& to = existing.info;
  const auto record_loss = [&losses](bool is_same, std::string_view name) {
    if (!is_same) {
      losses.emplace(name);
    }
  };
  record_loss(from.title == to.title, "the title");
  record_loss(from.mode == to.mode, "the mode");
  record_loss(from.provider == to.provider, "the provider");
  record_loss(from.model == to.model, "the model");
  record_loss(from.working_dir == to.working_dir, "the folder");
  record_loss(from.created_at == to.created_at, "the creation time");
  record_loss(target.is_ahead || from.updated_at == to.updated_at, "the time of the last activity");
  record_loss(from.closed_at == to.closed_at, "the closing time");
  record_loss(from.forked_from == to.forked_from, "the link to the session it was forked from");
  record_loss(from.state != SessionState::active || to.state == from.state, "the state active");
  record_loss(from.state != SessionState::closed || to.state == from.state, "the state closed");
  record_loss(source.system_prompt == existing.system_prompt, "the system prompt");
  record_loss(source.config == existing.config, "the session's settings");
  record_loss(target.is_ahead || source.usage == existing.usage, "the total usage");
  record_loss(source.prompt_history == existing.prompt_history, "the prompt history");
  record_loss(source.extra == existing.extra, "fields of other programs");
}

Result<> copy_todos(Source& source, Store& target, const CopiedIds& ids, Losses& losses) {
  TodoReader* const from = source.capabilities().todo_reader;
  Todos* const to = target.capabilities().todos;
  if (from == nullptr) {
    return {};
  }
  REPRISE_ASSIGN(std::vector<Todo> source_todos, from->todos(ids.source));
  if (source_todos.empty()) {
    return {};
  }
  if (to == nullptr) {
    losses.emplace("the todos");
    return {};
  }
  REPRISE_TRY(to->edit_todos(ids.target, [&](std::vector<Todo>& existing) -> Result<> {
    if (existing.empty()) {
      existing = std::move(source_todos);
    } else if (existing != source_todos) {
      losses.emplace("the todos: the target has others");
    }
    return {};
  }));
  return {};
}

Result<> copy_artefacts(Source& source, Store& target, const CopiedIds& ids, Losses& losses) {
  ArtefactReader* const from = source.capabilities().artefact_reader;
  Artefacts* const to = target.capabilities().artefacts;
  if (from == nullptr) {
    return {};
  }
  REPRISE_ASSIGN(const std::vector<std::string> unlisted, from->list_unlisted(ids.source));
  losses.insert(unlisted.begin(), unlisted.end());
  REPRISE_ASSIGN(const std::vector<Artefacts::Entry> entries, from->list_artefacts(ids.source));
  REPRISE_ASSIGN(const std::int64_t replaced, count_replaced(source, ids.source));
  for (const Artefacts::Entry& entry : entries) {
    if (replaced > 0 && entry.step == Step{0} && entry.name == kReplacedArtefact) {
      continue;  // included in the replaced messages
    }
    if (to == nullptr) {
      losses.emplace("the artefacts");
      return {};
    }
    REPRISE_TRY(copy_artefact(*from, *to, ids, entry, losses));
  }
  return {};
}

}  // namespace reprise::engine
