#include "chatdir/zip_bytes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::test {
namespace {

void put(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  }
}

std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
  }
  return ~crc;
}

// The common part of the local header and the central directory.
std::string common(const ZipEntryBytes& entry) {
  const auto size =
      entry.claimed_size != 0 ? entry.claimed_size : static_cast<std::uint32_t>(entry.data.size());
  std::string out;
  put(out, 20, 2);  // version needed
  put(out, entry.flags, 2);
  put(out, 0, 2);           // stored
  put(out, 0x5C210000, 4);  // a day in 2026
  put(out, crc_of(entry.data), 4);
  put(out, size, 4);
  put(out, size, 4);
  put(out, static_cast<std::uint32_t>(entry.name.size()), 2);
  put(out, 0, 2);  // no extra field
  return out;
}

}  // namespace

std::string zip_of(const std::vector<ZipEntryBytes>& entries) {
  std::string out;
  std::string directory;
  for (const ZipEntryBytes& entry : entries) {
    put(directory, 0x02014b50, 4);
    put(directory, 0x0314, 2);  // created on Unix
    directory += common(entry);
    put(directory, 0, 2);  // no comment
    put(directory, 0, 4);
    put(directory, entry.mode << 16U, 4);
    put(directory, static_cast<std::uint32_t>(out.size()), 4);
    directory += entry.name;
    put(out, 0x04034b50, 4);
    out += common(entry) + entry.name + entry.data;
  }
  const auto begin = static_cast<std::uint32_t>(out.size());
  out += directory;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, static_cast<std::uint32_t>(entries.size()), 2);
  put(out, static_cast<std::uint32_t>(entries.size()), 2);
  put(out, static_cast<std::uint32_t>(directory.size()), 4);
  put(out, begin, 4);
  put(out, 0, 2);
  return out;
}

}  // namespace reprise::test
