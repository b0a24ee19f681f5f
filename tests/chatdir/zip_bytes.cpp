#include "chatdir/zip_bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::test {
namespace {

constexpr std::uint32_t kZip64Count = 0xFFFF;  // more entries are counted in a zip64 record

void put(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  }
}

// In eight bytes.
void put_long(std::string& out, std::uint32_t value) {
  put(out, value, 4);
  put(out, 0, 4);
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
  const auto count = static_cast<std::uint32_t>(entries.size());
  if (count >= kZip64Count) {
    const auto end = static_cast<std::uint32_t>(out.size());
    put(out, 0x06064b50, 4);
    put_long(out, 44);
    put(out, 45, 2);  // made by version 4.5, which is needed, too
    put(out, 45, 2);
    put_long(out, 0);  // of one disk
    put_long(out, count);
    put_long(out, count);
    put_long(out, static_cast<std::uint32_t>(directory.size()));
    put_long(out, begin);
    put(out, 0x07064b50, 4);
    put(out, 0, 4);
    put_long(out, end);
    put(out, 1, 4);
  }
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, std::min(count, kZip64Count), 2);
  put(out, std::min(count, kZip64Count), 2);
  put(out, static_cast<std::uint32_t>(directory.size()), 4);
  put(out, begin, 4);
  put(out, 0, 2);
  return out;
}

}  // namespace reprise::test
