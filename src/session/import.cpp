#include "session/import.h"

#include <algorithm>

#include "base/encode.h"
#include "base/hash.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "engine/blobs.h"
#include "reprise/capabilities.h"

namespace reprise {
namespace {

constexpr std::string_view kOriginField = "origin";
constexpr int kForksMax = 32;  // of one session that was rewound again and again

RawJson origin_json(std::string_view tool, std::string_view id, Time seen_at) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("tool", tool).field("id", id);
  if (seen_at != Time{}) {
    object.field("seen_at", format_time(seen_at));
  }
  object.close();
  return RawJson::parse(std::move(out)).value_or(RawJson());
}

void set_origin(Extra& extra, RawJson origin) {
  std::erase_if(extra, [](const ExtraField& field) { return field.name == kOriginField; });
  extra.push_back({std::string(kOriginField), std::move(origin)});
}

// One session of a tool, as it is to stand in the store: under its id there, its images as blobs.
class ImportView final : public Source, public TodoReader {
 public:
  ImportView(Source& source, std::string_view tool, Store& target, SessionId foreign)
      : source_(source),
        tool_(tool),
        target_(target),
        foreign_(std::move(foreign)),
        holds_(source.capabilities()) {
    holds_.blob_reader = target.capabilities().blob_reader;
    holds_.last_message_reader = nullptr;
    holds_.todo_reader = source.capabilities().todo_reader == nullptr ? nullptr : this;
  }

  void show_as(SessionId id, std::optional<ForkOrigin> fork) {
    id_ = std::move(id);
    fork_ = std::move(fork);
  }

  Result<std::optional<Session>> find(const SessionId& /*id*/) override {
    REPRISE_ASSIGN(std::optional<Session> session, source_.find(foreign_));
    if (!session) {
      return session;
    }
    SessionInfo& info = session->info;
    info.id = id_.value_or(info.id);
    info.state = SessionState::active;
    info.closed_at.reset();
    if (info.forked_from && !fork_) {
      REPRISE_ASSIGN(info.forked_from->session,
                     imported_id(tool_, info.forked_from->session.str()));
      inherited_ = info.forked_from->at;
    }
    if (fork_) {
      info.forked_from = fork_;
    }
    set_origin(session->extra, origin_json(tool_, foreign_.str(), {}));
    return session;
  }

  Result<SessionPage> list(const SessionQuery& query) override { return source_.list(query); }

  Result<ReadReport> read(const SessionId& /*id*/, ReadRange range,
                          const MessageSink& sink) override {
    return source_.read(foreign_, range, [&](Message&& message) {
      for (Block& block : message.blocks) {
        if (auto* const image = std::get_if<ImageBlock>(&block); image != nullptr) {
          *image = stored_image(&target_, std::move(*image));
        }
      }
      if (message.seq < inherited_) {
        message.usage.reset();  // counted with the session that it is a fork of
      }
      return sink(std::move(message));
    });
  }

  Result<std::vector<Todo>> todos(const SessionId& /*id*/) override {
    return source_.capabilities().todo_reader->todos(foreign_);
  }

  const SourceCapabilities& capabilities() const override { return holds_; }

 private:
  Source& source_;
  std::string tool_;
  Store& target_;
  SessionId foreign_;
  std::optional<SessionId> id_;
  std::optional<ForkOrigin> fork_;
  Seq inherited_;
  SourceCapabilities holds_;
};

class Import {
 public:
  Import(Source& source, std::string_view tool, Store& target, const SessionInfo& info,
         std::stop_token stop)
      : source_(source),
        tool_(tool),
        target_(target),
        info_(info),
        stop_(std::move(stop)),
        view_(source, tool, target, info.id) {}

  Result<ImportedSession> run() {
    REPRISE_ASSIGN(SessionId id, imported_id(tool_, info_.id.str()));
    REPRISE_ASSIGN(const std::optional<Session> present, target_.find(id));
    ImportedSession imported{.fate = CopyFate::unchanged, .messages = 0, .id = id, .damage = {}};
    if (present && present->info.state == SessionState::trashed) {
      return imported;  // somebody has put it there
    }
    if (present && is_seen(*present)) {
      return imported;
    }
    std::optional<ForkOrigin> fork;
    for (int forks = 0;; ++forks) {
      view_.show_as(id, fork);
      REPRISE_ASSIGN(const CopiedSession copied, copy_session(view_, target_, id, stop_));
      imported.id = id;
      imported.messages += copied.messages;
      imported.damage = copied.is_damaged ? copied.losses : std::vector<std::string>();
      if (copied.fate != CopyFate::conflict || !copied.differs || forks == kForksMax) {
        imported.fate = forks > 0 && imported.messages > 0 ? CopyFate::forked : copied.fate;
        break;
      }
      REPRISE_ASSIGN(SessionId next, fork_id(*copied.differs));
      REPRISE_TRY(begin_fork(id, *copied.differs, next));
      fork = ForkOrigin{id, *copied.differs};
      id = std::move(next);
    }
    REPRISE_TRY(note_seen());
    return imported;
  }

 private:
  static bool is_same_time(Time a, Time b) { return a != Time{} && a == b; }

  bool is_seen(const Session& present) const {
    const auto origin = origin_of(present);
    return origin && is_same_time(origin->seen_at, info_.updated_at);
  }

  // After everything else: what was interrupted is read again.
  Result<> note_seen() {
    REPRISE_ASSIGN(const SessionId id, imported_id(tool_, info_.id.str()));
    REPRISE_ASSIGN(const Session present, get(target_, id));
    Extra extra = present.extra;
    set_origin(extra, origin_json(tool_, info_.id.str(), info_.updated_at));
    return target_.update(id, {.extra = std::move(extra)});
  }

  // Named after the message that it begins with: another one there is another fork.
  Result<SessionId> fork_id(Seq at) {
    std::uint64_t hash = 0;
    REPRISE_TRY(source_.read(info_.id, {.from = at, .to = at.next()}, [&](Message&& message) {
      hash = fnv1a(cat(message.role, format_time(message.created_at)));
      return Flow::stop;
    }));
    return imported_id(tool_, cat(info_.id.str(), " from ", at.value, " ", hash));
  }

  Result<> begin_fork(const SessionId& parent, Seq at, const SessionId& child) {
    REPRISE_ASSIGN(const std::optional<Session> present, target_.find(child));
    Forking* const forking = target_.capabilities().forking;
    if (present || forking == nullptr) {
      return {};  // without it the messages before stand there twice
    }
    view_.show_as(child, ForkOrigin{parent, at});
    REPRISE_ASSIGN(std::optional<Session> session, view_.find(child));
    if (!session) {
      return {};
    }
    return forking->fork(parent, at, *session);
  }

  Source& source_;
  std::string tool_;
  Store& target_;
  const SessionInfo& info_;
  std::stop_token stop_;
  ImportView view_;
};

}  // namespace

Result<SessionId> imported_id(std::string_view tool, std::string_view id) {
  REPRISE_ASSIGN(const BlobHash hash, sha256(cat("reprise import ", tool, ":", id)));
  std::string uuid = hash.str().substr(0, 32);
  uuid[12] = '8';
  uuid[16] = "89ab"[static_cast<unsigned char>(uuid[16]) % 4];
  for (const std::size_t at : {20U, 16U, 12U, 8U}) {
    uuid.insert(at, "-");
  }
  return SessionId::parse(uuid);
}

bool is_imported_id(const SessionId& id) {
  constexpr std::size_t kUuidBytes = 36;
  constexpr std::size_t kVersionAt = 14;
  return id.str().size() == kUuidBytes && id.str()[kVersionAt] == '8';
}

std::optional<Origin> origin_of(const Session& session) {
  const auto found = std::ranges::find(session.extra, kOriginField, &ExtraField::name);
  if (found == session.extra.end()) {
    return std::nullopt;
  }
  const JsonView json(found->value.text());
  return Origin{json["tool"].text(), json["id"].text(),
                parse_time(json["seen_at"].text()).value_or(Time{})};
}

Result<ImportedSession> import_session(Source& source, std::string_view tool, Store& target,
                                       const SessionInfo& info, const std::stop_token& stop) {
  return Import(source, tool, target, info, stop).run();
}

}  // namespace reprise
