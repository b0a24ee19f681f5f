#include "base/http.h"

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

}  // namespace reprise::http
