#include "engine/copy.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <stop_token>

#include "base/assert.h"
#include "base/encode.h"
#include "base/text.h"
#include "base/transient.h"
#include "engine/blobs.h"
#include "engine/content.h"
#include "engine/copied_id.h"
#include "engine/copy_reduce.h"
#include "engine/history.h"
#include "engine/lease.h"
#include "engine/origin.h"
#include "model/known_time.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/store.h"
#include "store/rules.h"
#include "store/usage_sum.h"

namespace reprise {
namespace {

using engine::Losses;
using engine::reduce;

// The limit of messages in memory, per store: by number and by bytes of text.
constexpr std::int64_t kBatch = 1000;
constexpr std::int64_t kBatchBytes = 512 << 10;
// The limit of blobs in the messages of a target that has none of its own, as they are stored
// there; `sessions:` files have at most 10 MiB.
constexpr std::int64_t kEmbeddedBytesMax = 8 << 20;
constexpr std::size_t kNameMax = 100;
constexpr int kAttemptsMax = 3;
constexpr std::string_view kStoringProvider = "openai-responses";

// `replaced` is where the messages replace others.
Result<OperationId> operation_for(const SessionId& id, Seq at, const std::vector<Message>& messages,
                                  std::optional<Seq> replaced) {
  // Ids may be longer than an operation id, so a prefix and a hash are used.
  std::string operation = cat("copy:", id.str().substr(0, kNameMax), ":", fnv1a(id.str()), ":",
                              at.value, ":", messages.size());
  if (replaced) {  // which may happen again at the same head
    operation += cat(":grown:", replaced->value, ":", fnv1a(message_to_json(messages.front())));
  }
  return OperationId::parse(operation);
}

// An answer whose id is sufficient to continue from.
bool ends_stored_turn(const Message& message) {
  return message.role == role::kAssistant && message.state == MessageState::complete &&
         message.provider == kStoringProvider && !message.response_id.empty() &&
         tool_calls(message).empty();
}

class Copy {
 public:
  // `embedded_bytes_max` limits the blobs in messages of a target without blobs.
  Copy(Source& source, Store& target, SessionId id, const CopyOptions& options,
       std::int64_t embedded_bytes_max)
      : source_(source),
        target_(target),
        source_id_(std::move(id)),
        id_(source_id_),
        capabilities_(target.capabilities()),
        options_(options),
        embedded_bytes_left_(embedded_bytes_max) {}

  Result<CopiedSession> run() {
    REPRISE_ASSIGN(SessionSnapshot snapshot, await_snapshot(source_, source_id_, options_.stop));
    REPRISE_TRY(add_interrupted_answer(snapshot));
    REPRISE_ASSIGN(const Session session,
                   with_copied_ids(source_, target_, std::move(snapshot.session)));
    id_ = session.info.id;
    copied_.id = id_;
    REPRISE_ASSIGN(const std::optional<Session> present, target_.find(id_));
    Session reduced = reduce(session, capabilities_, losses_);
    now_ = std::min(now_, session.info.arrived_at.value_or(now_));
    reduced.info.arrived_at = now_ < reduced.info.updated_at ? std::optional(now_) : std::nullopt;
    if (session.info.state == SessionState::archived && capabilities_.archives == nullptr) {
      losses_.emplace("the state archived");
    }
    if (!capabilities_.messages) {
      REPRISE_TRY(add_responses(reduced, session.info.head));
    }
    if (!present) {
      REPRISE_TRY(create(reduced, session.usage));
      is_created_ = true;
      copied_.outcome = CopyOutcome::copied;
    } else {
      target_head_ = present->info.head;
      const std::optional<Origin> origin = origin_of(*present);
      is_as_imported_ = origin && has_unchanged_messages(*present, *origin);
    }
    if (capabilities_.messages) {
      REPRISE_TRY(messages(session.info.head));
    } else if (session.info.head.value > 0) {
      losses_.emplace("the text of messages");
    }
    const bool is_archived = present && present->info.state == SessionState::archived;
    if (copied_.outcome != CopyOutcome::conflict && !is_archived) {
      REPRISE_TRY(copy_extras(reduced));
      REPRISE_ASSIGN(Session existing, get(target_, id_));
      REPRISE_TRY(copy_activity(reduced, existing));
      engine::compare(session, existing, {capabilities_, is_ahead_}, losses_);
      REPRISE_TRY(archive(session.info));
    }
    copied_.damage.assign(damage_.begin(), damage_.end());
    losses_.merge(damage_);
    copied_.losses.assign(losses_.begin(), losses_.end());
    return std::move(copied_);
  }

  // Removes the session from the target if this copy created it there.
  Result<> undo_creation() {
    return is_created_ && capabilities_.trash != nullptr ? capabilities_.trash->purge(id_)
                                                         : Result<>();
  }
  bool has_embedded() const { return has_embedded_; }

 private:
  // An unfinished answer whose process is gone is copied as an additional message.
  Result<> add_interrupted_answer(SessionSnapshot& snapshot) {
    if (!snapshot.answer) {
      return {};
    }
    if (snapshot.answer->owner == OwnerState::alive) {
      losses_.emplace("the answer that is running");
    } else if (!snapshot.answer->message.blocks.empty()) {
      SessionInfo& info = snapshot.session.info;
      note_activity(info, {snapshot.answer->message}, info.arrived_at);
      incomplete_answer_ = std::move(snapshot.answer->message);
      incomplete_answer_->seq = info.head;
      REPRISE_TRY(put_blobs_inline(*incomplete_answer_));
      info.head = info.head.next();
    }
    return {};
  }

  // Reads the next batch of messages before `to` from the source, starting at `at`, and advances
  // `at` past it. Gaps between messages cost nothing.
  Result<std::vector<Message>> next_batch(Seq& at, Seq to) {
    std::vector<Message> messages;
    std::int64_t bytes = 0;
    Seq end = to;
    Result<> embedded;
    const auto sink = [&](Message&& message) {
      embedded = put_blobs_inline(message);
      if (!embedded) {
        return Flow::stop;
      }
      bytes += text_bytes(message);
      const bool is_enough = bytes >= kBatchBytes || std::ssize(messages) + 1 >= kBatch;
      end = is_enough ? message.seq.next() : end;
      messages.push_back(std::move(message));
      return is_enough ? Flow::stop : Flow::proceed;
    };
    REPRISE_ASSIGN(const ReadReport report, source_.read(source_id_, {.from = at, .to = to}, sink));
    REPRISE_TRY(embedded);
    for (const Damage& part : report.damage) {
      damage_.insert(cat("a damaged part: ", part.where, ": ", part.reason));
    }
    const bool has_incomplete = incomplete_answer_ && incomplete_answer_->seq < end;
    if (has_incomplete &&
        (messages.empty() || messages.back().seq < incomplete_answer_->seq)) {  // still not settled
      messages.push_back(*incomplete_answer_);
    }
    at = end;
    return messages;
  }

  Result<> put_blobs_inline(Message& message) {
    if (capabilities_.blobs == nullptr && capabilities_.blocks) {
      REPRISE_ASSIGN(const std::int64_t bytes,
                     engine::put_blobs_inline(message, source_.capabilities().blob_reader,
                                              embedded_bytes_left_, losses_));
      embedded_bytes_left_ -= bytes;
      has_embedded_ = has_embedded_ || bytes > 0;
    }
    const bool may_have_embedded =
        source_.capabilities().blob_reader == nullptr && !options_.by_content;
    return capabilities_.blobs != nullptr && may_have_embedded ? put_embedded(&target_, message)
                                                               : Result<>();
  }

  // For a target without messages: copies the response ids that their provider knows.
  Result<> add_responses(Session& reduced, Seq source_head) {
    std::vector<ResponseLink>& chain = reduced.response_chain;
    std::set<std::pair<std::string, std::string>> links;
    for (const ResponseLink& link : chain) {
      links.emplace(link.provider, link.response_id);
    }
    for (Seq at; at < source_head;) {
      REPRISE_ASSIGN(const std::vector<Message> batch, next_batch(at, source_head));
      for (const Message& message : batch) {
        if (ends_stored_turn(message) &&
            links.emplace(message.provider, message.response_id).second) {
          chain.push_back({message.provider, message.response_id});
        }
      }
    }
    return {};
  }

  // Iterates over the source: messages below the target's head are compared, others appended. A
  // damaged message of the source has no position in the target, so positions are counted
  // separately.
  Result<> messages(Seq source_head) {
    Seq at = shared_;
    Seq at_target = shared_target_;
    std::vector<Message> last;  // delayed by one batch: only the last one waits for the disk
    do {                        // at least once: all messages of a session may be damaged
      if (options_.stop.stop_requested()) {
        return fail(Code::cancelled, cat("copying stopped at message ", at.value));
      }
      if (options_.progress) {
        options_.progress({"copying", at.value, source_head.value});
      }
      REPRISE_ASSIGN(std::vector<Message> batch, next_batch(at, source_head));
      for (Message& message : batch) {
        message = reduce(std::move(message), capabilities_, losses_);
      }
      const std::int64_t remaining = grown_from_ ? 0 : target_head_.value - at_target.value;
      const auto existing =
          static_cast<std::size_t>(std::clamp<std::int64_t>(remaining, 0, std::ssize(batch)));
      REPRISE_ASSIGN(const std::size_t same, count_same(batch, at_target, existing));
      if (same < existing && !grown_from_) {
        return {};
      }
      at_target = at_target.next(static_cast<std::int64_t>(same));
      batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(same));
      if (!batch.empty()) {
        REPRISE_TRY(append(std::exchange(last, std::move(batch)), Durability::os));
        at_target = at_target.next(std::ssize(last));
      }
    } while (at < source_head);
    if (last.empty() && has_started_) {  // all of its messages are damaged
      REPRISE_TRY(target_.update(id_, {}));
    }
    REPRISE_TRY(append(std::move(last), capabilities_.deferred_creation != nullptr
                                            ? options_.durability
                                            : Durability::disk));
    is_ahead_ = at_target < target_head_;
    return {};
  }

  // Counts how many of the first `count` messages are equal in the target. A difference is a
  // conflict, except for an answer that has grown: at the end of the target, or anywhere in a
  // session that is as it was imported, since a tool's results come between parts of an answer.
  Result<std::size_t> count_same(const std::vector<Message>& batch, Seq at_target,
                                 std::size_t count) {
    REPRISE_ASSIGN(const std::vector<Message> existing, stored_messages(at_target, count));
    for (std::size_t i = 0; i < count; ++i) {
      REPRISE_ASSIGN(const bool is_equal, is_same(existing[i], batch[i]));
      if (is_equal) {
        continue;
      }
      const Seq differs = at_target.next(static_cast<std::int64_t>(i));
      const bool may_grow =
          capabilities_.rewriting != nullptr && (is_as_imported_ || differs.next() == target_head_);
      if (may_grow && has_grown(existing[i], batch[i])) {
        grown_from_ = differs;
      } else if (options_.by_content &&
                 has_same_content(engine::reduced(existing[i], capabilities_), batch[i])) {
        continue;
      } else {
        copied_.outcome = CopyOutcome::conflict;
        copied_.detail = cat("message ", differs.value, " differs");
        copied_.differs = differs;
        copied_.differing = batch[i];
      }
      return i;
    }
    return count;
  }

  // All of them, or an error: those that cannot be read are not different ones.
  Result<std::vector<Message>> stored_messages(Seq from, std::size_t count) {
    std::vector<Message> messages;
    if (count == 0) {
      return messages;
    }
    const Seq end = from.next(static_cast<std::int64_t>(count));
    REPRISE_ASSIGN(const ReadReport report,
                   target_.read(id_, {.from = from, .to = end}, [&](Message&& message) {
                     messages.push_back(std::move(message));
                     return Flow::proceed;
                   }));
    if (messages.size() == count) {
      return messages;
    }
    return report.damage.empty()
               ? fail(Code::conflict, "the target has changed in the meantime")
               : fail(Code::corrupt, cat("the target cannot be compared: ", report.damage[0].where,
                                         ": ", report.damage[0].reason));
  }

  // Blobs may be embedded in one of the messages only.
  Result<bool> is_same(Message existing, const Message& source) const {
    existing = engine::reduced(std::move(existing), capabilities_);
    if (source.usage && !existing.usage) {  // unknown when it was copied: the total is compared
      Message unused = source;
      unused.usage.reset();
      return is_same(std::move(existing), unused);
    }
    if (existing == source) {
      return true;
    }
    BlobReader* const blobs =
        capabilities_.blobs != nullptr ? capabilities_.blobs : source_.capabilities().blob_reader;
    Losses ignored;
    Message embedded = source;
    for (Message* const message : {&existing, &embedded}) {
      REPRISE_TRY(engine::put_blobs_inline(*message, blobs,
                                           std::numeric_limits<std::int64_t>::max(), ignored));
    }
    return existing == embedded;
  }

  // If messages follow, creation need not be synced: appending them syncs both.
  Result<> create(const Session& session, const Usage& usage) {
    REPRISE_ASSIGN(const bool is_shared, share(session, usage));
    if (is_shared) {
      return {};
    }
    has_started_ = capabilities_.deferred_creation != nullptr && capabilities_.messages &&
                   session.info.head.value > 0;
    return has_started_ ? capabilities_.deferred_creation->begin(session) : target_.create(session);
  }

  // Creates a fork that shares its first messages with its parent in the target, as it does in the
  // source. False if the parent does not have these messages there, or if `usage`, of the source,
  // is not that of the other messages.
  Result<bool> share(const Session& session, const Usage& usage) {
    const auto& origin = session.info.forked_from;
    if (!origin || capabilities_.forking == nullptr || !capabilities_.messages) {
      return false;
    }
    REPRISE_ASSIGN(const std::optional<Session> parent, target_.find(origin->session));
    if (!parent || parent->info.state == SessionState::trashed) {
      return false;
    }
    Seq at;
    Seq at_target;
    while (at < origin->at) {
      REPRISE_ASSIGN(const std::vector<Message> batch, next_batch(at, origin->at));
      REPRISE_ASSIGN(const bool is_same, has_messages(origin->session, at_target, batch));
      if (!is_same) {
        return false;
      }
      at_target = at_target.next(std::ssize(batch));
    }
    REPRISE_ASSIGN(const Usage other_usage, usage_from(at));
    if (other_usage != usage) {
      return false;
    }
    REPRISE_TRY(capabilities_.forking->fork(origin->session, at_target, session));
    shared_ = at;
    shared_target_ = target_head_ = at_target;
    return true;
  }

  // Whether a session of the target has these messages at this position.
  Result<bool> has_messages(const SessionId& id, Seq at, const std::vector<Message>& messages) {
    REPRISE_ASSIGN(std::vector<Message> existing,
                   read_all(target_, id, {.from = at, .to = at.next(std::ssize(messages))}));
    return std::ranges::equal(messages, existing, [&](const Message& message, Message& other) {
      const Message ours = engine::reduced(std::move(other), capabilities_);
      const Message theirs = engine::reduced(message, capabilities_);
      return ours == theirs || (options_.by_content && has_same_content(ours, theirs));
    });
  }

  Result<Usage> usage_from(Seq from) {
    Usage sum;
    store::CountedRequests counted;
    REPRISE_TRY(source_.read(source_id_, {.from = from}, [&](const Message& message) {
      store::count_usage(sum, counted, message);
      return Flow::proceed;
    }));
    return sum;
  }

  // Appends to the target.
  Result<> append(std::vector<Message> batch, Durability durability) {
    if (batch.empty()) {
      return {};
    }
    for (const Message& message : batch) {
      REPRISE_TRY(blobs_of(message));
    }
    const std::optional<Seq> from = std::exchange(grown_from_, std::nullopt);
    REPRISE_ASSIGN(const OperationId operation, operation_for(id_, target_head_, batch, from));
    copied_.messages += std::ssize(batch);
    AppendOptions options = {.expected_head = target_head_,
                             .operation = operation,
                             .durability = durability,
                             .now = now_};
    const std::vector<Message> again = is_created_ ? std::vector<Message>() : batch;
    REPRISE_ASSIGN(AppendResult appended, write(std::move(batch), from, options));
    if (appended.repeated && !is_created_) {
      REPRISE_ASSIGN(const Session now, get(target_, id_));
      if (now.info.head < appended.head) {  // what an earlier copy appended was removed since
        options.operation = make_operation_id(system_clock(), system_entropy());
        REPRISE_ASSIGN(appended, write(again, from, options));
      }
    }
    target_head_ = appended.head;
    if (copied_.outcome == CopyOutcome::unchanged) {
      copied_.outcome = CopyOutcome::continued;
    }
    return {};
  }

  // `from` is where the messages replace others.
  Result<AppendResult> write(std::vector<Message> batch, std::optional<Seq> from,
                             const AppendOptions& options) {
    return from ? capabilities_.rewriting->replace_suffix(id_, *from, std::move(batch), options)
                : target_.append(id_, std::move(batch), options);
  }

  Result<> blobs_of(const Message& message) {
    if (capabilities_.blobs == nullptr) {
      return {};
    }
    for (const BlobHash& hash : store::blobs_in(message.blocks)) {
      REPRISE_TRY(blob(hash));
    }
    return {};
  }

  Result<> blob(const BlobHash& hash) {
    BlobReader* const from = source_.capabilities().blob_reader;
    if (from == nullptr) {
      if (!read_blob(*capabilities_.blobs, hash, 1)) {  // else put_embedded() has put it
        losses_.insert(cat("blob ", hash.str()));
      }
      return {};
    }
    const auto bytes = read_blob(*from, hash);
    if (!bytes && is_transient(bytes.error())) {
      return std::unexpected(bytes.error());
    }
    if (!bytes) {
      damage_.insert(cat("blob ", hash.str(), ": ", bytes.error().message));
      return {};
    }
    REPRISE_ASSIGN(const BlobHash stored, capabilities_.blobs->put_blob(*bytes));
    if (stored != hash) {
      damage_.insert(cat("blob ", hash.str(), ": its bytes have another hash"));
    }
    return {};
  }

  Result<> copy_extras(const Session& session) {
    const engine::CopiedIds ids{source_id_, id_};
    REPRISE_TRY(engine::copy_todos(source_, target_, ids, losses_));
    REPRISE_TRY(engine::copy_artefacts(source_, target_, ids, losses_));
    REPRISE_TRY(engine::copy_replaced(source_, target_, ids, {losses_, damage_}));
    return response_chain(session);
  }

  // An append makes the time of its last message that of the last activity.
  Result<> copy_activity(const Session& session, Session& existing) {
    const Time updated_at = session.info.updated_at;
    if (is_ahead_ || copied_.messages == 0 || existing.info.updated_at == updated_at) {
      return {};
    }
    REPRISE_TRY(target_.update(id_, {.updated_at = updated_at}));
    REPRISE_ASSIGN(existing, get(target_, id_));
    return {};
  }

  // The last step, since an archived session is read-only.
  Result<> archive(const SessionInfo& source) {
    Archives* const to = capabilities_.archives;
    return source.state == SessionState::archived && to != nullptr
               ? to->archive(id_, source.updated_at)
               : Result<>();
  }

  // Response ids are append-only.
  Result<> response_chain(const Session& session) {
    if (copied_.outcome == CopyOutcome::copied) {
      return {};
    }
    REPRISE_ASSIGN(const Session existing, get(target_, id_));
    const auto& source_chain = session.response_chain;
    const auto ends = std::ranges::mismatch(existing.response_chain, source_chain);
    if (ends.in1 != existing.response_chain.end()) {
      if (ends.in2 != source_chain.end()) {
        losses_.emplace("the response ids: the target has others");
      }
      return {};
    }
    if (ends.in2 == source_chain.end()) {
      return {};
    }
    if (copied_.outcome == CopyOutcome::unchanged) {
      copied_.outcome = CopyOutcome::continued;
    }
    return target_.update(id_, {.response_chain = source_chain});
  }

  Source& source_;
  Store& target_;
  SessionId source_id_;
  SessionId id_;                      // in the target
  const Capabilities& capabilities_;  // of the target
  const CopyOptions& options_;
  Time now_ = system_clock().now();  // or when the session arrived in the source
  Seq target_head_;
  Seq shared_;         // messages before it are shared with the parent, in the source
  Seq shared_target_;  // the same in the target
  // The source's last message, made from its unfinished answer.
  std::optional<Message> incomplete_answer_;
  std::optional<Seq> grown_from_;  // the target's messages from here on are to be replaced
  bool is_as_imported_ = false;    // the target's messages are those of another tool's session
  bool is_created_ = false;        // by this copy
  bool has_started_ = false;       // created, but not yet synced
  bool has_embedded_ = false;      // blobs in messages
  std::int64_t embedded_bytes_left_;
  bool is_ahead_ = false;  // the target has messages that the source lacks
  CopiedSession copied_;
  Losses losses_;
  Losses damage_;
};

}  // namespace

std::string_view to_string(CopyOutcome outcome) {
  switch (outcome) {
    case CopyOutcome::copied:
      return "copied";
    case CopyOutcome::continued:
      return "continued";
    case CopyOutcome::unchanged:
      return "unchanged";
    case CopyOutcome::conflict:
      return "conflict";
    case CopyOutcome::forked:
      return "forked";
  }
  return "unchanged";
}

namespace {

Result<CopiedSession> copy_once(Source& source, Store& target, const SessionId& id,
                                const CopyOptions& options) {
  for (const std::int64_t embedded_bytes_max : {kEmbeddedBytesMax, std::int64_t{0}}) {
    Copy copy(source, target, id, options, embedded_bytes_max);
    auto copied = copy.run();
    // After other errors the copy can be resumed.
    if (copied || copied.error().code != Code::unsupported) {
      return copied;
    }
    // The session exceeds a limit of the target; without blobs in its messages it may not.
    if (const auto undone = copy.undo_creation(); !undone) {
      return fail(copied.error().code,
                  cat(copied.error().message,
                      "; the incomplete copy cannot be removed: ", undone.error().message));
    }
    if (!copy.has_embedded()) {
      return copied;
    }
  }
  REPRISE_ASSERT(false);  // the last copy embeds nothing
}

}  // namespace

Result<CopiedSession> copy_session(Source& source, Store& target, const SessionId& id,
                                   const CopyOptions& options) {
  for (int attempt = 1;; ++attempt) {
    auto copied = copy_once(source, target, id, options);
    // Another process may have moved or continued the session.
    const bool may_have_changed = !copied && (copied.error().code == Code::not_found ||
                                              copied.error().code == Code::conflict);
    if (!may_have_changed || attempt == kAttemptsMax) {
      return copied;
    }
  }
}

}  // namespace reprise
