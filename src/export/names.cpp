#include "export/names.h"

#include "base/text.h"
#include "model/known_time.h"

namespace reprise::exporting {
namespace {

constexpr std::size_t kTitleBytes = 40;
constexpr std::size_t kDateBytes = 10;

// The title's letters and digits in lower case, with dashes between words.
std::string slug(std::string_view title) {
  std::string out;
  for (const char c : title) {
    if (is_ascii_alnum(c)) {
      out += ascii_lower(c);
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
    if (out.size() == kTitleBytes) {
      break;
    }
  }
  while (out.ends_with('-')) {
    out.pop_back();
  }
  return out;
}

std::string plain_id(std::string id) {
  for (char& c : id) {
    c = is_ascii_alnum(c) || c == '-' || c == '_' ? c : '-';
  }
  return id;
}

}  // namespace

std::string file_stem(const Session& session) {
  const Time time = time_of(session);
  const std::string day = is_known(time) ? cat(format_time(time).substr(0, kDateBytes), "-") : "";
  const std::string title = slug(session.info.title);
  return cat(day, title, title.empty() ? "" : "-", plain_id(short_id(session.info.id)));
}

std::string full_id(const SessionId& id) {
  return plain_id(id.str());
}

Time time_of(const Session& session) {
  return is_known(session.info.created_at) ? session.info.created_at : session.info.updated_at;
}

Result<Session> with_times(Source& source, Session session) {
  SessionInfo& info = session.info;
  Time message = kUnknownTime;
  if (!is_known(time_of(session)) && source.capabilities().messages) {
    REPRISE_TRY(source.read(info.id, {}, [&](const Message& one) {
      message = one.created_at;
      return is_known(message) ? Flow::stop : Flow::proceed;
    }));
  }
  info.created_at = known_time({info.created_at, info.updated_at, message});
  info.updated_at = known_time({info.updated_at, info.created_at});
  return session;
}

}  // namespace reprise::exporting
