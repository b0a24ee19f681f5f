#include "base/http.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace reprise::http {

std::string_view find_header(const std::vector<Header>& headers, std::string_view name) {
  const std::string wanted = ascii_lower(name);
  for (const Header& header : headers) {
    if (ascii_lower(header.name) == wanted) {
      return header.value;
    }
  }
  return {};
}

std::string host_of(std::string_view url) {
  if (const auto scheme = url.find("://"); scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
  }
  url = url.substr(0, url.find_first_of("/?#"));
  if (const auto user = url.rfind('@'); user != std::string_view::npos) {
    url.remove_prefix(user + 1);
  }
  return std::string(url);
}

std::string masked_url(std::string_view url) {
  const auto scheme = url.find("://");
  const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::string_view rest = url.substr(begin);
  const auto user = rest.substr(0, rest.find_first_of("/?#")).rfind('@');
  if (user == std::string_view::npos) {
    return std::string(url);
  }
  return cat(url.substr(0, begin), "***", rest.substr(user));
}

}  // namespace reprise::http
