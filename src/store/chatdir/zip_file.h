#pragma once

// Zip files, by libzip, which is loaded at the first call (unsupported when it is missing).

#include <sys/types.h>

#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "reprise/error.h"

namespace reprise::store::chatdir {

// What we would not take out of a zip again is not put into one.
inline constexpr std::int64_t kUnpackedBytesMax = std::int64_t{1} << 30;
inline constexpr std::int64_t kUnpackedRatioMax = 1000;
inline constexpr std::int64_t kEntriesMax = 100'000;

enum class Packing : std::uint8_t { deflated, stored };

// A new zip file; whole and on disk when close() has returned. It is opened once, and only what was
// opened is written, whatever gets its name meanwhile.
class ZipWriter {
 public:
  // io (EEXIST) where something has that name, a link included.
  static Result<ZipWriter> create(const std::filesystem::path& file, Packing packing);
  ZipWriter(ZipWriter&& other) noexcept;
  ZipWriter& operator=(ZipWriter&& other) noexcept;
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;
  ~ZipWriter();

  // `name` as it is in the zip, folders divided by '/', with the mode and the time of change of
  // `file`. unsupported when all together would be too large to be unpacked.
  Result<> add_file(std::string_view name, const std::filesystem::path& file);
  // The same with other bytes than the file has.
  Result<> add_bytes(std::string_view name, const std::filesystem::path& file, std::string bytes);
  Result<> add_folder(std::string_view name, const std::filesystem::path& folder);
  // conflict when the name is another file's by now.
  Result<> close();

 private:
  struct State;
  explicit ZipWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class ZipReader {
 public:
  static Result<ZipReader> open(const std::filesystem::path& file);
  ZipReader(ZipReader&& other) noexcept;
  ZipReader& operator=(ZipReader&& other) noexcept;
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;
  ~ZipReader();

  struct Entry {
    std::uint64_t index = 0;
    std::string name;  // safe: relative, of plain components; folders end with '/'
    std::int64_t size = 0;
    std::optional<mode_t> mode = {};        // the permissions only
    std::optional<timespec> modified = {};  // to the nanosecond for what ZipWriter wrote
  };
  // corrupt for a zip that is not safe to unpack: names that are absolute or lead elsewhere, links,
  // encrypted entries, doubles, more than kUnpackedBytesMax or kUnpackedRatioMax.
  Result<std::vector<Entry>> entries() const;

  // The files alone, of a zip that is read and not unpacked: entries that are not safe are left
  // out, and all together may be of any size.
  Result<std::vector<Entry>> files() const;

  // The entry's bytes, piece by piece; corrupt when they are not what the zip says.
  Result<> read(const Entry& entry, const std::function<Result<>(std::string_view)>& sink) const;

 private:
  struct State;
  explicit ZipReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace reprise::store::chatdir
