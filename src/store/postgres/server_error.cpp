#include "store/postgres/server_error.h"

#include <cerrno>
#include <string>
#include <string_view>

#include "base/text.h"
#include "reprise/error.h"

namespace reprise::postgres {
namespace {

struct Meaning {
  std::string_view sqlstate;  // or the class that it begins with
  Code code;
  int os_errno;
  Remedy remedy;
};
constexpr Meaning kMeanings[] = {
    {"08", Code::io, 0, Remedy::reconnect},
    {"25006", Code::io, EROFS, Remedy::reconnect},  // it is a standby by now
    {"26000", Code::io, 0, Remedy::unnamed},        // no such prepared statement
    {"28", Code::unauthorized, 0, Remedy::none},
    {"3D000", Code::not_found, 0, Remedy::none},
    {"40", Code::busy, 0, Remedy::again},
    {"42501", Code::io, EACCES, Remedy::none},
    {"42P05", Code::io, 0, Remedy::unnamed},  // prepared already
    {"53100", Code::io, ENOSPC, Remedy::none},
    {"53300", Code::busy, 0, Remedy::reconnect},  // too many connections
    {"53", Code::io, ENOMEM, Remedy::none},
    {"55P03", Code::busy, 0, Remedy::none},  // waited long enough for a lock
    {"57014", Code::timeout, 0, Remedy::none},
    {"57P", Code::io, 0, Remedy::reconnect},
    {"58", Code::io, EIO, Remedy::none},
    {"XX001", Code::corrupt, 0, Remedy::none},
    {"XX002", Code::corrupt, 0, Remedy::none},
};

constexpr Meaning kUnknown = {"", Code::io, 0, Remedy::none};

const Meaning& meaning_of(std::string_view sqlstate) {
  for (const Meaning& meaning : kMeanings) {
    if (sqlstate.starts_with(meaning.sqlstate)) {
      return meaning;
    }
  }
  return kUnknown;
}

}  // namespace

std::string one_line(std::string_view message) {
  std::string line(trimmed(message));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') {
      c = ' ';
    }
  }
  return line;
}

Error server_error(std::string_view sqlstate, std::string_view message) {
  const Meaning& meaning = meaning_of(sqlstate);
  return {
      meaning.code,
      cat("the server says: ", one_line(message), sqlstate.empty() ? "" : cat(" (", sqlstate, ")")),
      meaning.os_errno};
}

Error connect_error(std::string_view message) {
  const auto says = [message](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  Error error{Code::io, one_line(message)};
  if (says("password") || says("authentication") || says("no pg_hba.conf entry") ||
      says("role \"")) {
    error.code = Code::unauthorized;
  } else if (says("database \"") && says("does not exist")) {
    error.code = Code::not_found;
  }
  return error;
}

Remedy remedy_for(std::string_view sqlstate) {
  return meaning_of(sqlstate).remedy;
}

}  // namespace reprise::postgres
