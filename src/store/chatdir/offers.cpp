#include "store/chatdir/offers.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/chatdir/chat.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/packed_chat.h"
#include "store/facts.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {

Result<Appended> ChatRewriting::replace_suffix(const SessionId& id, Seq from,
                                               std::vector<Message> messages,
                                               AppendOptions options) {
  return chats_.with(id, [&](Chat& chat) { return chat.write(from, messages, options); });
}

Result<std::int64_t> ChatRewriting::count_replaced(const SessionId& id) {
  REPRISE_ASSIGN(const auto place, chats_.layout().find(id));
  return place ? Result<std::int64_t>(0) : std::unexpected(no_session(id));
}

Result<> ChatPartials::add(const SessionId& id, const OperationId& answer,
                           std::span<const Block> delta) {
  return chats_.with(id, [&](Chat& chat) { return chat.add_partial(answer, delta); });
}

Result<> ChatPartials::renew(const SessionId& id, const OperationId& answer, const Lease& lease) {
  return chats_.with(id, [&](Chat& chat) { return chat.renew(answer, lease); });
}

Result<std::optional<Partial>> ChatPartials::find(const SessionId& id) {
  REPRISE_ASSIGN(const auto place, chats_.layout().find(id));
  if (place && place->is_packed()) {
    return std::nullopt;  // nothing runs in an archive
  }
  return chats_.with(id, [](Chat& chat) { return chat.find_partial(); });
}

Result<std::vector<Todo>> ChatTodos::todos(const SessionId& id) {
  REPRISE_ASSIGN(const auto place, chats_.layout().find(id));
  if (place && place->is_packed()) {
    return look_at_packed(id, *place).stored.todos;
  }
  REPRISE_ASSIGN(StoredSession session, chats_.with(id, [](Chat& chat) { return chat.look(); }));
  return std::move(session.todos);
}

Result<std::vector<Todo>> ChatTodos::edit_todos(
    const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) {
  const auto change = [&](Chat& chat) {
    return chat.change([&](StoredSession& session) { return edit(session.todos); });
  };
  REPRISE_ASSIGN(StoredSession session, chats_.with(id, change));
  return std::move(session.todos);
}

}  // namespace reprise::store::chatdir
