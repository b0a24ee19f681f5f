#pragma once

// Reads the pages of a SQLite file without SQLite (https://sqlite.org/fileformat2.html), for
// databases that SQLite refuses.
//
//  (1) Whatever the bytes are, nothing outside of a page is read, and no page is read twice for the
//      same purpose: the work is linear in the size of the file.
//  (2) An overflow page belongs to the first row that refers to it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace reprise::sqlite {

enum class PageType : std::uint8_t {
  other = 0,  // an overflow page, a free page, or damaged
  index_interior = 2,
  table_interior = 5,
  index_leaf = 10,
  table_leaf = 13,
};

struct StoredValue {
  enum class Type : std::uint8_t { null, integer, real, text, blob };
  Type type = Type::null;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view bytes = {};  // of text and blobs; valid during the lifetime of the row
};

struct StoredRow {
  StoredRow() = default;
  ~StoredRow() = default;
  StoredRow(const StoredRow&) = delete;  // the values refer to this payload
  StoredRow& operator=(const StoredRow&) = delete;
  StoredRow(StoredRow&&) = delete;
  StoredRow& operator=(StoredRow&&) = delete;
  std::int64_t rowid = 0;  // 0 in an index
  std::string payload;
  std::vector<StoredValue> values;
  bool is_truncated = false;  // missing bytes make text shorter, or values NULL
};

class Page {
 public:
  PageType type = PageType::other;
  std::uint32_t number = 0;
  std::string bytes;

  std::size_t cell_count() const;
  // The child pages of an interior page.
  std::vector<std::uint32_t> children() const;

 private:
  friend class PageFile;
  std::size_t header() const { return number == 1 ? 100 : 0; }
  std::optional<std::size_t> cell_at(std::size_t index) const;
};

// The first 100 bytes of a database.
struct FileHeader {
  static constexpr std::size_t kBytes = 100;
  std::uint32_t page_size = 0;
  std::uint32_t reserved = 0;    // bytes at the end of each page
  std::uint32_t page_count = 0;  // 0 if unknown
  std::uint32_t first_free = 0;  // first page of the freelist
  std::uint32_t encoding = 1;    // SQLITE_UTF8, SQLITE_UTF16LE, SQLITE_UTF16BE
  // nullopt if it is not a database header.
  static std::optional<FileHeader> parse(std::string_view bytes);
};

class PageFile {
 public:
  // Replaces an invalid header by properties guessed from the pages. corrupt if nothing in the file
  // looks like a page.
  static Result<PageFile> open(const std::filesystem::path& file);

  // The number of pages according to the file's size; the last one may be incomplete.
  std::uint32_t count() const { return count_; }
  const FileHeader& header() const { return header_; }
  // Unreadable bytes are zero.
  Page page(std::uint32_t number) const;
  // The pages in the freelist.
  std::vector<std::uint32_t> free_pages() const;
  // False if the cell cannot be a row.
  bool read_row(const Page& page, std::size_t index, StoredRow& row);
  // The same without the overflow pages.
  bool peek_row(const Page& page, std::size_t index, StoredRow& row) const;

 private:
  PageFile(Fd fd, std::filesystem::path file) : fd_(std::move(fd)), file_(std::move(file)) {}
  Result<> find_header(std::uint64_t size);
  std::uint64_t plausible_bytes(std::uint64_t size, std::uint32_t page_size) const;
  std::uint32_t guess_page_size(std::uint64_t size) const;
  std::string bytes_at(std::uint64_t offset, std::size_t count) const;
  std::size_t usable() const { return header_.page_size - header_.reserved; }
  std::size_t local_bytes(std::uint64_t payload, bool is_table) const;
  // The first overflow page (0 for none), and the size of the whole payload.
  struct Overflow {
    std::uint32_t first = 0;
    std::size_t total = 0;
  };
  std::optional<Overflow> read_local(const Page& page, std::size_t index, StoredRow& row) const;
  void append_overflow(std::uint32_t first, std::size_t total, StoredRow& row);

  Fd fd_;
  std::filesystem::path file_;
  FileHeader header_;
  std::uint32_t count_ = 0;
  std::vector<bool> claimed_;  // overflow pages already assigned to a row
};

}  // namespace reprise::sqlite
