#include "store/document/document_store.h"

#include <algorithm>
#include <iterator>

#include "reprise/open_store.h"
#include "store/document/document_format.h"
#include "store/document/document_write.h"
#include "store/document/documents.h"
#include "store/document/partial_file.h"
#include "store/own_process.h"
#include "store/provide.h"
#include "store/query.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

// The capabilities of the format, and those of this class that follow from them.
Capabilities capabilities_in(DocumentStore& store, const DocumentFormat& files) {
  Capabilities out = capabilities_of(store, files.holds());
  if (!files.stores_whole_turns()) {
    out.beginning = nullptr;
  }
  if (!out.messages || !out.many_sessions) {
    out.creation = nullptr;
  }
  if (!out.many_sessions) {
    out.archives = nullptr;  // the only session cannot be archived
  }
  if (out.messages) {
    out.responses = nullptr;
  } else {
    out.rewriting = nullptr;
    out.replaced_reader = nullptr;
    out.partials = nullptr;
    out.partial_reader = nullptr;
    out.todos = nullptr;
    out.todo_reader = nullptr;
  }
  if (!files.has_signatures()) {
    out.signatures = nullptr;
    out.signature_reader = nullptr;
  }
  return out;
}

}  // namespace

DocumentStore::DocumentStore(std::unique_ptr<DocumentFormat> files, const StoreOptions& options)
    : files_(std::move(files)),
      documents_(std::make_unique<Documents>(*files_, options)),
      capabilities_(capabilities_in(*this, *files_)) {}

DocumentStore::~DocumentStore() = default;

Result<> DocumentStore::create(const Session& session) {
  REPRISE_TRY(check_new_session(session));
  return documents_->add(new_file_session(session));
}

Result<std::optional<Session>> DocumentStore::find(const SessionId& id) {
  REPRISE_ASSIGN(const auto found, documents_->find(id));
  if (!found) {
    return std::nullopt;
  }
  const StoredSession& stored = found->session->stored;
  Session session = stored.session;
  if (stored.partial && session.info.answering) {
    REPRISE_ASSIGN(const auto file, files_->partial_file(id));
    REPRISE_ASSIGN(const auto lease, read_lease(file, stored.partial->answer));
    session.info.answering->lease = lease.value_or(session.info.answering->lease);
  }
  return session;
}

Result<> DocumentStore::update(const SessionId& id, const SessionPatch& patch) {
  return documents_->edit(id, [&patch](FileSession& file) -> Result<Documents::Outcome> {
    REPRISE_TRY(apply_patch(file.stored.session, patch));
    return Documents::Outcome::changed;
  });
}

Result<SessionPage> DocumentStore::list(const SessionQuery& query) {
  REPRISE_ASSIGN(const CheckedQuery checked, check_query(query));
  std::vector<Damage> damage;
  REPRISE_ASSIGN(std::vector<SessionInfo> infos, documents_->infos(damage));
  std::erase_if(infos, [&checked](const SessionInfo& info) { return !matches(info, checked); });
  for (SessionInfo& info : infos) {
    if (!info.answering) {
      continue;
    }
    if (const auto now = find(info.id); !now) {
      damage.push_back({files_->root().native(), now.error().message, ""});
    } else if (const std::optional<Session>& session = *now; session) {
      info.answering = session->info.answering;  // with the current lease
    }
  }
  SessionPage page = make_page(std::move(infos), query);
  page.damage = std::move(damage);
  return page;
}

Result<Appended> DocumentStore::append(const SessionId& id, std::vector<Message> messages,
                                       AppendOptions options) {
  return write_document(*files_, *documents_, id, {std::nullopt, std::move(messages), options});
}

Result<ReadReport> DocumentStore::read(const SessionId& id, ReadRange range,
                                       const MessageSink& sink) {
  REPRISE_ASSIGN(const Documents::Found found, documents_->get(id));
  const StoredSession& stored = found.session->stored;
  const Span span = clamp(range, stored.session.info.head);
  for (std::int64_t done = 0; done < span.to - span.from; ++done) {
    const std::int64_t seq = range.newest_first ? span.to - 1 - done : span.from + done;
    if (sink(Message(*stored.log->at(seq))) == Flow::stop) {
      break;
    }
  }
  ReadReport report{.damage = found.session->damage};
  std::ranges::copy(found.session->gaps, std::back_inserter(report.damage));
  report.damaged = static_cast<std::int64_t>(report.damage.size());
  return report;
}

std::unique_ptr<Store> make_document_store(std::unique_ptr<DocumentFormat> files,
                                           const StoreOptions& options) {
  return in_own_process(std::make_unique<DocumentStore>(std::move(files), options),
                        CallOptions(options));
}

}  // namespace reprise::store
