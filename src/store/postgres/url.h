#pragma once

// The URL of a store: a PostgreSQL URL (postgresql://user@host:port,host/database?sslmode=…) with
// three parameters of ours, which are not passed to libpq:
//
//   tenant=NAME          the tenant; "default" if it is missing. Same syntax as a session id.
//   list_from=standby    lists may come from a standby, which can be slightly behind.
//   set_tenant=yes       each transaction sends its tenant to the server, for row-level security.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reprise/error.h"

namespace reprise::postgres {

// The parameters for libpq. May contain a password, so they are never shown.
using Parameters = std::vector<std::pair<std::string, std::string>>;

struct ConnectionTarget {
  std::string tenant = {};
  bool list_from_standby = false;
  bool sets_tenant = false;
  bool has_password = false;
  bool names_server = false;             // target_session_attrs
  std::string name = {};                 // of the database, for messages; contains no password
  std::string owner_url = {};            // for the administrator's commands: OWNER is the user
  std::vector<Parameters> servers = {};  // one per host, in the order of attempts
  bool many_servers() const { return servers.size() > 1; }
};

// Adds a server option for new connections ("-c name=value").
void append_option(Parameters& parameters, std::string_view option);

// invalid_argument if it is not a valid name of a tenant.
Result<> check_tenant(std::string_view name);

// The servers of the URL, for comparison; "" if it is not a valid URL.
std::string servers_in(std::string_view url);

// Ensures that a password may be sent to this server: it is on this machine, or it must prove its
// name with a certificate. unauthorized if the URL disables that.
Result<> require_tls(Parameters& server);

// invalid_argument if it is not a valid URL.
Result<ConnectionTarget> parse_url(std::string_view url);

}  // namespace reprise::postgres
