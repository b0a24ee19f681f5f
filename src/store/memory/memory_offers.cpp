#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encode.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/delta.h"
#include "store/facts.h"
#include "store/memory/memory_state.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

constexpr std::size_t kBlobPieceMax = std::size_t{1} << 20;

class MemoryRewriting final : public Rewriting {
 public:
  explicit MemoryRewriting(MemoryState& state) : state_(state) {}

  Result<Appended> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                  AppendOptions options) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(StoredSession* const stored, state_.get(id));
    return state_.write(*stored, from, std::move(messages), options);
  }

  Result<std::int64_t> count_replaced(const SessionId& id) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(const StoredSession* const stored, state_.get(id));
    return std::ssize(stored->replaced);
  }

 private:
  MemoryState& state_;
};

class MemoryForking final : public Forking {
 public:
  explicit MemoryForking(MemoryState& state) : state_(state) {}

  Result<> fork(const SessionId& parent, Seq at, const Session& child) override {
    REPRISE_TRY(check_new_session(child));
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(const StoredSession* const origin, state_.get(parent));
    REPRISE_TRY(check_place(*origin, at));
    const auto [place, is_new] = state_.sessions.try_emplace(child.info.id, child);
    if (!is_new) {
      return std::unexpected(session_exists(child.info.id));
    }
    StoredSession& stored = place->second;
    stored.log = share(origin->log, at.value);
    stored.shares_with_parent = at.value > 0;
    stored.session.info.head = at;
    stored.session.info.forked_from = ForkOrigin{parent, at};
    stored.session.info.answering.reset();
    stored.session.usage = {};
    return {};
  }

 private:
  static Result<> check_place(const StoredSession& parent, Seq at) {
    const SessionInfo& info = parent.session.info;
    if (at.value < 0 || at > info.head) {
      return fail(Code::invalid_argument, cat("cannot fork session ", info.id.str(), " at ",
                                              at.value, ": it has ", info.head.value, " messages"));
    }
    return {};
  }

  MemoryState& state_;
};

class MemoryPartials final : public Partials {
 public:
  explicit MemoryPartials(MemoryState& state) : state_(state) {}

  Result<> add(const SessionId& id, const OperationId& answer,
               std::span<const Block> delta) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(StoredSession* const stored, state_.get(id));
    if (!stored->partial || stored->partial->answer != answer) {
      return std::unexpected(answer_not_running(id, answer));
    }
    append_delta(stored->partial->blocks, delta);
    state_.blobs.name(id, {delta.begin(), delta.end()});
    return {};
  }

  Result<> renew(const SessionId& id, const OperationId& answer, const Lease& lease) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(StoredSession* const stored, state_.get(id));
    if (!stored->partial || stored->partial->answer != answer) {
      return std::unexpected(answer_not_running(id, answer));
    }
    set_lease(*stored, lease);
    return {};
  }

  Result<std::optional<Partial>> find(const SessionId& id) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(const StoredSession* const stored, state_.get(id));
    return stored->partial;
  }

 private:
  MemoryState& state_;
};

class MemoryTodos final : public Todos {
 public:
  explicit MemoryTodos(MemoryState& state) : state_(state) {}

  Result<std::vector<Todo>> todos(const SessionId& id) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(const StoredSession* const stored, state_.get(id));
    return stored->todos;
  }

  Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(StoredSession* const stored, state_.get(id));
    std::vector<Todo> todos = stored->todos;
    REPRISE_TRY(edit(todos));
    stored->todos = todos;
    return todos;
  }

 private:
  MemoryState& state_;
};

class MemoryArtefacts final : public Artefacts {
 public:
  explicit MemoryArtefacts(MemoryState& state) : state_(state) {}

  Result<> save_artefact(const SessionId& id, Step step, std::string_view name,
                         std::string_view bytes) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(StoredSession* const stored, get(id, step, name));
    stored->artefacts[{step, std::string(name)}] = bytes;
    return {};
  }

  Result<> append_artefact(const SessionId& id, Step step, std::string_view name,
                           std::string_view bytes) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(StoredSession* const stored, get(id, step, name));
    stored->artefacts[{step, std::string(name)}] += bytes;
    return {};
  }

  Result<std::optional<std::string>> find_artefact(const SessionId& id, Step step,
                                                   std::string_view name) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(const StoredSession* const stored, get(id, step, name));
    const auto found = stored->artefacts.find({step, std::string(name)});
    if (found == stored->artefacts.end()) {
      return std::nullopt;
    }
    return found->second;
  }

  Result<std::vector<Entry>> list_artefacts(const SessionId& id) override {
    const std::lock_guard lock(state_.mutex);
    REPRISE_ASSIGN(const StoredSession* const stored, state_.get(id));
    std::vector<Entry> entries;
    entries.reserve(stored->artefacts.size());
    for (const auto& [key, bytes] : stored->artefacts) {
      entries.push_back({key.first, key.second, static_cast<std::int64_t>(bytes.size())});
    }
    return entries;
  }

 private:
  Result<StoredSession*> get(const SessionId& id, Step step, std::string_view name) {
    REPRISE_TRY(check_artefact(step, name));
    return state_.get(id);
  }

  MemoryState& state_;
};

class MemoryBlobs final : public Blobs {
 public:
  explicit MemoryBlobs(MemoryState& state) : state_(state) {}

  Result<BlobHash> put_blob(std::string_view bytes) override {
    REPRISE_ASSIGN(BlobHash hash, sha256(bytes));
    const std::lock_guard lock(state_.mutex);
    state_.blobs.put(hash, bytes);
    return hash;
  }

  Result<> read_blob(const BlobHash& hash,
                     const std::function<Flow(std::string_view)>& sink) override {
    std::string bytes;
    {
      const std::lock_guard lock(state_.mutex);
      const std::string* const found = state_.blobs.find(hash);
      if (found == nullptr) {
        return fail(Code::not_found, cat("no blob ", hash.str()));
      }
      bytes = *found;
    }
    for (std::size_t at = 0; at < bytes.size(); at += kBlobPieceMax) {
      if (sink(std::string_view(bytes).substr(at, kBlobPieceMax)) == Flow::stop) {
        break;
      }
    }
    return {};
  }

 private:
  MemoryState& state_;
};

class MemoryTrash final : public Trash {
 public:
  explicit MemoryTrash(MemoryState& state) : state_(state) {}

  Result<> trash(const SessionId& id, Time when) override;
  Result<> restore(const SessionId& id) override;
  Result<> purge(const SessionId& id) override;

 private:
  Result<> check_unshared(const SessionId& id) const;

  MemoryState& state_;
};

Result<> MemoryTrash::trash(const SessionId& id, Time /*when*/) {
  const std::lock_guard lock(state_.mutex);
  REPRISE_ASSIGN(StoredSession* const stored, state_.get(id));
  SessionState& state = stored->session.info.state;
  if (state != SessionState::trashed) {
    stored->state_before_trash = std::exchange(state, SessionState::trashed);
  }
  return {};
}

Result<> MemoryTrash::restore(const SessionId& id) {
  const std::lock_guard lock(state_.mutex);
  REPRISE_ASSIGN(StoredSession* const stored, state_.get(id));
  if (stored->session.info.state != SessionState::trashed) {
    return fail(Code::invalid_argument, cat("session ", id.str(), " is not in the trash"));
  }
  stored->session.info.state = stored->state_before_trash;
  return {};
}

Result<> MemoryTrash::purge(const SessionId& id) {
  const std::lock_guard lock(state_.mutex);
  REPRISE_TRY(state_.get(id));
  REPRISE_TRY(check_unshared(id));
  state_.sessions.erase(id);
  state_.blobs.release(id);
  return {};
}

Result<> MemoryTrash::check_unshared(const SessionId& id) const {
  std::string names;
  for (const auto& [other, stored] : state_.sessions) {
    const auto& origin = stored.session.info.forked_from;
    if (stored.shares_with_parent && origin && origin->session == id) {
      names += cat(names.empty() ? "" : ", ", other.str());
    }
  }
  if (!names.empty()) {
    return fail(Code::conflict, cat("session ", id.str(), " shares its messages with ", names,
                                    ": purge those first"));
  }
  return {};
}

}  // namespace

struct MemoryOffers::Parts {
  explicit Parts(MemoryState& state)
      : rewriting(state),
        forking(state),
        partials(state),
        todos(state),
        artefacts(state),
        blobs(state),
        trash(state) {}

  MemoryRewriting rewriting;
  MemoryForking forking;
  MemoryPartials partials;
  MemoryTodos todos;
  MemoryArtefacts artefacts;
  MemoryBlobs blobs;
  MemoryTrash trash;
  StoreOffers offers{.rewriting = &rewriting,
                     .forking = &forking,
                     .partials = &partials,
                     .todos = &todos,
                     .artefacts = &artefacts,
                     .blobs = &blobs,
                     .trash = &trash};
};

MemoryOffers::MemoryOffers(MemoryState& state) : parts_(std::make_unique<Parts>(state)) {}
MemoryOffers::~MemoryOffers() = default;

const StoreOffers& MemoryOffers::offers() const {
  return parts_->offers;
}

}  // namespace reprise::store
