#pragma once

// The URL of a store as PostgreSQL's own (postgresql://user@host:port,host/database?sslmode=…),
// with three parameters of ours in it that libpq never sees:
//   tenant=NAME          whose sessions; "default" without it. Named like a session id.
//   list_from=standby    lists may come from a standby, which can be a moment behind.
//   set_tenant=yes       each transaction tells the server its tenant, for row-level security.

#include "reprise/open_store.h"

namespace reprise::postgres {

// What libpq is told. May hold a password: never shown.
using Parameters = std::vector<std::pair<std::string, std::string>>;

struct Place {
  std::string tenant = {};
  bool list_from_standby = false;
  bool sets_tenant = false;
  bool has_password = false;
  bool says_which_server = false;        // target_session_attrs
  std::string name = {};                 // of the database, for messages; never a password
  std::vector<Parameters> servers = {};  // one for each host, in the order in which they are tried
  bool many_servers() const { return servers.size() > 1; }
};

// Adds to what the server is told when a connection begins ("-c name=value").
void append_option(Parameters& parameters, std::string_view option);

// invalid_argument for what names no tenant.
Result<> check_tenant(std::string_view name);

// Which servers the URL reaches, to be compared; "" for what is no such URL.
std::string servers_in(std::string_view url);

// A password may be sent to this server: it is this machine's, or from now on it must prove with a
// certificate that it is the one that is named. unauthorized where the URL says that it need not.
Result<> require_tls(Parameters& server);

// invalid_argument for what is no such URL.
Result<Place> parse_url(std::string_view url);

}  // namespace reprise::postgres
