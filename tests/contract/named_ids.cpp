#include "contract/named_ids.h"

#include <algorithm>
#include <concepts>
#include <stdexcept>

#include "base/encode.h"
#include "reprise/capabilities.h"
#include "store/provide.h"
#include "support/must.h"

namespace reprise::test {
namespace {

constexpr std::size_t kNameBytesMax = 16;
constexpr std::size_t kUuidBytes = 36;

// The beginning of a UUID: "61622d63", with dashes if it is longer.
std::string uuid_prefix(std::string_view bytes) {
  std::string out;
  for (const char digit : hex_encode(bytes)) {
    if (out.size() == 8 || out.size() == 13 || out.size() == 18 || out.size() == 23) {
      out += '-';
    }
    out += digit;
  }
  return out;
}

SessionId uuid_of(const SessionId& name) {
  std::string bytes = name.str();
  if (bytes.size() == kUuidBytes) {
    return name;  // of a session that the library has made
  }
  if (bytes.size() > kNameBytesMax) {
    throw std::runtime_error("too long to be packed into a UUID: " + bytes);
  }
  bytes.resize(kNameBytesMax, '\0');
  return must(SessionId::parse(uuid_prefix(bytes)));
}

SessionId name_of(const SessionId& uuid) {
  std::string name;
  std::string digits;
  for (const char digit : uuid.str()) {
    digits += digit == '-' ? "" : std::string(1, digit);
    if (digits.size() == 2) {
      name += static_cast<char>(std::stoi(digits, nullptr, 16));
      digits.clear();
    }
  }
  name.resize(std::min(name.find_last_not_of('\0') + 1, name.size()));
  const bool is_name =
      std::ranges::none_of(name, [](char byte) { return static_cast<unsigned char>(byte) < ' '; });
  return is_name ? must(SessionId::parse(name)) : uuid;
}

class NamedStore final : public Store,
                         public AtomicCreation,
                         public Rewriting,
                         public Partials,
                         public Todos,
                         public Artefacts,
                         public Archives,
                         public CurrentSession,
                         public Trash {
 public:
  explicit NamedStore(std::unique_ptr<Store> inner) : inner_(std::move(inner)) {
    store::for_each_interface(capabilities_, [this]<class Interface>(Interface*& place) {
      if constexpr (std::derived_from<NamedStore, Interface>) {
        place = place != nullptr ? this : nullptr;
      }
    });
    capabilities_.turn_recording = nullptr;
  }

  Result<> create(const Session& session) override {
    Session packed = session;
    packed.info.id = uuid_of(session.info.id);
    return inner_->create(packed);
  }
  Result<std::optional<Session>> find(const SessionId& id) override {
    REPRISE_ASSIGN(auto found, inner_->find(uuid_of(id)));
    if (found) {
      found->info.id = name_of(found->info.id);
    }
    return found;
  }
  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    return inner_->update(uuid_of(id), patch);
  }
  Result<SessionPage> list(const SessionQuery& query) override {
    SessionQuery packed = query;
    packed.id_prefix = uuid_prefix(query.id_prefix);
    REPRISE_ASSIGN(SessionPage page, inner_->list(packed));
    for (SessionInfo& info : page.sessions) {
      info.id = name_of(info.id);
    }
    return page;
  }
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override {
    return inner_->append(uuid_of(id), std::move(messages), std::move(options));
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return inner_->read(uuid_of(id), range, sink);
  }
  const Capabilities& capabilities() const override { return capabilities_; }

  Result<> create_with(const Session& session, std::vector<Message> messages) override {
    Session packed = session;
    packed.info.id = uuid_of(session.info.id);
    return inner_->capabilities().atomic_creation->create_with(packed, std::move(messages));
  }
  Result<AppendResult> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                      AppendOptions options) override {
    return inner_->capabilities().rewriting->replace_suffix(uuid_of(id), from, std::move(messages),
                                                            std::move(options));
  }
  Result<std::int64_t> count_replaced(const SessionId& id) override {
    return inner_->capabilities().rewriting->count_replaced(uuid_of(id));
  }
  Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) override {
    return inner_->capabilities().rewriting->read_replaced(uuid_of(id), sink);
  }
  Result<> add_partial(const SessionId& id, const OperationId& answer,
                       std::span<const Block> delta) override {
    return inner_->capabilities().partials->add_partial(uuid_of(id), answer, delta);
  }
  Result<> renew_lease(const SessionId& id, const OperationId& answer,
                       const Lease& lease) override {
    return inner_->capabilities().partials->renew_lease(uuid_of(id), answer, lease);
  }
  Result<std::optional<Partial>> find_partial(const SessionId& id) override {
    return inner_->capabilities().partials->find_partial(uuid_of(id));
  }
  Result<std::vector<Todo>> todos(const SessionId& id) override {
    return inner_->capabilities().todos->todos(uuid_of(id));
  }
  Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) override {
    return inner_->capabilities().todos->edit_todos(uuid_of(id), edit);
  }
  Result<> save_artefact(const SessionId& id, Step step, std::string_view name,
                         std::string_view bytes) override {
    return inner_->capabilities().artefacts->save_artefact(uuid_of(id), step, name, bytes);
  }
  Result<> append_artefact(const SessionId& id, Step step, std::string_view name,
                           std::string_view bytes) override {
    return inner_->capabilities().artefacts->append_artefact(uuid_of(id), step, name, bytes);
  }
  Result<std::optional<std::string>> find_artefact(const SessionId& id, Step step,
                                                   std::string_view name) override {
    return inner_->capabilities().artefacts->find_artefact(uuid_of(id), step, name);
  }
  Result<std::vector<Entry>> list_artefacts(const SessionId& id) override {
    return inner_->capabilities().artefacts->list_artefacts(uuid_of(id));
  }
  Result<> archive(const SessionId& id, Time when) override {
    return inner_->capabilities().archives->archive(uuid_of(id), when);
  }
  Result<> unarchive(const SessionId& id) override {
    return inner_->capabilities().archives->unarchive(uuid_of(id));
  }
  Result<std::optional<SessionId>> current() override {
    REPRISE_ASSIGN(const auto id, inner_->capabilities().current_session->current());
    return id ? std::optional(name_of(*id)) : std::nullopt;
  }
  Result<> set_current(const std::optional<SessionId>& id) override {
    return inner_->capabilities().current_session->set_current(id ? std::optional(uuid_of(*id))
                                                                  : std::nullopt);
  }
  Result<> trash(const SessionId& id, Time when) override {
    return inner_->capabilities().trash->trash(uuid_of(id), when);
  }
  Result<> restore(const SessionId& id) override {
    return inner_->capabilities().trash->restore(uuid_of(id));
  }
  Result<> purge(const SessionId& id) override {
    return inner_->capabilities().trash->purge(uuid_of(id));
  }

 private:
  std::unique_ptr<Store> inner_;
  Capabilities capabilities_ = inner_->capabilities();
};

}  // namespace

std::unique_ptr<Store> with_named_ids(std::unique_ptr<Store> store) {
  return std::make_unique<NamedStore>(std::move(store));
}

}  // namespace reprise::test
