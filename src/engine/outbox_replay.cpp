#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "engine/copied_id.h"
#include "engine/copy.h"
#include "engine/copy_reduce.h"
#include "reprise/capabilities.h"
#include "reprise/outbox.h"
#include "reprise/store.h"

namespace reprise {
namespace {

class OutboxReplay {
 public:
  OutboxReplay(const OutboxSession& outbox, Store& target)
      : outbox_(outbox), target_(target), capabilities_(target.capabilities()) {}

  Result<CopiedSession> run() {
    if (!capabilities_.messages) {
      return fail(Code::unsupported, "this store holds no message text");
    }
    REPRISE_TRY(find_sessions());
    for (const OutboxStep& step : outbox_.steps) {
      REPRISE_TRY(deliver(step));
    }
    copied_.losses.assign(losses_.begin(), losses_.end());
    return std::move(copied_);
  }

 private:
  const SessionId& session_id() const { return outbox_.session.info.id; }

  // Finds the session, creating it if necessary, and the separate session of an earlier run.
  Result<> find_sessions() {
    REPRISE_ASSIGN(const auto fork, target_.find(outbox_.fork));
    if (fork) {
      const auto& origin = fork->info.forked_from;
      fork_from_ = fork_head_ = origin ? origin->at : Seq{};
    }
    REPRISE_ASSIGN(const auto session, target_.find(session_id()));
    if (session) {
      session_head_ = session->info.head;
    } else if (!outbox_.steps.empty() && outbox_.steps.front().after == Seq{}) {
      REPRISE_TRY(target_.create(engine::reduce(outbox_.session, capabilities_, losses_)));
      session_head_ = Seq{};
      copied_.outcome = CopyOutcome::copied;
    }
    return {};
  }

  Result<> deliver(const OutboxStep& step) {
    // Consecutive steps remain consecutive wherever the first one was stored.
    const Seq expected = outbox_head_ == step.after ? stored_head_ : step.after;
    const Seq first = step.replace_from.value_or(expected);
    if (session_head_ && (!fork_from_ || first < *fork_from_)) {
      const auto appended = append_to_session(step, expected);
      if (appended) {
        outbox_head_ = step.replace_from.value_or(step.after).next(std::ssize(step.messages));
        session_head_ = stored_head_ = appended->head;
        count(step, *appended, CopyOutcome::continued);
        return {};
      }
      if (appended.error().code != Code::conflict || fork_from_) {
        return std::unexpected(appended.error());
      }
    }
    if (!fork_from_) {
      REPRISE_TRY(begin_fork(first));
    }
    const auto from = step.replace_from ? std::optional(std::min(first, fork_head_)) : std::nullopt;
    REPRISE_ASSIGN(const AppendResult appended,
                   append(outbox_.fork, step, from, {.expected_head = fork_head_}));
    fork_head_ = appended.head;
    count(step, appended, CopyOutcome::forked);
    return {};
  }

  // conflict: the session has other messages there.
  Result<AppendResult> append_to_session(const OutboxStep& step, Seq expected) {
    auto appended = append(session_id(), step, step.replace_from,
                           {.expected_head = expected, .end_partial = step.end_partial});
    if (!appended && appended.error().code == Code::conflict && step.end_partial) {
      appended = append(session_id(), step, step.replace_from, {.expected_head = expected});
    }
    return appended;
  }

  Result<AppendResult> append(const SessionId& id, const OutboxStep& step, std::optional<Seq> from,
                              AppendOptions options) {
    std::vector<Message> messages;
    messages.reserve(step.messages.size());
    for (const Message& message : step.messages) {
      messages.push_back(engine::reduce(message, capabilities_, losses_));
    }
    options.operation = step.operation;
    Rewriting* const rewriting = from ? capabilities_.rewriting : nullptr;
    const Seq first = rewriting != nullptr && from ? *from : options.expected_head.value_or(Seq{});
    if (rewriting != nullptr) {
      REPRISE_ASSIGN(const auto done, find_delivered(id, messages, first, Then::end));
      if (done) {
        return *done;
      }
    }
    for (const OutboxBlob& blob :
         capabilities_.blobs != nullptr ? step.blobs : std::vector<OutboxBlob>()) {
      REPRISE_TRY(capabilities_.blobs->put_blob(blob.bytes));  // pins those that are there
    }
    const std::vector<Message> expected = messages;
    auto appended =
        rewriting != nullptr
            ? rewriting->replace_suffix(id, first, std::move(messages), std::move(options))
            : target_.append(id, std::move(messages), std::move(options));
    if (!appended && appended.error().code == Code::conflict) {
      REPRISE_ASSIGN(const auto done, find_delivered(id, expected, first, Then::any));
      if (done) {
        return *done;
      }
    }
    return appended;
  }

  // Finds messages that are already stored at `first`, followed by the session's end (Then::end) or
  // by anything: they were delivered so long ago that the store has forgotten the operation id.
  enum class Then : std::uint8_t { end, any };
  Result<std::optional<AppendResult>> find_delivered(const SessionId& id,
                                                     const std::vector<Message>& messages,
                                                     Seq first, Then then) {
    const Seq end = first.next(std::ssize(messages));
    REPRISE_ASSIGN(const auto session, target_.find(id));
    if (messages.empty() || !session ||
        (then == Then::end ? session->info.head != end : session->info.head < end)) {
      return std::nullopt;
    }
    REPRISE_ASSIGN(const auto stored, read_all(target_, id, {.from = first, .to = end}));
    if (!std::ranges::equal(messages, stored, is_same)) {
      return std::nullopt;
    }
    return AppendResult{.first = first, .head = end, .repeated = true};
  }

  // Messages of a conversation with the same microsecond are the same message.
  static bool is_same(const Message& a, const Message& b) {
    return a.created_at != Time{} && a.created_at == b.created_at && a.role == b.role &&
           a.blocks == b.blocks && a.state == b.state;
  }

  Result<> begin_fork(Seq first) {
    Session child = engine::reduce(outbox_.session, capabilities_, losses_);
    child.info.id = outbox_.fork;
    child.info.forked_from.reset();
    if (!session_head_) {
      fork_from_ = Seq{};
      return target_.create(child);
    }
    Forking* const forking = capabilities_.forking;
    if (forking == nullptr) {
      return fail(
          Code::unsupported,
          "the session has continued in the meantime, and this store cannot hold a fork of it");
    }
    fork_from_ = fork_head_ = std::min(first, *session_head_);
    return forking->fork(session_id(), *fork_from_, child);
  }

  void count(const OutboxStep& step, const AppendResult& appended, CopyOutcome outcome) {
    if (appended.repeated) {
      return;
    }
    copied_.messages += std::ssize(step.messages);
    if (outcome == CopyOutcome::forked) {
      copied_.outcome = outcome;
      copied_.detail =
          cat(session_head_ ? "the session has continued without it; it is now a fork: "
                            : "the session no longer exists; it is now a separate one: ",
              short_id(outbox_.fork));
    } else if (copied_.outcome == CopyOutcome::unchanged) {
      copied_.outcome = outcome;
    }
  }

  const OutboxSession& outbox_;
  Store& target_;
  const Capabilities& capabilities_;  // of the target
  std::optional<Seq> session_head_;   // at the start; nullopt: it does not exist
  std::optional<Seq> fork_from_;      // nullopt: it does not exist
  Seq fork_head_;
  // After the last step: as known to the conversation, and in the store.
  std::optional<Seq> outbox_head_;
  Seq stored_head_;
  CopiedSession copied_;
  engine::Losses losses_;
};

}  // namespace

Result<CopiedSession> replay_outbox(const OutboxSession& outbox, Store& target) {
  if (target.capabilities().new_ids != UuidVersion::v4) {
    return OutboxReplay(outbox, target).run();
  }
  OutboxSession renamed = outbox;
  REPRISE_ASSIGN(renamed.session, with_copied_ids(target, target, outbox.session));
  REPRISE_ASSIGN(renamed.fork, version_4_id(outbox.fork));
  return OutboxReplay(renamed, target).run();
}

}  // namespace reprise
