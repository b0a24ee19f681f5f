#include "session/given_answer.h"

#include <algorithm>

#include "base/text.h"
#include "engine/lease.h"
#include "engine/message_of.h"

namespace reprise {
namespace {

// Begins the ids of these answers, so that nobody adds to another process's by mistake.
constexpr std::string_view kGivenPrefix = "given.";

Result<Partials*> partials_of(Store& store) {
  Partials* const partials = store.capabilities().partials;
  if (partials == nullptr) {
    return fail(Code::unsupported, "this store cannot hold running answers");
  }
  return partials;
}

// Without the namespace of its process ids, an owner is judged by its lease alone.
Owner owner_by_lease(std::chrono::milliseconds length) {
  Owner owner = this_process(length);
  owner.pid_namespace = 0;
  return owner;
}

Error no_answer(const SessionId& id) {
  return {Code::conflict, cat("no answer of `answer begin` is running in session ", short_id(id),
                              ": it has ended, or nothing was added to it in time")};
}

Result<OperationId> end_operation(const OperationId& answer) {
  return OperationId::parse(cat(answer.str(), ".end"));
}

}  // namespace

Result<OperationId> begin_answer(Store& store, const SessionId& id, const GivenAnswer& answer,
                                 const AppendContext& context, Entropy& entropy) {
  const auto deadline = std::chrono::steady_clock::now() + context.busy_timeout;
  REPRISE_TRY(partials_of(store));
  const OperationId operation =
      context.operation ? *context.operation : make_operation_id(context.clock, entropy);
  REPRISE_ASSIGN(OperationId name, OperationId::parse(cat(kGivenPrefix, operation.str())));
  for (PollPause pause;; pause.wait()) {
    AppendContext left = context;
    left.busy_timeout = std::max(
        std::chrono::milliseconds(0),
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()));
    REPRISE_ASSIGN(const std::optional<Partial> running,
                   store.capabilities().partials->find_partial(id));
    if (running && running->answer == name) {
      return name;  // a retry
    }
    REPRISE_TRY(prepare_to_append(store, id, left));
    const auto begun =
        store.append(id, {},
                     {.operation = operation,
                      .begin_partial = PartialStart{.answer = name,
                                                    .owner = owner_by_lease(answer.lease),
                                                    .provider = answer.provider,
                                                    .model = answer.model,
                                                    .started_at = context.clock.now()}});
    if (begun) {
      return name;
    }
    // Another process was first.
    if (begun.error().code != Code::busy || std::chrono::steady_clock::now() >= deadline ||
        context.stop.stop_requested()) {
      return std::unexpected(begun.error());
    }
  }
}

Result<Partial> find_answer(Store& store, const SessionId& id,
                            const std::optional<OperationId>& answer) {
  REPRISE_ASSIGN(Partials* const partials, partials_of(store));
  REPRISE_ASSIGN(std::optional<Partial> running, partials->find_partial(id));
  if (!running || !running->answer.str().starts_with(kGivenPrefix) ||
      (answer && running->answer != *answer)) {
    return std::unexpected(no_answer(id));
  }
  return *std::move(running);
}

Result<> add_to_answer(Store& store, const SessionId& id, const Partial& answer,
                       std::span<const Block> blocks) {
  REPRISE_ASSIGN(Partials* const partials, partials_of(store));
  if (!blocks.empty()) {
    REPRISE_TRY(partials->add_partial(id, answer.answer, blocks));
  }
  return partials->renew_lease(id, answer.answer, new_lease(answer.owner.lease.length));
}

Result<AppendResult> end_answer(Store& store, const SessionId& id, const OperationId& answer,
                                MessageState state, Clock& clock) {
  REPRISE_ASSIGN(Partials* const partials, partials_of(store));
  REPRISE_ASSIGN(const OperationId operation, end_operation(answer));
  REPRISE_ASSIGN(std::optional<Partial> running, partials->find_partial(id));
  std::vector<Message> messages;
  if (running && running->answer == answer && !running->blocks.empty()) {
    Message message = message_of(role::kAssistant, std::move(running->blocks), clock.now());
    message.provider = std::move(running->provider);
    message.model = std::move(running->model);
    message.state = state;
    messages.push_back(std::move(message));
  }
  auto ended =
      store.append(id, std::move(messages), {.operation = operation, .end_partial = answer});
  if (!ended && ended.error().code == Code::conflict) {
    return std::unexpected(no_answer(id));
  }
  return ended;
}

}  // namespace reprise
