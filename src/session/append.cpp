#include "session/append.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/encode.h"
#include "base/text.h"
#include "engine/blobs.h"
#include "engine/lease.h"
#include "model/attachment.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/sessions.h"
#include "store/rules.h"

namespace reprise {
namespace {

Result<> check_messages_stored(const Store& store) {
  return store.capabilities().messages
             ? Result<>()
             : fail(Code::unsupported, "this store does not hold messages, only response ids");
}

// A message must not name bytes that are nowhere.
Result<> check_blobs(Store& store, const std::vector<Message>& messages) {
  std::set<BlobHash> seen;
  for (const Message& message : messages) {
    for (const BlobHash& hash : store::blobs_in(message.blocks)) {
      if (!seen.insert(hash).second) {
        continue;
      }
      BlobReader* const blobs = store.capabilities().blob_reader;
      const auto found = blobs == nullptr ? Result<std::string>(fail(Code::not_found, ""))
                                          : read_blob(*blobs, hash, 1);
      if (!found && found.error().code != Code::not_found) {
        return std::unexpected(found.error());
      }
      if (!found) {
        return fail(Code::invalid_argument, cat("the store has no blob ", hash.str()));
      }
    }
  }
  return {};
}

// As they are stored in a turn.
void put_large_parts(Store& store, std::vector<Message>& messages) {
  for (Message& message : messages) {
    for (Block& block : message.blocks) {
      if (auto* const image = std::get_if<ImageBlock>(&block); image != nullptr) {
        *image = stored_image(&store, std::move(*image));
      } else if (auto* const result = std::get_if<ToolResultBlock>(&block);
                 result != nullptr && !result->blob && result->text.size() > kInlineBytesMax) {
        ToolResultBlock stored = tool_result_block(&store, result->tool_use_id, result->text);
        stored.is_error = result->is_error;
        stored.extra.insert(stored.extra.begin(), result->extra.begin(), result->extra.end());
        *result = std::move(stored);
      }
    }
  }
}

bool is_same_message(const Message& a, const Message& b) {
  return a.role == b.role && a.blocks == b.blocks && a.state == b.state;
}

// The messages that an append had stored, also if they have been replaced since.
Result<std::vector<Message>> read_applied(Store& store, const SessionId& id,
                                          const AppendResult& applied) {
  REPRISE_ASSIGN(std::vector<Message> found,
                 read_all(store, id, {.from = applied.first, .to = applied.head}));
  if (ReplacedReader* const replaced = store.capabilities().replaced_reader; replaced != nullptr) {
    REPRISE_TRY(replaced->read_replaced(id, [&](Message&& message) {
      if (message.seq >= applied.first && message.seq < applied.head) {
        found.push_back(std::move(message));
      }
      return Flow::proceed;
    }));
  }
  return found;
}

// A retry must be of the same messages.
Result<> check_repeated(Store& store, const SessionId& id, const AppendResult& applied,
                        const std::vector<Message>& messages, const OperationId& operation) {
  bool is_same = applied.head.value - applied.first.value == std::ssize(messages);
  if (is_same) {
    REPRISE_ASSIGN(const std::vector<Message> stored, read_applied(store, id, applied));
    Seq seq = applied.first;
    is_same = std::ranges::equal(std::span(stored).first(std::min(stored.size(), messages.size())),
                                 messages, is_same_message) ||
              std::ranges::all_of(messages, [&](const Message& message) {
                const Seq at = std::exchange(seq, seq.next());
                return std::ranges::any_of(stored, [&](const Message& candidate) {
                  return candidate.seq == at && is_same_message(candidate, message);
                });
              });
  }
  return is_same ? Result<>()
                 : fail(Code::conflict, cat("the operation ", operation.str(),
                                            " has appended other messages to session ",
                                            short_id(id), ": give each append its own id"));
}

Result<AppendResult> append_checked(Store& store, const SessionId& id,
                                    const std::vector<Message>& messages,
                                    const AppendContext& context) {
  REPRISE_ASSIGN(
      const AppendResult appended,
      store.append(id, messages, {.operation = context.operation, .now = context.clock.now()}));
  if (appended.repeated && context.operation) {
    REPRISE_TRY(check_repeated(store, id, appended, messages, *context.operation));
  }
  return appended;
}

struct CreatedByAppend {
  SessionId id;
  bool is_new = true;  // false: an earlier attempt had created it
};

Result<CreatedByAppend> create_with_id(Store& store, Session& session, const AppendContext& context,
                                       Entropy& entropy, DeferredCreation* deferred) {
  REPRISE_TRY(check_messages_stored(store));
  session.info.id = make_session_id(context.clock, entropy, store.capabilities().new_ids);
  if (context.operation) {
    REPRISE_ASSIGN(session.info.id, session_of_operation(*context.operation));
  }
  auto created = deferred != nullptr ? deferred->begin(session) : store.create(session);
  if (created) {
    return CreatedByAppend{session.info.id};
  }
  const bool exists = context.operation && created.error().code == Code::conflict &&
                      store.find(session.info.id).value_or(std::nullopt);
  if (!exists) {
    return std::unexpected(std::move(created).error());
  }
  return CreatedByAppend{session.info.id, false};
}

}  // namespace

Result<SessionId> session_of_operation(const OperationId& operation) {
  REPRISE_ASSIGN(const BlobHash hash, sha256(cat("session of append ", operation.str())));
  constexpr std::size_t kDigits = 32;
  std::string uuid = hash.str().substr(0, kDigits);
  uuid[12] = '4';
  uuid[16] = "89ab"[static_cast<unsigned char>(uuid[16]) % 4];
  for (const std::size_t at : {20U, 16U, 12U, 8U}) {
    uuid.insert(at, "-");
  }
  return SessionId::parse(uuid);
}

Result<> prepare_to_append(Store& store, const SessionId& id, const AppendContext& context) {
  const auto deadline = std::chrono::steady_clock::now() + context.busy_timeout;
  REPRISE_TRY(check_messages_stored(store));
  REPRISE_TRY(resume_session(store, id, {.clock = context.clock, .stop = context.stop}));
  return wait_until_free(store, id,
                         {.deadline = deadline, .stop = context.stop, .clock = context.clock});
}

Result<AppendResult> append_given(Store& store, const SessionId& id, std::vector<Message> messages,
                                  const AppendContext& context) {
  REPRISE_TRY(prepare_to_append(store, id, context));
  REPRISE_TRY(check_blobs(store, messages));
  put_large_parts(store, messages);
  return append_checked(store, id, messages, context);
}

Result<StartedByAppend> start_with(Store& store, Session session, std::vector<Message> messages,
                                   const AppendContext& context, Entropy& entropy) {
  if (const auto question = std::ranges::find_if(messages, is_question);
      question != messages.end() && session.info.title.empty()) {
    session.info.title = title_from_prompt(question_text(*question));
  }
  REPRISE_TRY(check_messages_stored(store));
  REPRISE_TRY(check_blobs(store, messages));
  put_large_parts(store, messages);
  REPRISE_ASSIGN(
      const CreatedByAppend created,
      create_with_id(store, session, context, entropy, store.capabilities().deferred_creation));
  auto appended = append_checked(store, created.id, messages, context);
  if (appended) {
    return StartedByAppend{created.id, *appended};
  }
  if (Trash* const trash = store.capabilities().trash; trash != nullptr && created.is_new) {
    (void)trash->purge(created.id);  // the error of the append is the cause
  }
  return std::unexpected(std::move(appended).error());
}

Result<SessionId> create_given(Store& store, Session session, const AppendContext& context,
                               Entropy& entropy) {
  REPRISE_ASSIGN(const CreatedByAppend created,
                 create_with_id(store, session, context, entropy, nullptr));
  return created.id;
}

}  // namespace reprise
