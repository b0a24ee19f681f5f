// Creates and resumes sessions.

#include "base/terminal_text.h"
#include "base/text.h"
#include "reprise/conversation.h"
#include "reprise/sessions.h"

namespace reprise {
namespace {

// A session changed by another program is resumed only on request.
Result<> check_signature(Store& store, const SessionInfo& info, bool accept_changed) {
  Signatures* const signatures = store.capabilities().signatures;
  if (signatures == nullptr) {
    return {};
  }
  REPRISE_ASSIGN(const Signature signature, signatures->signature(info.id));
  if (signature != Signature::failed) {
    return {};
  }
  if (accept_changed) {
    return signatures->accept(info.id);
  }
  return fail(Code::corrupt,
              cat("the signature of '", terminal_line(info.title),
                  "' does not match: another program changed it, or signed it on another host"));
}

std::string name_of(const SessionInfo& info) {
  return info.title.empty() ? short_id(info.id) : terminal_line(info.title);
}

// A conversation without messages and without response ids cannot be continued.
Result<> check_can_continue(const Store& store, const Session& session) {
  if (store.capabilities().messages || !session.response_chain.empty()) {
    return {};
  }
  return fail(Code::unsupported, cat("'", name_of(session.info),
                                     "' has no response ids and no text; there is nothing "
                                     "to continue from"));
}

}  // namespace

Result<> check_provider(const Store& store, const Provider& provider) {
  if (store.capabilities().messages || provider.stores_responses()) {
    return {};
  }
  return fail(
      Code::unsupported,
      cat("this store holds response ids only, and ", provider.name(),
          " does not store conversations: use the provider openai-responses, or another store"));
}

Result<> prepare_session(Store& store, const Provider& provider, Session& session, Clock& clock,
                         Entropy& entropy) {
  REPRISE_TRY(check_provider(store, provider));
  if (const UuidVersion version = store.capabilities().new_ids; version != UuidVersion::v7) {
    session.info.id = make_session_id(clock, entropy, version);
  }
  const bool is_full = store.capabilities().messages && !store.capabilities().many_sessions &&
                       default_session(store).value_or(std::nullopt);
  return is_full ? store.create(session) : Result<>();  // which fails
}

Result<> create_session(Store& store, const Provider& provider, Session& session, Clock& clock,
                        Entropy& entropy) {
  REPRISE_TRY(prepare_session(store, provider, session, clock, entropy));
  if (!store.capabilities().messages) {
    return {};
  }
  DeferredCreation* const creation = store.capabilities().deferred_creation;
  return creation != nullptr ? creation->begin(session) : store.create(session);
}

Result<ResumedSession> resume_session(Store& store, const SessionId& id,
                                      const ResumeOptions& options) {
  ResumedSession resumed{.session = {.info = {.id = id}}};
  if (options.change) {
    REPRISE_ASSIGN(const Session found, get(store, id));
    if (found.info.state == SessionState::archived) {
      return fail(Code::invalid_argument,
                  cat("'", name_of(found.info), "' is archived: run `reprise restore ",
                      short_id(id), "` first"));
    }
    REPRISE_TRY(check_signature(store, found.info, options.accept_changed));
    REPRISE_ASSIGN(resumed.recovered, recover_interrupted(store, id, options.clock, options.stop));
    if (found.info.state == SessionState::closed) {
      REPRISE_TRY(
          store.update(id, {.state = SessionState::active, .closed_at = std::optional<Time>()}));
    }
  }
  REPRISE_ASSIGN(resumed.session, get(store, id));
  REPRISE_TRY(check_can_continue(store, resumed.session));
  return resumed;
}

Result<std::optional<SessionId>> default_session(Store& store) {
  if (CurrentSession* const current = store.capabilities().current_session; current != nullptr) {
    return current->current();
  }
  if (store.capabilities().many_sessions) {
    return std::nullopt;
  }
  REPRISE_ASSIGN(const SessionPage page, store.list({.limit = 1}));
  return page.sessions.empty() ? std::nullopt : std::optional(page.sessions.front().id);
}

Result<std::optional<SessionId>> make_current(Store& store, const SessionId& id, bool archive,
                                              Clock& clock) {
  CurrentSession* const current = store.capabilities().current_session;
  if (current == nullptr) {
    return std::nullopt;
  }
  const auto previous = current->current();
  if (previous && *previous == id) {
    return std::nullopt;
  }
  if (auto done = current->set_current(id); !done) {
    return fail_with_context("cannot make this session the current one", std::move(done).error());
  }
  std::optional<SessionId> replaced = previous ? *previous : std::nullopt;
  Archives* const archives = store.capabilities().archives;
  if (!archive || !replaced || archives == nullptr) {
    return std::nullopt;
  }
  if (auto done = archives->archive(*replaced, clock.now()); !done) {
    return fail_with_context("cannot archive the previous session", std::move(done).error());
  }
  return replaced;
}

}  // namespace reprise
