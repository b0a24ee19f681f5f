#include <algorithm>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/select.h"

namespace reprise {

std::string_view to_string(Signature signature) {
  switch (signature) {
    case Signature::verified:
      return "verified";
    case Signature::unverifiable:
      return "unverifiable";
    case Signature::not_signed:
      return "unsigned";
    case Signature::failed:
      return "failed";
  }
  return "unverifiable";
}

Result<Session> get(Source& source, const SessionId& id) {
  REPRISE_ASSIGN(std::optional<Session> session, source.find(id));
  if (!session) {
    return fail(Code::not_found, cat("no session ", short_id(id)));
  }
  return *std::move(session);
}

Result<std::vector<Message>> read_all(Source& source, const SessionId& id, ReadRange range) {
  std::vector<Message> messages;
  const MessageSink collect = [&messages](Message&& message) {
    // Moving messages costs more than memory that is reserved but never touched.
    if (messages.size() == messages.capacity()) {
      messages.reserve(std::max<std::size_t>(16, messages.size() * 4));
    }
    messages.push_back(std::move(message));
    return Flow::proceed;
  };
  REPRISE_TRY(source.read(id, range, collect));
  return messages;
}

std::size_t largest_page(const Source& source) {
  return source.capabilities().lists_at_once ? kAllSessions : kPageMax;
}

Result<std::string> unique_short_id(Source& source, const SessionId& id) {
  std::string short_form = short_id(id);
  if (short_form == id.str()) {
    return short_form;
  }
  REPRISE_ASSIGN(const SessionPage page,
                 source.list({.states = {SessionState::active, SessionState::closed,
                                         SessionState::archived, SessionState::trashed},
                              .short_id_prefix = short_form,
                              .ungrouped = true,
                              .limit = kPageMax}));
  std::vector<SessionId> ids = {id};
  for (const SessionInfo& info : page.sessions) {
    if (info.id != id) {
      ids.push_back(info.id);
    }
  }
  return short_ids(ids).front();
}

}  // namespace reprise
