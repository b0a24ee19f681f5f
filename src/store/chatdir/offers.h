#pragma once

// What a chat directory offers besides the core.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/chatdir/chats.h"

namespace reprise::store::chatdir {

class ChatRewriting final : public Rewriting {
 public:
  explicit ChatRewriting(Chats& chats) : chats_(chats) {}
  Result<Appended> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                  AppendOptions options) override;
  // None: they are the artefact replaced.jsonl.
  Result<std::int64_t> count_replaced(const SessionId& id) override;

 private:
  Chats& chats_;
};

class ChatPartials final : public Partials {
 public:
  explicit ChatPartials(Chats& chats) : chats_(chats) {}
  Result<> add(const SessionId& id, const OperationId& answer,
               std::span<const Block> delta) override;
  Result<> renew(const SessionId& id, const OperationId& answer, const Lease& lease) override;
  Result<std::optional<Partial>> find(const SessionId& id) override;

 private:
  Chats& chats_;
};

class ChatTodos final : public Todos {
 public:
  explicit ChatTodos(Chats& chats) : chats_(chats) {}
  Result<std::vector<Todo>> todos(const SessionId& id) override;
  Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) override;

 private:
  Chats& chats_;
};

class ChatTrash final : public Trash {
 public:
  explicit ChatTrash(Chats& chats) : chats_(chats) {}
  Result<> trash(const SessionId& id, Time when) override;
  Result<> restore(const SessionId& id) override;
  Result<> purge(const SessionId& id) override;

 private:
  Result<> trash_now(const SessionId& id);
  Result<> purge_now(const SessionId& id);

  Chats& chats_;
};

}  // namespace reprise::store::chatdir
