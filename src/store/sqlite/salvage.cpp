#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "reprise/source.h"
#include "reprise/types.h"
#include "store/paths.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/copy.h"
#include "store/sqlite/known_tables.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/original.h"
#include "store/sqlite/pages.h"
#include "store/sqlite/private_folder.h"
#include "store/sqlite/repair.h"
#include "store/sqlite/schema.h"

namespace reprise::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 4096;

// Unreadable blocks become zeros.
Result<> copy_readable(const fs::path& from, const fs::path& to) {
  REPRISE_ASSIGN(const auto source, if_exists(open_file(from, O_RDONLY)));
  if (!source) {
    return {};
  }
  REPRISE_ASSIGN(const struct stat status, status_of(source->get(), from));
  REPRISE_ASSIGN(Fd copy, open_file(to, O_WRONLY | O_CREAT | O_EXCL, 0600));
  std::string block;
  for (std::int64_t at = 0; at < status.st_size; at += static_cast<std::int64_t>(block.size())) {
    block.assign(static_cast<std::size_t>(std::min<std::int64_t>(kBlockBytes, status.st_size - at)),
                 '\0');
    if (!read_at(source->get(), block, at, from)) {
      block.assign(block.size(), '\0');
    }
    REPRISE_TRY(write_all(copy.get(), block, to));
  }
  return copy.close(to);
}

void put_u32(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[at + i] = static_cast<char>((value >> (24 - (8 * i))) & 0xFFU);
  }
}

// A header without the number of pages, so that the file's size determines it.
std::string new_header(std::string bytes, const FileHeader& header, bool has_log) {
  using namespace std::string_view_literals;
  constexpr std::uint32_t kSchemaFormat = 4;
  if (const auto old = FileHeader::parse(bytes); !old || old->page_size != header.page_size) {
    bytes.assign(FileHeader::kBytes, '\0');
    bytes.replace(0, 16, "SQLite format 3\0"sv);
    bytes[16] = static_cast<char>(header.page_size >> 8U);
    bytes[17] = static_cast<char>(header.page_size >> 16U);
    bytes.replace(21, 3, "\x40\x20\x20"sv);
    put_u32(bytes, 44, kSchemaFormat);
    put_u32(bytes, 56, 1);
  }
  bytes[18] = bytes[19] = has_log ? '\2' : '\1';
  put_u32(bytes, 24, 1);
  put_u32(bytes, 92, 0);
  return bytes;
}

// Writes that header to a copy of the database.
Result<> write_header(const fs::path& copy, bool has_log) {
  REPRISE_ASSIGN(const PageFile pages, PageFile::open(copy));
  REPRISE_ASSIGN(const Fd fd, open_file(copy, O_RDWR));
  std::string bytes(FileHeader::kBytes, '\0');
  REPRISE_TRY(read_at(fd.get(), bytes, 0, copy));
  return write_all(fd.get(), new_header(std::move(bytes), pages.header(), has_log), copy);
}

Result<> copy_by_sqlite(const fs::path& from, OpenMode mode, const fs::path& to,
                        std::chrono::milliseconds timeout) {
  REPRISE_ASSIGN(Fd created, open_file(to, O_RDWR | O_CREAT | O_TRUNC, 0600));
  REPRISE_TRY(created.close(to));
  REPRISE_ASSIGN(const auto connection, Connection::open(from, mode, timeout));
  // Lets SQLite open a file shorter than its header specifies.
  REPRISE_TRY(connection->script("PRAGMA writable_schema=ON"));
  return copy_pages(*connection, to);
}

// The pages after the last commit. SQLite applies the log and locks out writers meanwhile; if it
// cannot read the pages at all, it reads a copy with a new header.
Result<PageFile> open_pages(const fs::path& file, std::chrono::milliseconds timeout) {
  REPRISE_ASSIGN(const PrivateFolder folder, PrivateFolder::make());
  const fs::path image = folder.path() / "image.db";
  REPRISE_ASSIGN(const bool has_memory, file_exists(store::beside(file, "-shm")));
  REPRISE_ASSIGN(const bool has_log, file_exists(store::beside(file, "-wal")));
  if (has_memory || !has_log) {
    const auto copied = copy_by_sqlite(file, OpenMode::read, image, timeout);
    if (copied) {
      return PageFile::open(image);
    }
    if (copied.error().code == Code::busy || copied.error().os_errno == ENOSPC) {
      return std::unexpected(copied.error());
    }
  }
  const fs::path raw = folder.path() / "raw.db";
  for (const char* const suffix : {"", "-wal", "-journal"}) {
    REPRISE_TRY(copy_readable(store::beside(file, suffix), store::beside(raw, suffix)));
  }
  REPRISE_TRY(write_header(raw, has_log));
  if (copy_by_sqlite(raw, OpenMode::read_exclusive, image, timeout)) {
    return PageFile::open(image);
  }
  return PageFile::open(raw);
}

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    out += c;
    if (c == '"') {
      out += c;
    }
  }
  return out + '"';
}

class PageSalvage {
 public:
  // `pages_before` is the number of pages according to the header; 0 if unknown.
  PageSalvage(PageFile pages, const fs::path& file, std::uint32_t pages_before,
              const ProgressSink& progress)
      : pages_(std::move(pages)),
        progress_(progress),
        pages_before_(pages_before),
        name_(file.filename().string()),
        file_(file) {}
  Result<SalvagedRows> run();

 private:
  // Owners of a page: none known, another tree, or the index of a table.
  static constexpr std::size_t kUnowned = 1000;
  static constexpr std::size_t kOtherTree = 1001;

  void find_schema();
  void add_schema_row(const StoredRow& row);
  Result<> find_columns();
  Result<> create_tables();
  void walk(std::uint32_t root, std::size_t owner);
  void find_owners();
  Result<> insert_rows();
  Result<> insert_page(const Page& page);
  bool accepts(std::size_t owner, const StoredRow& row, bool is_index) const;
  std::size_t owner_of(const StoredRow& row, bool is_index) const;
  Result<> insert(const KnownTable& table, const StoredRow& row);
  void report();

  PageFile pages_;
  const ProgressSink& progress_;
  const std::uint32_t pages_before_;
  const std::string name_;
  const fs::path file_;
  std::vector<KnownTable> tables_ = known_tables();
  struct Root {
    std::uint32_t page;
    std::size_t owner;
  };
  std::vector<Root> roots_;
  std::vector<std::size_t> owners_;  // by page number
  std::unique_ptr<Connection> rows_;
  std::int64_t sessions_and_messages_ = 0;
  std::int64_t lost_pages_ = 0;
  std::int64_t lost_rows_ = 0;
  std::int64_t truncated_rows_ = 0;
  std::vector<Damage> damage_;
};

bool is_schema_row(const StoredRow& row) {
  using Type = StoredValue::Type;
  return row.values.size() == 5 && !row.is_truncated && row.values[0].type == Type::text &&
         row.values[1].type == Type::text && row.values[2].type == Type::text &&
         row.values[3].type == Type::integer &&
         (row.values[0].bytes == "table" || row.values[0].bytes == "index" ||
          row.values[0].bytes == "trigger" || row.values[0].bytes == "view");
}

// The schema's rows are usually in the first pages, but all pages are searched.
void PageSalvage::find_schema() {
  owners_.assign(std::size_t{pages_.count()} + 1, kUnowned);
  StoredRow row;
  for (std::uint32_t number = 1; number <= pages_.count(); ++number) {
    const Page page = pages_.page(number);
    if (page.type != PageType::table_leaf || page.cell_count() == 0 ||
        !pages_.peek_row(page, 0, row) || row.values.size() != 5) {
      continue;
    }
    for (std::size_t i = 0; i < page.cell_count(); ++i) {
      if (pages_.peek_row(page, i, row) && row.values.size() == 5 &&
          pages_.read_row(page, i, row) && is_schema_row(row)) {
        owners_[number] = kOtherTree;
        add_schema_row(row);
      }
    }
  }
}

void PageSalvage::add_schema_row(const StoredRow& row) {
  std::size_t owner = kOtherTree;
  const std::string_view name = row.values[1].bytes;
  if (row.values[0].bytes == "table") {
    const auto found = std::ranges::find(tables_, name, &KnownTable::name);
    if (found != tables_.end()) {
      found->sql = row.values[4].bytes;
      owner = static_cast<std::size_t>(found - tables_.begin());
    }
  }
  const std::int64_t root = row.values[3].integer;
  if (root > 1 && root <= pages_.count()) {
    roots_.push_back({static_cast<std::uint32_t>(root), owner});
  }
}

// Uses the CREATE statements of the database; falls back to our schema if they are lost.
Result<> PageSalvage::find_columns() {
  REPRISE_ASSIGN(const auto theirs, Connection::open_temporary(file_));
  REPRISE_ASSIGN(const auto ours, Connection::open_temporary(file_));
  REPRISE_TRY(ours->script(tables_sql()));
  for (KnownTable& table : tables_) {
    const bool is_known = ascii_lower(table.sql.substr(0, 13)) == "create table " &&
                          theirs->run(table.sql).has_value();
    if (!is_known) {
      table.sql.clear();
    }
    REPRISE_TRY(read_columns(is_known ? *theirs : *ours, table));
  }
  return {};
}

Result<> PageSalvage::create_tables() {
  REPRISE_ASSIGN(rows_, Connection::open_temporary(file_));
  for (KnownTable& table : tables_) {
    const bool has_rowid = std::ranges::any_of(table.columns, &KnownColumn::is_rowid);
    std::string create;
    std::string names = has_rowid || table.is_index ? "" : "rowid";
    std::string placeholders = names.empty() ? "" : "?";
    for (const KnownColumn& column : table.columns) {
      create += cat(create.empty() ? "" : ", ", sql_name(column.name),
                    column.is_rowid ? " INTEGER PRIMARY KEY" : "");
      names += cat(names.empty() ? "" : ", ", sql_name(column.name));
      placeholders += placeholders.empty() ? "?" : ", ?";
    }
    if (table.columns.empty()) {
      continue;  // a table of the original program that does not exist
    }
    const bool is_originals = table.name == kResultBlobsTable || table.name == kSnapshotsTable;
    REPRISE_TRY(
        rows_->run(is_originals ? table.sql : cat("CREATE TABLE ", table.name, "(", create, ")")));
    table.insert =
        cat("INSERT OR IGNORE INTO ", table.name, "(", names, ") VALUES(", placeholders, ")");
  }
  const auto& sessions = tables_.front().columns;
  const bool is_ours = std::ranges::find(sessions, "head", &KnownColumn::name) != sessions.end();
  return is_ours ? set_version(*rows_) : Result<>();
}

// Marks the pages below `root`.
void PageSalvage::walk(std::uint32_t root, std::size_t owner) {
  std::vector<std::uint32_t> pending = {root};
  while (!pending.empty()) {
    const std::uint32_t number = pending.back();
    pending.pop_back();
    if (number == 0 || number > pages_.count() || owners_[number] != kUnowned) {
      continue;  // beyond the end: counted as truncated
    }
    const Page page = pages_.page(number);
    owners_[number] = owner;
    if (page.type == PageType::other) {
      ++lost_pages_;
    }
    for (const std::uint32_t child : page.children()) {
      pending.push_back(child);
    }
  }
}

void PageSalvage::find_owners() {
  for (const Root& root : roots_) {
    walk(root.page, root.owner);
  }
  for (const std::uint32_t page : pages_.free_pages()) {
    if (page <= pages_.count() && owners_[page] == kUnowned) {
      owners_[page] = kOtherTree;
    }
  }
}

// Pages of known tables come first, so that rows of older pages do not take precedence.
Result<> PageSalvage::insert_rows() {
  for (const bool is_owned : {true, false}) {
    for (std::uint32_t number = 2; number <= pages_.count(); ++number) {
      const std::size_t owner = owners_[number];
      if (owner == kOtherTree || (owner != kUnowned) != is_owned) {
        continue;
      }
      if (progress_) {
        progress_({"reading pages", number, pages_.count()});
      }
      REPRISE_TRY(insert_page(pages_.page(number)));
    }
  }
  return {};
}

Result<> PageSalvage::insert_page(const Page& page) {
  if (page.type == PageType::other || page.type == PageType::table_interior) {
    const bool is_wiped = page.bytes.find_first_not_of('\0') == std::string::npos;
    lost_pages_ += is_wiped && owners_[page.number] == kUnowned ? 1 : 0;
    return {};
  }
  const bool is_index = page.type != PageType::table_leaf;
  const std::size_t known = owners_[page.number];
  StoredRow row;
  for (std::size_t i = 0; i < page.cell_count(); ++i) {
    // No table of ours has rows like the entries of an index, so these are ignored.
    const bool is_row = pages_.peek_row(page, i, row);
    const std::size_t owner =
        is_row && !accepts(known, row, is_index) ? owner_of(row, is_index) : known;
    if (owner == kUnowned) {
      continue;
    }
    if (!is_row || !accepts(owner, row, is_index) || !pages_.read_row(page, i, row)) {
      ++lost_rows_;
      continue;
    }
    REPRISE_TRY(insert(tables_[owner], row));
  }
  return {};
}

bool PageSalvage::accepts(std::size_t owner, const StoredRow& row, bool is_index) const {
  return owner < tables_.size() && tables_[owner].is_index == is_index &&
         row.values.size() <= tables_[owner].columns.size() && !tables_[owner].insert.empty();
}

std::size_t PageSalvage::owner_of(const StoredRow& row, bool is_index) const {
  std::size_t best = kUnowned;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (fits(tables_[i], row, is_index) &&
        (best == kUnowned || tables_[i].columns.size() < tables_[best].columns.size())) {
      best = i;
    }
  }
  return best;
}

Result<> PageSalvage::insert(const KnownTable& table, const StoredRow& row) {
  REPRISE_ASSIGN(Statement into, rows_->prepare(table.insert));
  if (!table.is_index && std::ranges::none_of(table.columns, &KnownColumn::is_rowid)) {
    into.bind(row.rowid);
  }
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const StoredValue value = i < row.values.size() ? row.values[i] : StoredValue();
    switch (table.columns[i].is_rowid ? StoredValue::Type::integer : value.type) {
      case StoredValue::Type::null:
        into.bind(std::nullopt);
        break;
      case StoredValue::Type::integer:
        into.bind(table.columns[i].is_rowid ? row.rowid : value.integer);
        break;
      case StoredValue::Type::real:
        into.bind_real(value.real);
        break;
      case StoredValue::Type::text:
        into.bind_encoded(value.bytes, pages_.header().encoding);
        break;
      case StoredValue::Type::blob:
        into.bind(Blob{value.bytes});
        break;
    }
  }
  REPRISE_TRY(into.run());
  truncated_rows_ += row.is_truncated ? 1 : 0;
  const std::size_t at = static_cast<std::size_t>(&table - tables_.data());
  sessions_and_messages_ += at < 2 ? rows_->changes() : 0;
  return {};
}

void PageSalvage::report() {
  const auto add = [this](std::string reason) {
    damage_.push_back({name_, std::move(reason), ""});
  };
  const std::int64_t count = pages_.count();
  const std::int64_t total = std::max<std::int64_t>(count, pages_before_);
  if (total > count) {
    add(cat("the file is truncated: ", total - count, " of ", counted(total, "page"),
            total - count == 1 ? " is" : " are", " missing"));
  }
  if (lost_pages_ != 0) {
    add(cat(lost_pages_, " of ", counted(total, "page"), " cannot be read"));
  }
  if (lost_rows_ != 0) {
    add(cat(counted(lost_rows_, "row"), " cannot be read"));
  }
  if (truncated_rows_ != 0) {
    add(cat(counted(truncated_rows_, "row"), truncated_rows_ == 1 ? " is" : " are", " truncated"));
  }
  if (damage_.empty()) {
    add("the database is damaged");
  }
}

Result<SalvagedRows> PageSalvage::run() {
  find_schema();
  REPRISE_TRY(find_columns());
  REPRISE_TRY(create_tables());
  find_owners();
  REPRISE_ASSIGN(Transaction transaction, Transaction::begin(*rows_));
  REPRISE_TRY(insert_rows());
  REPRISE_TRY(transaction.commit());
  if (sessions_and_messages_ == 0) {
    return fail(Code::corrupt, cat(file_.string(),
                                   ": nothing can be recovered: no session and no message is left "
                                   "in it; restore a backup"));
  }
  report();
  return SalvagedRows{std::move(rows_), std::move(damage_)};
}

}  // namespace

Result<SalvagedRows> salvage_rows(const fs::path& file, std::chrono::milliseconds busy_timeout,
                                  const ProgressSink& progress) {
  // SQLite changes the number of pages in the header of a copy.
  const auto header_file = PageFile::open(file);
  const std::uint32_t pages_before = header_file ? header_file->header().page_count : 0;
  auto opened = open_pages(file, busy_timeout);
  if (!opened && opened.error().code == Code::corrupt) {  // the error names a copy
    return fail(
        Code::corrupt,
        cat(file.string(), ": not an SQLite database: restore a backup, or choose another file"));
  }
  REPRISE_ASSIGN(PageFile pages, std::move(opened));
  return PageSalvage(std::move(pages), file, pages_before, progress).run();
}

std::string state_of_files(const fs::path& file) {
  std::string state;
  for (const char* const suffix : {"", "-wal"}) {
    struct stat status{};
    if (::stat(store::beside(file, suffix).c_str(), &status) == 0) {
      state += cat(status.st_ino, " ", status.st_size, " ", status.st_mtim.tv_sec, ".",
                   status.st_mtim.tv_nsec, ";");
    }
  }
  return state;
}

}  // namespace reprise::sqlite
