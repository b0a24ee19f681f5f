#pragma once

// Zip files, using libzip, which is loaded at the first call (unsupported if it is missing).

#include <sys/types.h>

#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "reprise/error.h"

namespace reprise::store::chatdir {

// Limits for unpacking, which packing obeys, too.
inline constexpr std::int64_t kUnpackedBytesMax = std::int64_t{1} << 30;
inline constexpr std::int64_t kUnpackedRatioMax = 1000;
inline constexpr std::int64_t kEntriesMax = 100'000;

enum class Packing : std::uint8_t { deflated, stored };

// A new zip file, complete and durable when close() has returned. It is opened once, so a file that
// takes its name meanwhile is not written.
class ZipWriter {
 public:
  // io (EEXIST) if the path exists, even as a link.
  static Result<ZipWriter> create(const std::filesystem::path& file, Packing packing);
  ZipWriter(ZipWriter&& other) noexcept;
  ZipWriter& operator=(ZipWriter&& other) noexcept;
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;
  ~ZipWriter();

  // `name` is relative, with '/' between folders, of any bytes: if other systems might take it for
  // something else, the entry has another name and notes this one. Mode and modification time are
  // those of `file`. unsupported if the total size or number could not be unpacked.
  Result<> add_file(std::string_view name, const std::filesystem::path& file);
  // The same with `bytes` instead of the file's contents.
  Result<> add_bytes(std::string_view name, const std::filesystem::path& file, std::string bytes);
  Result<> add_folder(std::string_view name, const std::filesystem::path& folder);
  // conflict if another file has the name now.
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
    std::string name;  // relative, with components of any bytes; folders end with '/'
    std::int64_t size = 0;
    std::optional<mode_t> mode = {};        // the permissions only
    std::optional<timespec> modified = {};  // with nanoseconds if ZipWriter wrote it
  };
  // corrupt for a zip that is unsafe to unpack: absolute names or names that leave the folder,
  // links, encrypted entries, duplicates, more than kUnpackedBytesMax, kUnpackedRatioMax or
  // kEntriesMax.
  Result<std::vector<Entry>> entries() const;

  // Only the files, for reading without unpacking; the total size is not limited. Entries that are
  // unsafe or cannot be read are `refused`.
  struct Refused {
    std::string name;  // "" if unknown
    std::string reason;
  };
  struct Files {
    std::vector<Entry> entries;
    std::vector<Refused> refused;
  };
  Files files() const;

  // Passes the entry's bytes to `sink` in pieces; corrupt if they do not match the zip's directory.
  Result<> read(const Entry& entry, const std::function<Result<>(std::string_view)>& sink) const;

 private:
  struct State;
  explicit ZipReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace reprise::store::chatdir
