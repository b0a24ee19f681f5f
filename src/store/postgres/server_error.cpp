#include "store/postgres/server_error.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>

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
    {kNoSchema, EACCES, Code::io, Remedy::none},  // with the right to use one
    {"40", 0, Code::busy, Remedy::again},
    {kNoPrivilege, EACCES, Code::io, Remedy::none},
    {"42P05", 0, Code::io, Remedy::unnamed},  // already prepared
    {"53100", ENOSPC, Code::io, Remedy::none},
    {"53300", EAGAIN, Code::busy, Remedy::again},  // too many connections
    {"53", ENOMEM, Code::io, Remedy::none},
    {kLockTimeout, 0, Code::busy, Remedy::none},
    {"57014", 0, Code::timeout, Remedy::none},
    {"57P", 0, Code::io, Remedy::reconnect},
    {"58", EIO, Code::io, Remedy::none},
    {"XX001", 0, Code::corrupt, Remedy::none},
    {"XX002", 0, Code::corrupt, Remedy::none},
};

constexpr std::string_view kProtocolViolation = "08P01";

constexpr Meaning kUnknown = {"", 0, Code::io, Remedy::none};

const Meaning& meaning_of(std::string_view sqlstate) {
  for (const Meaning& meaning : kMeanings) {
    if (sqlstate.starts_with(meaning.sqlstate)) {
      return meaning;
    }
  }
  return kUnknown;
}

// A message such as "… failed: FATAL:  28P01: no\nLOCATION:  auth_failed, auth.c:330\n", in which
// the words, but not the form, depend on the language.
struct VerboseMessage {
  std::string text;      // without SQLSTATEs and locations
  std::string sqlstate;  // the last one; "" if it is not from the server
};
VerboseMessage parse_verbose(std::string_view message) {
  constexpr std::string_view kGap = ":  ";
  constexpr std::size_t kSqlstateChars = 5;
  VerboseMessage parsed;
  while (!message.empty()) {
    const std::size_t end = std::min(message.find('\n'), message.size() - 1) + 1;
    const std::string_view line = message.substr(0, end);
    message.remove_prefix(end);
    const std::size_t gap = line.find(kGap);
    if (gap == std::string_view::npos) {
      parsed.text += line;
      continue;
    }
    const std::string_view tail = line.substr(gap + kGap.size());
    const bool has_state = tail.size() > kSqlstateChars && tail[kSqlstateChars] == ':' &&
                           std::ranges::all_of(tail.substr(0, kSqlstateChars), [](char c) {
                             return is_ascii_digit(c) || (c >= 'A' && c <= 'Z');
                           });
    if (has_state) {
      parsed.sqlstate = tail.substr(0, kSqlstateChars);
      parsed.text += cat(line.substr(0, gap + kGap.size()),
                         tail.substr(std::min(kSqlstateChars + 2, tail.size())));
    } else if (tail.find(".c:") == std::string_view::npos) {
      parsed.text += line;
    }
  }
  return parsed;
}

}  // namespace

std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : trimmed(message)) {
    const bool is_break = static_cast<unsigned char>(c) < ' ';
    if (!is_break || !line.ends_with(' ')) {
      line += is_break ? ' ' : c;
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

namespace {

// "HOST:PORT" if one server refused the connection, at all of its addresses; "" otherwise, and for
// a message in another language.
std::string refused_at(std::string_view message) {
  constexpr std::string_view kBegin = "connection to server at \"";
  constexpr std::string_view kPort = ", port ";
  std::string server;
  for (std::size_t at = 0; (at = message.find(kBegin, at)) != std::string_view::npos;) {
    at += kBegin.size();
    const std::string_view line = message.substr(at, message.find('\n', at) - at);
    const std::size_t port = line.find(kPort);
    if (port == std::string_view::npos || !line.ends_with("Connection refused")) {
      return "";
    }
    const std::string_view digits = line.substr(port + kPort.size());
    const std::string address =
        cat(line.substr(0, line.find('"')), ":", digits.substr(0, digits.find(' ')));
    if (!server.empty() && server != address) {
      return "";
    }
    server = address;
  }
  return server;
}

}  // namespace

Error connect_error(std::string_view message) {
  const auto contains = [message](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  const VerboseMessage verbose = parse_verbose(message);
  const Meaning& meaning = meaning_of(verbose.sqlstate);
  Error error{meaning.code, one_line(verbose.text), meaning.os_errno};
  // Of this machine's libraries, not of the server.
  if (contains("SSL was required") || contains("root certificate") ||
      contains("certificate verify failed") || contains("server certificate for")) {
    error.code = Code::io;
    error.message +=
        "; a password goes to another machine only over TLS with a certificate that can be checked "
        "(sslrootcert=FILE), or with --insecure";
  } else if (verbose.sqlstate == kProtocolViolation &&
             (contains("password") || contains("authentication") || contains("no such user"))) {
    error.code = Code::unauthorized;  // PgBouncer has one SQLSTATE for all its errors, in English
  }
  if (const std::string server = refused_at(message); !server.empty()) {
    error.message = cat("nothing answers at ", server,
                        ": check that the server is running and that the URL is correct");
  }
  return error;
}

std::string missing_grant(std::string_view message, std::string_view role) {
  const std::size_t begin = message.find("reprise_");
  if (begin == std::string_view::npos) {
    return "";
  }
  const std::size_t end = message.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", begin);
  const std::string_view table = message.substr(begin, end - begin);
  const bool is_versions = table == "reprise_schema";
  return cat("GRANT SELECT", is_versions ? "" : ", INSERT, UPDATE, DELETE", " ON ", table, " TO \"",
             role, "\"");
}

bool is_outcome_unknown(std::string_view sqlstate) {
  return sqlstate == "XX000" || sqlstate.starts_with("58") || sqlstate.starts_with("08") ||
         sqlstate.starts_with("57P");
}

bool is_node_unavailable(std::string_view sqlstate) {
  return sqlstate.starts_with("08");
}

Remedy remedy_for(std::string_view sqlstate) {
  return meaning_of(sqlstate).remedy;
}

}  // namespace reprise::postgres
