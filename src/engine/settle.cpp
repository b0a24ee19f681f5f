#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "engine/message_of.h"
#include "reprise/conversation.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise {

Result<bool> settle_interrupted(Store& store, const SessionId& id, Clock& clock) {
  Partials* const partials = store.offers().partials;
  if (partials == nullptr) {
    return false;
  }
  REPRISE_ASSIGN(auto running, partials->find(id));
  if (!running || is_alive(running->owner)) {
    return false;
  }
  std::vector<Message> messages;
  if (!running->blocks.empty()) {
    Message answer = message_of(role::kAssistant, std::move(running->blocks), clock.now());
    answer.provider = std::move(running->provider);
    answer.model = std::move(running->model);
    answer.state = MessageState::incomplete;
    messages.push_back(std::move(answer));
  }
  // The same name for all who settle it at once: it happens once.
  AppendOptions options{.end_partial = running->answer};
  if (auto operation = OperationId::parse(cat(running->answer.str(), ".settled")); operation) {
    options.operation = *std::move(operation);
  }
  const auto appended = store.append(id, std::move(messages), std::move(options));
  if (!appended && appended.error().code != Code::conflict) {  // conflict: somebody was faster
    return std::unexpected(appended.error());
  }
  return true;
}

}  // namespace reprise
