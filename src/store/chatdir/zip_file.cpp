#include "store/chatdir/zip_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <zip.h>
#include <zipconf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <span>

#include "base/dynamic_library.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/text.h"
#include "store/chatdir/zip_io.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

struct Zip : LibraryFunctions {
  LazyFunction<decltype(&::zip_open_from_source)> open_source{*this, "zip_open_from_source"};
  LazyFunction<decltype(&::zip_fdopen)> open_fd{*this, "zip_fdopen"};
  LazyFunction<decltype(&::zip_close)> close{*this, "zip_close"};
  LazyFunction<decltype(&::zip_discard)> discard{*this, "zip_discard"};
  LazyFunction<decltype(&::zip_file_add)> add{*this, "zip_file_add"};
  LazyFunction<decltype(&::zip_source_function)> source_function{*this, "zip_source_function"};
  LazyFunction<decltype(&::zip_source_function_create)> create_source{*this,
                                                                      "zip_source_function_create"};
  LazyFunction<decltype(&::zip_source_buffer)> source_buffer{*this, "zip_source_buffer"};
  LazyFunction<decltype(&::zip_source_free)> source_free{*this, "zip_source_free"};
  LazyFunction<decltype(&::zip_set_file_compression)> set_compression{*this,
                                                                      "zip_set_file_compression"};
  LazyFunction<decltype(&::zip_get_num_entries)> count{*this, "zip_get_num_entries"};
  LazyFunction<decltype(&::zip_stat_index)> stat{*this, "zip_stat_index"};
  LazyFunction<decltype(&::zip_fopen_index)> open_entry{*this, "zip_fopen_index"};
  LazyFunction<decltype(&::zip_fread)> read{*this, "zip_fread"};
  LazyFunction<decltype(&::zip_fclose)> close_entry{*this, "zip_fclose"};
  LazyFunction<decltype(&::zip_file_get_external_attributes)> attributes{
      *this, "zip_file_get_external_attributes"};
  LazyFunction<decltype(&::zip_file_set_external_attributes)> set_attributes{
      *this, "zip_file_set_external_attributes"};
  LazyFunction<decltype(&::zip_file_extra_field_get_by_id)> field{*this,
                                                                  "zip_file_extra_field_get_by_id"};
  LazyFunction<decltype(&::zip_file_extra_field_set)> set_field{*this, "zip_file_extra_field_set"};
  LazyFunction<decltype(&::zip_dir_add)> add_folder{*this, "zip_dir_add"};
  LazyFunction<decltype(&::zip_strerror)> why{*this, "zip_strerror"};
};

const Result<const Zip*>& libzip() {
  static const auto zip = load_library<Zip>("libzip", {"libzip.so.4", "libzip.so.5"});
  return zip;
}

// Extra fields: a file's modification time in seconds, which all programs read ("UT"), and ours:
// its nanoseconds, followed by the seconds where four bytes are not enough for them ("Rp"), and its
// name if the entry has another one ("Rn"). Numbers are little-endian, nanoseconds of four bytes.
constexpr zip_uint16_t kTimeField = 0x5455;
constexpr zip_uint16_t kNanosecondsField = 0x7052;
constexpr zip_uint16_t kNameField = 0x6E52;
constexpr zip_uint8_t kHasModified = 1;
constexpr std::size_t kNumberBytes = 4;
constexpr std::size_t kSecondsBytes = 8;

void append_number(std::vector<zip_uint8_t>& out, std::int64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out.push_back(
        static_cast<zip_uint8_t>((static_cast<std::uint64_t>(number) >> (8 * i)) & 0xFFU));
  }
}

std::uint64_t number_of(std::span<const zip_uint8_t> bytes) {
  std::uint64_t number = 0;
  for (const zip_uint8_t byte : bytes | std::views::reverse) {
    number = (number << 8U) | byte;
  }
  return number;
}

std::int32_t short_number_of(const zip_uint8_t* bytes) {
  return static_cast<std::int32_t>(number_of({bytes, kNumberBytes}));
}

}  // namespace

struct ZipWriter::State {
  const Zip& zip;
  zip_t* archive = nullptr;
  ZipTarget target;
  Packing packing;
  std::list<std::string> buffers = {};  // must outlive the open zip
  std::list<FileSource> files = {};     // likewise
  std::int64_t bytes = 0;
  std::set<std::string, std::less<>> names = {};  // of entries

  State(const Zip& functions, ZipTarget into, Packing packing_of_entries)
      : zip(functions), target(std::move(into)), packing(packing_of_entries) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  ~State() {
    if (archive != nullptr) {
      zip.discard(archive);
    }
  }

  Error error(std::string_view action) const {
    return {Code::io, cat("cannot ", action, " ", target.file.native(), ": ", zip.why(archive))};
  }

  // Of adding the file.
  Error error_of(std::string_view name) const {
    return {Code::io, cat("cannot add ", json::quoted(name), " to ", target.file.native(), ": ",
                          zip.why(archive))};
  }

  // An unused name for the entry of a file.
  std::string unused_name(std::string_view name) {
    std::string unused = name_of_entry(name);
    const bool is_folder = unused.ends_with('/');
    while (!names.insert(unused).second) {
      unused.insert(unused.size() - (is_folder ? 1 : 0), "~");
    }
    return unused;
  }

  Result<> begin() {
    zip_source_t* const source = zip.create_source(use_zip_target, &target, nullptr);
    if (source != nullptr) {
      archive = zip.open_source(source, ZIP_TRUNCATE, nullptr);
    }
    if (archive == nullptr) {
      zip.source_free(source);
      return fail(Code::io,
                  cat("cannot create ", target.file.native(), ": libzip cannot create it"));
    }
    return {};
  }

  bool set_field(zip_uint64_t index, zip_uint16_t id, std::span<const zip_uint8_t> value) const {
    constexpr zip_flags_t kEverywhere = ZIP_FL_LOCAL | ZIP_FL_CENTRAL;
    return zip.set_field(archive, index, id, ZIP_EXTRA_FIELD_NEW, value.data(),
                         static_cast<zip_uint16_t>(value.size()), kEverywhere) == 0;
  }

  // `name` is that of the file, `entry` that of its entry.
  Result<> describe(zip_uint64_t index, std::string_view name, std::string_view entry,
                    const struct stat& status) const {
    if (index >= static_cast<zip_uint64_t>(kEntriesMax)) {
      return fail(Code::unsupported, cat("cannot archive more than ", kEntriesMax,
                                         " files and folders: ", target.file.native()));
    }
    constexpr std::int64_t kSecondsMin = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int32_t>::max();
    const std::int64_t seconds = status.st_mtim.tv_sec;
    const std::int64_t near = std::clamp(seconds, kSecondsMin, kSecondsMax);
    std::vector<zip_uint8_t> time{kHasModified};
    append_number(time, near, kNumberBytes);
    std::vector<zip_uint8_t> exact;
    append_number(exact, status.st_mtim.tv_nsec, kNumberBytes);
    if (near != seconds) {
      append_number(exact, seconds, kSecondsBytes);
    }
    const std::vector<zip_uint8_t> file_name(name.begin(), name.end());
    const bool done =
        zip.set_attributes(archive, index, 0, ZIP_OPSYS_UNIX, status.st_mode << 16U) == 0 &&
        set_field(index, kTimeField, time) && set_field(index, kNanosecondsField, exact) &&
        (name == entry || set_field(index, kNameField, file_name));
    return done ? Result<>() : std::unexpected(error_of(name));
  }

  Result<> add(std::string_view name, zip_source_t* source, std::int64_t size,
               const struct stat& status) {
    if (source == nullptr) {
      return std::unexpected(error_of(name));
    }
    const std::string entry = unused_name(name);
    const zip_int64_t index = zip.add(archive, entry.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip.source_free(source);
      return std::unexpected(error_of(name));
    }
    if (packing == Packing::stored &&
        zip.set_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0) {
      return std::unexpected(error_of(name));
    }
    REPRISE_TRY(describe(static_cast<zip_uint64_t>(index), name, entry, status));
    bytes += size;
    if (bytes > kUnpackedBytesMax) {
      return fail(Code::unsupported, cat("cannot archive more than ", kUnpackedBytesMax,
                                         " bytes: ", target.file.native()));
    }
    return {};
  }
};

ZipWriter::ZipWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ZipWriter::ZipWriter(ZipWriter&&) noexcept = default;
ZipWriter& ZipWriter::operator=(ZipWriter&&) noexcept = default;
ZipWriter::~ZipWriter() = default;

Result<ZipWriter> ZipWriter::create(const fs::path& file, Packing packing) {
  const auto& zip = libzip();
  REPRISE_TRY(zip);
  REPRISE_ASSIGN(Fd fd, open_file(file, O_RDWR | O_CREAT | O_EXCL, 0600));
  auto state =
      std::make_unique<State>(**zip, ZipTarget{.file = file, .fd = std::move(fd)}, packing);
  REPRISE_TRY(state->begin());
  return ZipWriter(std::move(state));
}

Result<> ZipWriter::add_file(std::string_view name, const fs::path& file) {
  REPRISE_ASSIGN(const struct stat status, get_status(file));
  const std::int64_t size = status.st_size;
  FileSource& source = state_->files.emplace_back(FileSource{.file = file, .status = status});
  return state_->add(name, state_->zip.source_function(state_->archive, use_file_source, &source),
                     size, status);
}

Result<> ZipWriter::add_bytes(std::string_view name, const fs::path& file, std::string bytes) {
  REPRISE_ASSIGN(const struct stat status, get_status(file));
  const std::string& buffer = state_->buffers.emplace_back(std::move(bytes));
  return state_->add(name,
                     state_->zip.source_buffer(state_->archive, buffer.data(), buffer.size(), 0),
                     static_cast<std::int64_t>(buffer.size()), status);
}

Result<> ZipWriter::add_folder(std::string_view name, const fs::path& folder) {
  REPRISE_ASSIGN(const struct stat status, get_status(folder));
  const std::string entry = state_->unused_name(name);
  const zip_int64_t index =
      state_->zip.add_folder(state_->archive, entry.c_str(), ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    return std::unexpected(state_->error_of(name));
  }
  return state_->describe(static_cast<zip_uint64_t>(index), name, entry, status);
}

Result<> ZipWriter::close() {
  if (state_->zip.close(state_->archive) != 0) {
    return std::unexpected(state_->error("write"));
  }
  state_->archive = nullptr;
  return state_->target.finish();
}

struct ZipReader::State {
  const Zip& zip;
  zip_t* archive;
  fs::path file;

  State(const Zip& functions, zip_t* handle, fs::path path)
      : zip(functions), archive(handle), file(std::move(path)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  ~State() { zip.discard(archive); }

  std::unexpected<Error> refused(std::string_view name, std::string_view why) const {
    return fail(Code::corrupt, cat(file.native(), ": entry ", json::quoted(name), " ", why));
  }

  std::optional<timespec> modified(zip_uint64_t index) const {
    zip_uint16_t length = 0;
    const zip_uint8_t* const time =
        zip.field(archive, index, kTimeField, 0, &length, ZIP_FL_CENTRAL);
    if (time == nullptr || length <= kNumberBytes || (*time & kHasModified) == 0) {
      return std::nullopt;
    }
    timespec modified{.tv_sec = short_number_of(time + 1), .tv_nsec = 0};
    const zip_uint8_t* const nanoseconds =
        zip.field(archive, index, kNanosecondsField, 0, &length, ZIP_FL_CENTRAL);
    const bool has_seconds = length == kNumberBytes + kSecondsBytes;
    if (nanoseconds != nullptr && (length == kNumberBytes || has_seconds)) {
      modified.tv_nsec = std::clamp(short_number_of(nanoseconds), 0, 999'999'999);
    }
    if (nanoseconds != nullptr && has_seconds) {
      modified.tv_sec =
          static_cast<std::int64_t>(number_of({nanoseconds + kNumberBytes, kSecondsBytes}));
    }
    return modified;
  }

  // The name of the file, which is that of the entry unless the writer noted another.
  Result<std::string> name_of_file(zip_uint64_t index, std::string_view entry) const {
    zip_uint16_t length = 0;
    const zip_uint8_t* const bytes =
        zip.field(archive, index, kNameField, 0, &length, ZIP_FL_CENTRAL);
    if (bytes == nullptr) {
      return std::string(entry);
    }
    std::string name(bytes, bytes + length);
    return is_relative_name(name) && name.ends_with('/') == entry.ends_with('/')
               ? Result<std::string>(std::move(name))
               : refused(entry, "has a name that points outside the archive");
  }

  std::optional<mode_t> mode(zip_uint64_t index) const {
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    const bool has_attributes = zip.attributes(archive, index, 0, &system, &attributes) == 0 &&
                                system == ZIP_OPSYS_UNIX && (attributes >> 16U) != 0;
    constexpr mode_t kPermissions = 0777;
    return has_attributes ? std::optional(static_cast<mode_t>(attributes >> 16U) & kPermissions)
                          : std::nullopt;
  }

  // False if the name or a size is missing.
  bool stat(zip_uint64_t index, zip_stat_t& entry) const {
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    return zip.stat(archive, index, 0, &entry) == 0 && (entry.valid & kNeeded) == kNeeded;
  }

  Result<> check(const zip_stat_t& entry, std::string_view name) const {
    if (!is_safe_name(name)) {
      return refused(name, "has a name that points outside the archive");
    }
    if ((entry.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && entry.encryption_method != ZIP_EM_NONE) {
      return refused(name, "is encrypted");
    }
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    if (zip.attributes(archive, entry.index, 0, &system, &attributes) != 0) {
      return refused(name, "cannot be read");
    }
    const auto mode = static_cast<mode_t>(attributes >> 16U);
    if (system == ZIP_OPSYS_UNIX && (mode & S_IFMT) != 0 && !S_ISREG(mode) && !S_ISDIR(mode)) {
      return refused(name, "is a link or a device");
    }
    const zip_uint64_t most = entry.comp_size * kUnpackedRatioMax;
    if (entry.size > 0 && entry.size > most) {
      return refused(name, cat("unpacks to more than ", kUnpackedRatioMax, " times its size"));
    }
    return {};
  }
};

ZipReader::ZipReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ZipReader::ZipReader(ZipReader&&) noexcept = default;
ZipReader& ZipReader::operator=(ZipReader&&) noexcept = default;
ZipReader::~ZipReader() = default;

Result<ZipReader> ZipReader::open(const fs::path& file) {
  const auto& zip = libzip();
  REPRISE_TRY(zip);
  REPRISE_ASSIGN(const Fd opened, open_file(file, O_RDONLY));
  const int fd = ::fcntl(opened.get(), F_DUPFD_CLOEXEC, 0);  // NOLINT(*-vararg): declared so
  if (fd < 0) {
    return std::unexpected(os_error("open", file, errno));
  }
  int why = 0;
  zip_t* const archive = (*zip)->open_fd(fd, 0, &why);  // closes `fd` unless it fails
  if (archive == nullptr) {
    ::close(fd);
    return fail(Code::corrupt, cat(file.native(), " is not a zip file: libzip's error ", why));
  }
  return ZipReader(std::make_unique<State>(**zip, archive, file));
}

Result<std::vector<ZipReader::Entry>> ZipReader::entries() const {
  const zip_int64_t count = state_->zip.count(state_->archive, 0);
  if (count > kEntriesMax) {
    return fail(Code::corrupt, cat(state_->file.native(), " has ", count, " entries"));
  }
  std::vector<Entry> entries;
  ZipNames names;
  std::int64_t total = 0;
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t entry{};
    if (!state_->stat(index, entry)) {
      return fail(Code::corrupt, cat(state_->file.native(), ": entry ", i, " cannot be read"));
    }
    REPRISE_TRY(state_->check(entry, entry.name));
    REPRISE_ASSIGN(const std::string name, state_->name_of_file(index, entry.name));
    if (!names.add(name)) {
      return state_->refused(name, "is in the archive twice");
    }
    const auto remaining = static_cast<zip_uint64_t>(kUnpackedBytesMax - total);
    if (entry.size > remaining) {
      return state_->refused(name, cat("makes it more than ", kUnpackedBytesMax, " bytes"));
    }
    total += static_cast<std::int64_t>(entry.size);
    entries.push_back({index, name, static_cast<std::int64_t>(entry.size), state_->mode(index),
                       state_->modified(index)});
  }
  return entries;
}

ZipReader::Files ZipReader::files() const {
  const zip_int64_t count = state_->zip.count(state_->archive, 0);
  Files files;
  if (count > kEntriesMax) {
    files.refused.push_back({"", cat("has more than ", kEntriesMax, " entries")});
  }
  for (zip_int64_t i = 0; i < std::min(count, kEntriesMax); ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t entry{};
    if (!state_->stat(index, entry)) {
      files.refused.push_back({"", cat("entry ", i, " cannot be read")});
      continue;
    }
    auto name = state_->name_of_file(index, entry.name);
    if (name && name->ends_with('/')) {
      continue;
    }
    const auto checked = name ? state_->check(entry, entry.name)
                              : Result<>(std::unexpected(std::move(name).error()));
    if (checked) {
      files.entries.push_back({index, *std::move(name), static_cast<std::int64_t>(entry.size)});
    } else {
      files.refused.push_back({entry.name, checked.error().message});
    }
  }
  return files;
}

Result<> ZipReader::read(const Entry& entry,
                         const std::function<Result<>(std::string_view)>& sink) const {
  const Zip& zip = state_->zip;
  const std::unique_ptr<zip_file_t, decltype(&::zip_fclose)> stream(
      zip.open_entry(state_->archive, entry.index, 0), zip.close_entry.function());
  if (stream == nullptr) {
    return state_->refused(entry.name, cat("cannot be read: ", zip.why(state_->archive)));
  }
  std::array<char, 65536> piece;
  std::int64_t total = 0;
  while (true) {
    const zip_int64_t count = zip.read(stream.get(), piece.data(), piece.size());
    if (count < 0) {
      return state_->refused(entry.name, "is damaged");
    }
    total += count;
    if (total > entry.size || (count == 0 && total != entry.size)) {
      return state_->refused(entry.name, "does not have the size that it declares");
    }
    if (count == 0) {
      return {};
    }
    REPRISE_TRY(sink(std::string_view(piece.data(), static_cast<std::size_t>(count))));
  }
}

}  // namespace reprise::store::chatdir
