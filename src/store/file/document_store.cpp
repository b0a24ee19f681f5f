#include "store/file/document_store.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/facts.h"
#include "store/file/document_offers.h"
#include "store/file/documents.h"
#include "store/file/file_session.h"
#include "store/file/session_files.h"
#include "store/own_process.h"
#include "store/query.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

class DocumentStore final : public Store {
 public:
  DocumentStore(std::unique_ptr<SessionFiles> files, const StoreOptions& options,
                const DocumentOffers& offers)
      : files_(std::move(files)),
        documents_(*files_, options),
        parts_(*files_, documents_, offers) {}

  Result<> create(const Session& session) override;
  Result<std::optional<Session>> find(const SessionId& id) override;
  Result<> update(const SessionId& id, const SessionPatch& patch) override;
  Result<SessionPage> list(const SessionQuery& query) override;
  Result<Appended> append(const SessionId& id, std::vector<Message> messages,
                          AppendOptions options) override;
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override;
  StoreHolds holds() const override { return files_->holds(); }
  const StoreOffers& offers() const override { return parts_.offers(); }

 private:
  std::unique_ptr<SessionFiles> files_;
  Documents documents_;
  DocumentParts parts_;
};

Result<> DocumentStore::create(const Session& session) {
  REPRISE_TRY(check_new_session(session));
  return documents_.add(new_file_session(session));
}

Result<std::optional<Session>> DocumentStore::find(const SessionId& id) {
  REPRISE_ASSIGN(const auto found, documents_.find(id));
  if (!found) {
    return std::nullopt;
  }
  const StoredSession& stored = found->session->stored;
  Session session = stored.session;
  if (stored.partial && session.info.answering) {
    REPRISE_ASSIGN(const auto lease, read_lease(files_->partial_file(id), stored.partial->answer));
    session.info.answering->lease = lease.value_or(session.info.answering->lease);
  }
  return session;
}

Result<> DocumentStore::update(const SessionId& id, const SessionPatch& patch) {
  return documents_.edit(id, [&patch](FileSession& file) -> Result<Documents::Outcome> {
    REPRISE_TRY(apply_patch(file.stored.session, patch));
    return Documents::Outcome::changed;
  });
}

Result<SessionPage> DocumentStore::list(const SessionQuery& query) {
  REPRISE_ASSIGN(const CheckedQuery checked, check_query(query));
  std::vector<Damage> damage;
  REPRISE_ASSIGN(std::vector<SessionInfo> infos, documents_.infos(damage));
  std::erase_if(infos, [&checked](const SessionInfo& info) { return !matches(info, checked); });
  for (SessionInfo& info : infos) {
    if (!info.answering) {
      continue;
    }
    if (const auto now = find(info.id); !now) {
      damage.push_back({files_->partial_file(info.id).native(), now.error().message, ""});
    } else if (const std::optional<Session>& session = *now; session) {
      info.answering = session->info.answering;  // with the lease as it is now
    }
  }
  SessionPage page = make_page(std::move(infos), query.limit);
  page.damage = std::move(damage);
  return page;
}

Result<Appended> DocumentStore::append(const SessionId& id, std::vector<Message> messages,
                                       AppendOptions options) {
  return write_document(*files_, documents_, id, {std::nullopt, std::move(messages), options});
}

Result<ReadReport> DocumentStore::read(const SessionId& id, ReadRange range,
                                       const MessageSink& sink) {
  REPRISE_ASSIGN(const Documents::Found found, documents_.get(id));
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

}  // namespace

std::unique_ptr<Store> make_document_store(std::unique_ptr<SessionFiles> files,
                                           const StoreOptions& options,
                                           const DocumentOffers& offers) {
  return in_own_process(std::make_unique<DocumentStore>(std::move(files), options, offers));
}

}  // namespace reprise::store
