#include "base/http.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/encode.h"
#include "base/text.h"

namespace reprise::http {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHostCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

struct Parts {
  std::string_view scheme;  // with its "://"
  std::string_view authority;
  std::string_view path;
  std::string_view query;     // with its "?"
  std::string_view fragment;  // with its "#"
};

// Removes and returns the part of the text before the first of `ends`.
std::string_view take_until(std::string_view& text, std::string_view ends) {
  const std::string_view taken = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(taken.size());
  return taken;
}

Parts split(std::string_view url) {
  Parts parts;
  if (const auto scheme = url.find("://"); scheme != std::string_view::npos) {
    parts.scheme = url.substr(0, scheme + 3);
    url.remove_prefix(scheme + 3);
  }
  parts.authority = take_until(url, "/?#");
  parts.path = take_until(url, "?#");
  parts.query = take_until(url, "#");
  parts.fragment = url;
  return parts;
}

bool consists_of(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

// "Ocp-Apim-Subscription-Key", "api_key", "X-Amz-Signature".
bool is_secret_name(std::string_view name) {
  std::string plain = ascii_lower(name);
  std::erase_if(plain, [](char c) { return c == '-' || c == '_' || c == '.'; });
  constexpr std::string_view kEnds[] = {
      "key", "token",      "sig",         "signature", "secret",        "password", "passwd",
      "pwd", "credential", "credentials", "auth",      "authorization", "code"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return plain.ends_with(end); });
}

// Calls sink(before, secret) for each parameter of a query: the text with its "?" or "&", and the
// value that follows if it is secret.
template <class Sink>
void each_parameter(std::string_view query, const Sink& sink) {
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find_first_of("&;", 1));
    query.remove_prefix(parameter.size());
    const auto equals = parameter.find('=');
    const bool is_secret =
        equals != std::string_view::npos && is_secret_name(parameter.substr(1, equals - 1));
    const std::size_t before = is_secret ? equals + 1 : parameter.size();
    sink(parameter.substr(0, before), parameter.substr(before));
  }
}

// 127.0.0.0 to 127.255.255.255, with all four numbers.
bool is_loopback_number(std::string_view host) {
  int numbers = 0;
  while (!host.empty()) {
    const std::string_view number = host.substr(0, host.find('.'));
    host.remove_prefix(std::min(number.size() + 1, host.size()));
    const auto value = parse_number<unsigned>(number);
    if (!value || *value > 255 || number.size() > 3 || (numbers == 0 && *value != 127)) {
      return false;
    }
    ++numbers;
  }
  return numbers == 4;
}

}  // namespace

std::string_view find_header(const std::vector<Header>& headers, std::string_view name) {
  const std::string lower = ascii_lower(name);
  for (const Header& header : headers) {
    if (ascii_lower(header.name) == lower) {
      return header.value;
    }
  }
  return {};
}

std::string host_of(std::string_view url) {
  std::string_view authority = split(url).authority;
  if (const auto user = authority.rfind('@'); user != std::string_view::npos) {
    authority.remove_prefix(user + 1);
  }
  return std::string(authority);
}

std::string masked_url(std::string_view url) {
  const Parts parts = split(url);
  std::string out(parts.scheme);
  const auto user = parts.authority.rfind('@');
  if (user == std::string_view::npos) {
    out += parts.authority;
  } else {
    out += cat("***", parts.authority.substr(user));
  }
  out += parts.path;
  each_parameter(parts.query, [&](std::string_view before, std::string_view secret) {
    out += cat(before, secret.empty() ? "" : "***");
  });
  return cat(out, parts.fragment);
}

std::vector<std::string> secrets_in_url(std::string_view url) {
  const Parts parts = split(url);
  std::vector<std::string> out;
  const auto add = [&](std::string_view secret) {
    out.emplace_back(secret);
    if (std::string decoded = percent_decoded(secret); decoded != secret) {
      out.push_back(std::move(decoded));
    }
  };
  if (const auto end = parts.authority.rfind('@'); end != std::string_view::npos) {
    const std::string_view user = parts.authority.substr(0, end);
    const auto colon = user.find(':');
    add(user.substr(0, colon));
    if (colon != std::string_view::npos) {
      add(user.substr(colon + 1));
    }
    out.push_back(base64_encode(percent_decoded(user)));
  }
  each_parameter(parts.query,
                 [&](std::string_view /*before*/, std::string_view secret) { add(secret); });
  std::erase(out, "");
  return out;
}

std::string server_of(std::string_view url) {
  const Parts parts = split(url);
  const std::string scheme = ascii_lower(parts.scheme);
  if (scheme != "http://" && scheme != "https://") {
    return {};
  }
  std::string_view authority = parts.authority;
  if (const auto user = authority.find('@'); user != std::string_view::npos) {
    if (authority.substr(0, user).contains('\\')) {
      return {};  // some parsers end the host there
    }
    authority.remove_prefix(user + 1);
  }
  const std::string_view host = authority.starts_with('[')
                                    ? authority.substr(0, authority.find(']') + 1)
                                    : authority.substr(0, authority.find(':'));
  const std::string_view port = authority.substr(host.size());
  const std::string_view plain =
      host.starts_with('[') && host.size() > 2 ? host.substr(1, host.size() - 2) : host;
  const std::string_view colon = plain.size() < host.size() ? ":" : "";
  if (plain.empty() || !consists_of(plain, cat(kHostCharacters, colon)) ||
      (!port.empty() && (port.front() != ':' || !consists_of(port.substr(1), kDigits)))) {
    return {};
  }
  const std::string_view default_port = scheme == "http://" ? ":80" : ":443";
  return cat(scheme, ascii_lower(host), port.size() > 1 ? port : default_port);
}

bool is_same_server(std::string_view a, std::string_view b) {
  const std::string server = server_of(a);
  return !server.empty() && server == server_of(b);
}

bool is_local_url(std::string_view url) {
  const std::string server = server_of(url);
  if (server.empty() || split(url).authority.contains('@')) {
    return false;
  }
  const std::string_view address = std::string_view(server).substr(server.find("://") + 3);
  const std::string_view host = address.substr(0, address.rfind(':'));
  return host == "localhost" || host == "[::1]" || is_loopback_number(host);
}

std::string with_path(std::string_view base_url, std::string_view path) {
  const Parts parts = split(base_url);
  std::string_view before = parts.path;
  while (before.ends_with('/')) {
    before.remove_suffix(1);
  }
  return cat(parts.scheme, parts.authority, before, path, parts.query);
}

std::string duration_words(std::chrono::milliseconds duration) {
  constexpr std::int64_t kSecond = 1000;
  constexpr std::int64_t kMinute = 60 * kSecond;
  const std::int64_t count = duration.count();
  if (count >= 2 * kMinute || count == kMinute) {
    return cat((count + kMinute / 2) / kMinute, " min");
  }
  return count >= kSecond ? cat((count + kSecond / 2) / kSecond, " s") : cat(count, " ms");
}

}  // namespace reprise::http
