// The visible state of a store, without the processes of running answers, which always differ.

#include <algorithm>

#include "base/text.h"
#include "life.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"

namespace reprise::rel {
namespace {

void add_damage(const std::vector<Damage>& damage, std::string& out) {
  for (const Damage& part : damage) {
    out += cat(part.where, ": ", part.reason, "\n");
  }
}

std::string facts_of(const Session& session) {
  const SessionInfo& info = session.info;
  std::string out =
      cat(info.id.str(), " \"", info.title, "\" ", to_string(info.state), " head ", info.head.value,
          " created ", format_time(info.created_at), " updated ", format_time(info.updated_at),
          " closed ", info.closed_at ? format_time(*info.closed_at) : "never");
  if (info.forked_from) {
    out += cat(" from ", info.forked_from->session.str(), " at ", info.forked_from->at.value);
  }
  out += cat("\nmode ", info.mode, " provider ", info.provider, " model ", info.model, " system ",
             session.system_prompt, "\nusage ", usage_to_json(session.usage), "\nchain");
  for (const ResponseLink& link : session.response_chain) {
    out += cat(" ", link.provider, "/", link.response_id);
  }
  return out + "\n";
}

Result<> look_beside(Store& store, const SessionId& id, Snapshot& snapshot) {
  const Capabilities& can = store.capabilities();
  if (can.todos != nullptr) {
    REPRISE_ASSIGN(const auto todos, can.todos->todos(id));
    snapshot.lasting += cat("todos ", todos_to_json(todos), "\n");
  }
  if (can.artefacts != nullptr) {
    REPRISE_ASSIGN(const auto entries, can.artefacts->list_artefacts(id));
    for (const auto& entry : entries) {
      // Replaced messages are stored before the replacement.
      if (entry.step == Step{} && entry.name == "replaced.jsonl") {
        continue;
      }
      REPRISE_ASSIGN(const auto bytes, can.artefacts->find_artefact(id, entry.step, entry.name));
      const std::string line =
          cat("artefact ", entry.step.value, " ", entry.name, " ", bytes.value_or("none"), "\n");
      if (entry.name != "raw") {
        snapshot.lasting += line;
      } else if (entry.bytes > 0) {  // an empty new artefact counts as missing
        snapshot.running += line;
      }
    }
  }
  if (can.signatures != nullptr) {
    REPRISE_ASSIGN(const Signature signature, can.signatures->signature(id));
    snapshot.lasting += cat("signature ", to_string(signature), "\n");
  }
  if (can.partials != nullptr) {
    REPRISE_ASSIGN(const auto partial, can.partials->find_partial(id));
    if (partial) {
      snapshot.running +=
          cat("answering ", partial->answer.str(), " ", blocks_to_json(partial->blocks), "\n");
    }
  }
  return {};
}

Result<> look_at(Store& store, const SessionId& id, Snapshot& snapshot) {
  REPRISE_ASSIGN(const Session session, get(store, id));
  snapshot.lasting += facts_of(session);
  REPRISE_ASSIGN(const ReadReport report, store.read(id, {}, [&](Message&& message) {
    snapshot.lasting += cat(message.seq.value, " ", message_to_json(message), "\n");
    return Flow::proceed;
  }));
  add_damage(report.damage, snapshot.damage);
  return look_beside(store, id, snapshot);
}

}  // namespace

Result<Snapshot> take_snapshot(Store& store) {
  Snapshot snapshot;
  REPRISE_ASSIGN(SessionPage page,
                 store.list({.states = {SessionState::active, SessionState::closed,
                                        SessionState::archived, SessionState::trashed},
                             .limit = kPageMax}));
  add_damage(page.damage, snapshot.damage);
  std::ranges::sort(page.sessions, {}, &SessionInfo::id);
  for (const SessionInfo& info : page.sessions) {
    REPRISE_TRY(look_at(store, info.id, snapshot));
  }
  if (store.capabilities().current_session != nullptr) {
    REPRISE_ASSIGN(const auto current, store.capabilities().current_session->current());
    snapshot.lasting += cat("current ", current ? current->str() : "none", "\n");
  }
  return snapshot;
}

bool has_session(const Snapshot& snapshot) {
  return snapshot.lasting.contains(" head ");
}

}  // namespace reprise::rel
