#include "store/postgres/server_error.h"

#include <cerrno>

#include "base/text.h"
#include "reprise/error.h"

namespace reprise::postgres {
namespace {

struct Meaning {
  std::string_view sqlstate;  // or its class (a prefix)
  int os_errno;
  Code code;
  Remedy remedy;
};
constexpr Meaning kMeanings[] = {
    {"08", 0, Code::io, Remedy::reconnect},
    {"25006", EROFS, Code::io, Remedy::reconnect},  // it has become a standby
    {"26000", 0, Code::io, Remedy::unnamed},        // no such prepared statement
    {"28", 0, Code::unauthorized, Remedy::none},
    {"3D000", 0, Code::not_found, Remedy::none},
    {"40", 0, Code::busy, Remedy::again},
    {kNoPrivilege, EACCES, Code::io, Remedy::none},
    {"42P05", 0, Code::io, Remedy::unnamed},  // already prepared
    {"53100", ENOSPC, Code::io, Remedy::none},
    {"53300", 0, Code::busy, Remedy::reconnect},  // too many connections
    {"53", ENOMEM, Code::io, Remedy::none},
    {kLockTimeout, 0, Code::busy, Remedy::none},
    {"57014", 0, Code::timeout, Remedy::none},
    {"57P", 0, Code::io, Remedy::reconnect},
    {"58", EIO, Code::io, Remedy::none},
    {"XX001", 0, Code::corrupt, Remedy::none},
    {"XX002", 0, Code::corrupt, Remedy::none},
};

constexpr Meaning kUnknown = {"", 0, Code::io, Remedy::none};

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
  if (says("SSL was required") || says("root certificate") || says("certificate verify failed") ||
      says("server certificate for")) {
    error.message +=
        "; a password goes to another machine only over TLS with a certificate that can be checked "
        "(sslrootcert=FILE), or with --insecure";
  } else if (says("password") || says("authentication") || says("no pg_hba.conf entry") ||
             says("role \"")) {
    error.code = Code::unauthorized;
  } else if (says("database \"") && says("does not exist")) {
    error.code = Code::not_found;
  }
  return error;
}

bool is_outcome_unknown(std::string_view sqlstate) {
  return sqlstate == "XX000" || sqlstate.starts_with("58") || sqlstate.starts_with("08") ||
         sqlstate.starts_with("57P");
}

bool is_node_away(std::string_view sqlstate) {
  return sqlstate.starts_with("08");
}

Remedy remedy_for(std::string_view sqlstate) {
  return meaning_of(sqlstate).remedy;
}

}  // namespace reprise::postgres
