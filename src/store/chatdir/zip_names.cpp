#include "store/chatdir/zip_names.h"

#include <algorithm>

#include "base/utf8.h"

namespace reprise::store::chatdir {
namespace {

// Characters that mean something in names on other systems, or to a terminal.
bool is_odd(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == ':' || c == 0x7F;
}

// A component that is a valid file name without a special meaning here.
bool is_component(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." && !name.contains('\0');
}

}  // namespace

bool is_relative_name(std::string_view name) {
  if (name.size() > 4000) {
    return false;
  }
  if (name.ends_with('/')) {
    name.remove_suffix(1);
  }
  while (true) {
    const std::size_t slash = name.find('/');
    if (!is_component(name.substr(0, slash))) {
      return false;
    }
    if (slash == std::string_view::npos) {
      return true;
    }
    name.remove_prefix(slash + 1);
  }
}

bool is_safe_name(std::string_view name) {
  return is_relative_name(name) && std::ranges::none_of(name, is_odd);
}

std::string name_of_entry(std::string_view name) {
  if (is_safe_name(name) && utf8::is_valid(name)) {
    return std::string(name);
  }
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_odd(c) || byte >= 0x80 || c == '%') {
      out.append("%").append(1, kHexDigits[byte >> 4U]).append(1, kHexDigits[byte & 0xFU]);
    } else {
      out += c;
    }
  }
  return out;
}

bool ZipNames::add(std::string_view name) {
  const bool is_folder = name.ends_with('/');
  for (std::size_t slash = name.find('/'); slash != std::string_view::npos;
       slash = name.find('/', slash + 1)) {
    const std::string folder(name.substr(0, slash));
    if (files_.contains(folder)) {
      return false;
    }
    folders_.insert(folder);
  }
  const std::string bare(is_folder ? name.substr(0, name.size() - 1) : name);
  return is_folder ? named_.insert(bare).second
                   : !folders_.contains(bare) && files_.insert(bare).second;
}

}  // namespace reprise::store::chatdir
