#include "model/fields.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "base/json_scan.h"
#include "reprise/json.h"

namespace reprise::model {

bool keep(json::Scanner& scanner, std::string_view name, Extra& extra) {
  std::string_view raw;
  if (!scanner.raw(raw)) {
    return false;
  }
  extra.push_back({std::string(name), json::take(raw)});
  return true;
}

bool read_or_keep(json::Scanner& scanner, std::string_view name, std::string& out, Extra& extra) {
  if (scanner.kind() == json::Kind::string) {
    return scanner.string(out);
  }
  return keep(scanner, name, extra);
}

bool read_or_keep(json::Scanner& scanner, std::string_view name, std::int64_t& out, Extra& extra) {
  std::string_view raw;
  if (!scanner.raw(raw)) {
    return false;
  }
  const char* last = raw.data() + raw.size();
  if (const auto [end, code] = std::from_chars(raw.data(), last, out);
      code != std::errc{} || end != last) {
    extra.push_back({std::string(name), json::take(raw)});
  }
  return true;
}

}  // namespace reprise::model
