

#include "base/text.h"
#include "reprise/capabilities.h"

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
    messages.push_back(std::move(message));
    return Flow::go_on;
  };
  REPRISE_TRY(source.read(id, range, collect));
  return messages;
}

}  // namespace reprise
