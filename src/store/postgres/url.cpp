#include "store/postgres/url.h"

#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <vector>

#include "base/encode.h"
#include "base/http.h"
#include "base/text.h"
#include "base/variable.h"
#include "reprise/types.h"
#include "store/postgres/libpq_library.h"

namespace reprise::postgres {
namespace {

constexpr std::string_view kTenant = "tenant=";
constexpr std::string_view kListFrom = "list_from=";
constexpr std::string_view kSetsTenant = "set_tenant=";

struct StoreParameters {
  std::string libpq_url;  // without our parameters
  std::string owner_url;  // also without user and password
  std::string tenant = "default";
  bool list_from_standby = false;
  bool sets_tenant = false;
};

constexpr std::string_view kOfRole[] = {"user=", "password=", "passfile=", "sslpassword="};

// The URL up to its parameters with another user.
std::string as_owner(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) {
    return std::string(url);
  }
  const std::string_view authority = url.substr(scheme + 3);
  const std::size_t at = authority.substr(0, authority.find('/')).rfind('@');
  return cat(url.substr(0, scheme + 3), "OWNER@",
             authority.substr(at == std::string_view::npos ? 0 : at + 1));
}

Result<StoreParameters> parse_store_parameters(std::string_view url) {
  StoreParameters parsed;
  const std::size_t question = url.find('?');
  parsed.libpq_url = url.substr(0, question);
  parsed.owner_url = as_owner(parsed.libpq_url);
  std::string_view query = question == std::string_view::npos ? "" : url.substr(question + 1);
  char separator = '?';
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view parameter = query.substr(0, end);
    query = end == std::string_view::npos ? "" : query.substr(end + 1);
    if (parameter.starts_with(kTenant)) {
      parsed.tenant = percent_decoded(parameter.substr(kTenant.size()));
    } else if (parameter.starts_with(kListFrom)) {
      const std::string_view from = parameter.substr(kListFrom.size());
      if (from != "standby" && from != "primary") {
        return fail(Code::invalid_argument,
                    "list_from in the store's URL must be standby or primary");
      }
      parsed.list_from_standby = from == "standby";
    } else if (parameter.starts_with(kSetsTenant)) {
      const std::string_view sets = parameter.substr(kSetsTenant.size());
      if (sets != "yes" && sets != "no") {
        return fail(Code::invalid_argument, "set_tenant in the store's URL must be yes or no");
      }
      parsed.sets_tenant = sets == "yes";
    } else {
      const bool is_of_role = std::ranges::any_of(
          kOfRole, [&](std::string_view name) { return parameter.starts_with(name); });
      if (!is_of_role) {
        parsed.owner_url +=
            cat(parsed.owner_url.find('?') == std::string::npos ? '?' : '&', parameter);
      }
      parsed.libpq_url += cat(separator, parameter);
      separator = '&';
    }
  }
  REPRISE_TRY(check_tenant(parsed.tenant));
  return parsed;
}

std::string find(const Parameters& parameters, std::string_view keyword) {
  for (const auto& [name, value] : parameters) {
    if (name == keyword) {
      return value;
    }
  }
  return "";
}

void set(Parameters& parameters, std::string_view keyword, std::string value) {
  for (auto& [name, old] : parameters) {
    if (name == keyword) {
      old = std::move(value);
      return;
    }
  }
  parameters.emplace_back(keyword, std::move(value));
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) {
      return parts;
    }
    list.remove_prefix(comma + 1);
  }
}

Result<Parameters> parse_conninfo(const std::string& url) {
  REPRISE_ASSIGN(const LibpqLibrary* const libpq, libpq_library());
  char* message = nullptr;
  PQconninfoOption* const options = libpq->conninfo_parse(url.c_str(), &message);
  if (options == nullptr) {
    // libpq's message may quote a part of the URL, including a password.
    libpq->freemem(message);
    return fail(Code::invalid_argument,
                "not a URL that libpq understands: write"
                " postgres://USER@HOST/DATABASE?tenant=NAME, other characters as %XX");
  }
  Parameters parameters;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val != nullptr) {
      parameters.emplace_back(option->keyword, option->val);
    }
  }
  libpq->conninfo_free(options);
  return parameters;
}

// Follows libpq's rules: hostaddr takes precedence over host; if neither is given, its environment
// variables are used.
bool is_on_this_machine(const Parameters& server) {
  if (!find(server, "service").empty() || !variable("PGSERVICE").empty()) {
    return false;  // the service file may name any host
  }
  std::string host;
  for (const std::string& next : {find(server, "hostaddr"), variable("PGHOSTADDR"),
                                  find(server, "host"), variable("PGHOST")}) {
    if (host.empty()) {
      host = next;
    }
  }
  return host.empty() || host.starts_with('/') || host.starts_with('@') || host == "::1" ||
         http::is_local_url(cat("http://", host));
}

// Tries hosts one after the other, each with its share of the time, because libpq would wait for an
// unresponsive host without limit. So target_session_attrs is also handled here.
std::vector<Parameters> servers_of(const Parameters& parameters) {
  const std::vector<std::string> hosts = split(find(parameters, "host"));
  const std::vector<std::string> ports = split(find(parameters, "port"));
  if (hosts.size() < 2 || !find(parameters, "hostaddr").empty() ||
      (ports.size() != 1 && ports.size() != hosts.size())) {
    return {parameters};
  }
  std::vector<Parameters> servers;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    Parameters& server = servers.emplace_back(parameters);
    set(server, "host", hosts[i]);
    set(server, "port", ports.size() == 1 ? ports[0] : ports[i]);
  }
  return servers;
}

}  // namespace

Result<> check_tenant(std::string_view name) {
  if (!SessionId::parse(name)) {
    return fail(Code::invalid_argument,
                "the tenant's name is not valid: use 1 to 200 of A-Z a-z 0-9 . _ : @ + -,"
                " a letter or digit first");
  }
  return {};
}

std::string servers_in(std::string_view url) {
  const auto target = parse_url(url);
  if (!target) {
    return "";
  }
  std::string out = "postgres:";
  for (const Parameters& server : target->servers) {
    for (const std::string_view keyword : {"host", "hostaddr", "port", "service"}) {
      out += cat(keyword, "=", ascii_lower(find(server, keyword)), "\n");
    }
  }
  return out;
}

Result<> require_tls(Parameters& server) {
  if (is_on_this_machine(server)) {
    return {};
  }
  const std::string mode = find(server, "sslmode");
  if (mode == "disable" || find(server, "gssencmode") == "require") {
    return mode == "disable"
               ? Result<>(fail(Code::unauthorized,
                               "a password is not sent to another machine with sslmode=disable; "
                               "use TLS, or --insecure"))
               : Result<>();
  }
  if (mode == "require") {  // explicitly requested; the other modes are libpq's defaults
    return fail(Code::unauthorized,
                "a password is not sent to another machine with sslmode=require, which does not "
                "check the server's certificate; use sslmode=verify-full and sslrootcert=FILE, or "
                "--insecure");
  }
  if (!mode.starts_with("verify-")) {
    set(server, "sslmode", "verify-full");
  }
  return {};
}

void append_option(Parameters& parameters, std::string_view option) {
  const std::string current = find(parameters, "options");
  set(parameters, "options", current.empty() ? std::string(option) : cat(current, " ", option));
}

Result<ConnectionTarget> parse_url(std::string_view url) {
  REPRISE_ASSIGN(const StoreParameters parsed, parse_store_parameters(url));
  REPRISE_ASSIGN(Parameters parameters, parse_conninfo(parsed.libpq_url));
  set(parameters, "client_encoding", "UTF8");
  if (find(parameters, "fallback_application_name").empty()) {
    set(parameters, "fallback_application_name", "reprise");
  }
  ConnectionTarget target{.tenant = parsed.tenant,
                          .list_from_standby = parsed.list_from_standby,
                          .sets_tenant = parsed.sets_tenant};
  // Without these, a router may drop an idle connection, and its next use waits for an answer.
  for (const auto& [keyword, value] :
       {std::pair("keepalives_idle", "60"), std::pair("keepalives_interval", "10"),
        std::pair("keepalives_count", "3")}) {
    if (find(parameters, keyword).empty()) {
      set(parameters, keyword, value);
    }
  }
  target.names_server = !find(parameters, "target_session_attrs").empty();
  target.has_password = !find(parameters, "password").empty();
  target.owner_url = parsed.owner_url;
  target.servers = servers_of(parameters);
  for (const Parameters& server : target.servers) {
    const std::string port = find(server, "port");
    target.name += cat(target.name.empty() ? "postgres://" : ",", find(server, "host"),
                       port.empty() ? "" : cat(":", port));
  }
  const std::string service = find(parameters, "service");
  target.name +=
      cat("/", find(parameters, "dbname"), service.empty() ? "" : cat("?service=", service));
  return target;
}

}  // namespace reprise::postgres
