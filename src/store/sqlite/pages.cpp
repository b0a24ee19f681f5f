#include "store/sqlite/pages.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise::sqlite {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "SQLite format 3\0"sv;
constexpr std::uint32_t kPageSizeMin = 512;
constexpr std::uint32_t kPageSizeMax = 65536;
constexpr std::uint64_t kGuessedFrom = 2 << 20;  // bytes
constexpr std::size_t kColumnsMax = 2000;        // the limit of SQLite
constexpr std::size_t kPageLinkBytes = 4;
constexpr std::size_t kLeafHeader = 8;
constexpr std::size_t kInteriorHeader = 12;

std::uint64_t big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = at; i < at + count && i < bytes.size(); ++i) {
    value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

std::uint32_t u32(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(big_endian(bytes, at, 4));
}

std::size_t u16(std::string_view bytes, std::size_t at) {
  return static_cast<std::size_t>(big_endian(bytes, at, 2));
}

// A SQLite varint of 1 to 9 bytes; advances `at`.
std::optional<std::uint64_t> varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    if (at >= bytes.size()) {
      return std::nullopt;
    }
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    if (i == 8) {
      return (value << 8U) | byte;
    }
    value = (value << 7U) | (byte & 0x7FU);
    if (byte < 0x80) {
      return value;
    }
  }
  return value;
}

bool is_leaf(PageType type) {
  return type == PageType::table_leaf || type == PageType::index_leaf;
}
bool is_table(PageType type) {
  return type == PageType::table_leaf || type == PageType::table_interior;
}

PageType type_of(char byte) {
  switch (byte) {
    case 2:
    case 5:
    case 10:
    case 13:
      return static_cast<PageType>(byte);
    default:
      return PageType::other;
  }
}

bool is_page_size(std::uint32_t size) {
  return size >= kPageSizeMin && size <= kPageSizeMax && std::has_single_bit(size);
}

// Whether it looks like a B-tree page of this size, whose contents are at its end.
bool is_plausible(std::string_view page) {
  const PageType type = type_of(page[0]);
  const std::size_t cells = u16(page, 3);
  const std::size_t content = u16(page, 5) == 0 ? kPageSizeMax : u16(page, 5);
  const std::size_t pointers = is_leaf(type) ? kLeafHeader : kInteriorHeader;
  if (type == PageType::other || cells == 0 || pointers + (2 * cells) > content ||
      content >= page.size()) {
    return false;
  }
  std::size_t last = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    last = std::max(last, u16(page, pointers + (2 * i)));
  }
  return last >= page.size() / 2 && last < page.size();
}

std::size_t size_of_serial(std::uint64_t serial) {
  constexpr std::array<std::size_t, 12> kSizes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return serial < kSizes.size() ? kSizes.at(serial) : static_cast<std::size_t>((serial - 12) / 2);
}

std::int64_t signed_of(std::string_view bytes) {
  const std::uint64_t value = big_endian(bytes, 0, bytes.size());
  const std::size_t unused = 64 - (8 * bytes.size());
  return static_cast<std::int64_t>(value << unused) >> unused;
}

StoredValue value_of(std::uint64_t serial, std::string_view bytes, bool is_complete) {
  using Type = StoredValue::Type;
  if (serial >= 12) {
    return {.type = serial % 2 == 0 ? Type::blob : Type::text, .bytes = bytes};
  }
  if (serial == 8 || serial == 9) {
    return {.type = Type::integer, .integer = static_cast<std::int64_t>(serial - 8)};
  }
  if (!is_complete || serial == 0 || bytes.empty()) {
    return {};
  }
  if (serial == 7) {
    return {.type = Type::real, .real = std::bit_cast<double>(big_endian(bytes, 0, 8))};
  }
  return {.type = Type::integer, .integer = signed_of(bytes)};
}

// False if it is not a record.
bool read_record(StoredRow& row) {
  const std::string_view payload = row.payload;
  std::size_t at = 0;
  const auto header = varint(payload, at);
  if (!header || *header < at || *header > payload.size()) {
    return false;
  }
  std::size_t body = static_cast<std::size_t>(*header);
  while (at < *header) {
    const auto serial = varint(payload.substr(0, static_cast<std::size_t>(*header)), at);
    if (!serial || *serial == 10 || *serial == 11 || row.values.size() == kColumnsMax) {
      return false;
    }
    const std::size_t size = size_of_serial(*serial);
    const std::string_view bytes =
        body < payload.size() ? payload.substr(body, size) : std::string_view();
    row.is_truncated = row.is_truncated || bytes.size() < size;
    row.values.push_back(value_of(*serial, bytes, bytes.size() == size));
    body = size > payload.size() || body > payload.size() ? payload.size() + 1 : body + size;
  }
  return !row.values.empty();
}

}  // namespace

std::size_t Page::cell_count() const {
  const std::size_t pointers = header() + (is_leaf(type) ? kLeafHeader : kInteriorHeader);
  const std::size_t pointers_max = bytes.size() > pointers ? (bytes.size() - pointers) / 2 : 0;
  return type == PageType::other ? 0 : std::min(u16(bytes, header() + 3), pointers_max);
}

std::optional<std::size_t> Page::cell_at(std::size_t index) const {
  const std::size_t pointers = header() + (is_leaf(type) ? kLeafHeader : kInteriorHeader);
  const std::size_t at = u16(bytes, pointers + (2 * index));
  const std::size_t behind = pointers + (2 * cell_count());
  return at >= behind && at + kPageLinkBytes <= bytes.size() ? std::optional(at) : std::nullopt;
}

std::vector<std::uint32_t> Page::children() const {
  std::vector<std::uint32_t> found;
  if (type == PageType::other || is_leaf(type)) {
    return found;
  }
  for (std::size_t i = 0; i < cell_count(); ++i) {
    if (const auto at = cell_at(i); at) {
      found.push_back(u32(bytes, *at));
    }
  }
  found.push_back(u32(bytes, header() + kLeafHeader));
  return found;
}

std::optional<FileHeader> FileHeader::parse(std::string_view bytes) {
  if (bytes.size() < kBytes || !bytes.starts_with(kMagic)) {
    return std::nullopt;
  }
  FileHeader header;
  const auto size = static_cast<std::uint32_t>(u16(bytes, 16));
  header.page_size = size == 1 ? kPageSizeMax : size;
  header.reserved = static_cast<unsigned char>(bytes[20]);
  header.page_count = u32(bytes, 24) == u32(bytes, 92) ? u32(bytes, 28) : 0;
  header.first_free = u32(bytes, 32);
  header.encoding = u32(bytes, 56);
  const bool is_good = is_page_size(header.page_size) &&
                       header.page_size >= header.reserved + kPageSizeMin - 32 &&
                       bytes.substr(21, 3) == "\x40\x20\x20" && header.encoding <= 3;
  header.encoding = std::max<std::uint32_t>(1, header.encoding);
  return is_good ? std::optional(header) : std::nullopt;
}

Result<PageFile> PageFile::open(const std::filesystem::path& file) {
  REPRISE_ASSIGN(Fd fd, open_file(file, O_RDONLY));
  REPRISE_ASSIGN(const struct stat status, status_of(fd.get(), file));
  PageFile pages(std::move(fd), file);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  REPRISE_TRY(pages.find_header(size));
  const std::uint64_t count = (size + pages.header_.page_size - 1) / pages.header_.page_size;
  pages.count_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 0xFFFF'FFFEU));
  pages.claimed_.resize(std::size_t{pages.count_} + 1);
  return pages;
}

Result<> PageFile::find_header(std::uint64_t size) {
  const auto header = FileHeader::parse(bytes_at(0, FileHeader::kBytes));
  const std::uint32_t guess = guess_page_size(size);
  if (header && (guess == 0 || guess == header->page_size ||
                 plausible_bytes(size, header->page_size) * 2 > plausible_bytes(size, guess))) {
    header_ = *header;
    return {};
  }
  header_.page_size = guess;
  return header_.page_size != 0
             ? Result<>()
             : fail(Code::corrupt, cat(file_.string(), ": it contains no page of a database"));
}

// The number of bytes at the beginning of the file that look like pages of that size, without the
// first page.
std::uint64_t PageFile::plausible_bytes(std::uint64_t size, std::uint32_t page_size) const {
  std::uint64_t bytes = 0;
  const std::uint64_t to = std::min(size, kGuessedFrom);
  for (std::uint64_t at = page_size; at < to; at += page_size) {
    bytes += is_plausible(bytes_at(at, page_size)) ? page_size : 0;
  }
  return bytes;
}

// 0 if no size fits.
std::uint32_t PageFile::guess_page_size(std::uint64_t size) const {
  std::uint32_t best = 0;
  std::uint64_t best_bytes = 0;
  for (std::uint32_t page_size = kPageSizeMax; page_size >= kPageSizeMin; page_size /= 2) {
    if (const auto bytes = plausible_bytes(size, page_size); bytes > best_bytes) {
      best = page_size;
      best_bytes = bytes;
    }
  }
  return best;
}

std::string PageFile::bytes_at(std::uint64_t offset, std::size_t count) const {
  std::string bytes(count, '\0');
  const auto read = read_at(fd_.get(), bytes, static_cast<std::int64_t>(offset), file_);
  if (!read) {
    bytes.assign(count, '\0');  // for example, a bad sector
  }
  return bytes;
}

Page PageFile::page(std::uint32_t number) const {
  Page page;
  page.number = number;
  if (number == 0 || number > count_) {
    return page;
  }
  page.bytes = bytes_at(std::uint64_t{number - 1} * header_.page_size, header_.page_size);
  page.bytes.resize(usable());
  page.type = type_of(page.bytes[page.header()]);
  return page;
}

std::vector<std::uint32_t> PageFile::free_pages() const {
  std::vector<std::uint32_t> found;
  std::vector<bool> seen(std::size_t{count_} + 1);
  for (std::uint32_t trunk = header_.first_free; trunk != 0 && trunk <= count_ && !seen[trunk];) {
    seen[trunk] = true;
    found.push_back(trunk);
    const Page page = this->page(trunk);
    const std::size_t leaves = std::min<std::size_t>(u32(page.bytes, 4), (usable() / 4) - 2);
    for (std::size_t i = 0; i < leaves; ++i) {
      found.push_back(u32(page.bytes, 8 + (4 * i)));
    }
    trunk = u32(page.bytes, 0);
  }
  return found;
}

// The number of payload bytes stored in the cell itself.
std::size_t PageFile::local_bytes(std::uint64_t payload, bool is_table) const {
  const std::size_t usable_bytes = usable();
  const std::size_t most = is_table ? usable_bytes - 35 : ((usable_bytes - 12) * 64 / 255) - 23;
  if (payload <= most) {
    return static_cast<std::size_t>(payload);
  }
  const std::size_t least = ((usable_bytes - 12) * 32 / 255) - 23;
  const auto part =
      least + static_cast<std::size_t>((payload - least) % (usable_bytes - kPageLinkBytes));
  return part <= most ? part : least;
}

void PageFile::append_overflow(std::uint32_t first, std::size_t total, StoredRow& row) {
  for (std::uint32_t next = first; row.payload.size() < total;) {
    if (next == 0 || next > count_ || claimed_[next]) {
      row.is_truncated = true;
      return;
    }
    claimed_[next] = true;
    const Page page = this->page(next);
    const std::string_view content = std::string_view(page.bytes).substr(kPageLinkBytes);
    row.payload += content.substr(0, total - row.payload.size());
    next = u32(page.bytes, 0);
  }
}

std::optional<PageFile::Overflow> PageFile::read_local(const Page& page, std::size_t index,
                                                       StoredRow& row) const {
  row.rowid = 0;
  row.is_truncated = false;
  row.values.clear();
  row.payload.clear();
  auto at = page.cell_at(index);
  if (!at || page.type == PageType::table_interior) {
    return std::nullopt;
  }
  *at += page.type == PageType::index_interior ? kPageLinkBytes : 0;
  const auto size = varint(page.bytes, *at);
  if (is_table(page.type)) {
    row.rowid = static_cast<std::int64_t>(varint(page.bytes, *at).value_or(0));
  }
  if (!size || *size == 0 || *size > std::uint64_t{count_} * header_.page_size) {
    return std::nullopt;
  }
  const std::size_t local = local_bytes(*size, is_table(page.type));
  const bool overflows = local < *size;
  if (*at + local + (overflows ? kPageLinkBytes : 0) > page.bytes.size()) {
    return std::nullopt;
  }
  row.payload = page.bytes.substr(*at, local);
  return overflows ? Overflow{u32(page.bytes, *at + local), static_cast<std::size_t>(*size)}
                   : Overflow{};
}

bool PageFile::read_row(const Page& page, std::size_t index, StoredRow& row) {
  const auto overflow = read_local(page, index, row);
  if (overflow) {
    append_overflow(overflow->first, overflow->total, row);
  }
  return overflow && read_record(row);
}

bool PageFile::peek_row(const Page& page, std::size_t index, StoredRow& row) const {
  return read_local(page, index, row) && read_record(row);
}

}  // namespace reprise::sqlite
