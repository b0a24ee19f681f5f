#pragma once

// Data downloaded from a service: a zip, the folder it was unpacked into, or the JSON file alone.
// The JSON in a zip is unpacked into unlinked private files. Only a few parts are open at a time.

#include <filesystem>
#include <functional>
#include <list>
#include <memory>  // IWYU pragma: export
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "source/file.h"  // IWYU pragma: export

namespace reprise::source {

// Not thread-safe.
class Download {
 public:
  // Whether a file, by its name in the folder or zip, has conversations.
  using IsPart = bool (*)(std::string_view name);

  struct Part {
    std::filesystem::path file;             // in a zip, for error messages only
    std::optional<FileState> state = {};    // of a file in a folder
    std::optional<std::size_t> entry = {};  // in a zip
  };

  static Result<std::unique_ptr<Download>> open(const std::filesystem::path& location,
                                                IsPart is_part);
  // The beginning of the first part; "" if there is none. Unpacks no more than that.
  static Result<std::string> beginning(const std::filesystem::path& location, IsPart is_part);

  ~Download();
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  // Sorted by name.
  const std::vector<Part>& parts() const { return parts_; }
  // Parts of a zip that are not among these, and why.
  const std::vector<Damage>& refused() const { return refused_; }
  // The descriptor of a part, valid until kOpenMax others have been opened. conflict if its file
  // has changed; unsupported if it is too large.
  static constexpr std::size_t kOpenMax = 64;
  Result<int> open_part(std::size_t number) const;
  // Identifies the version of all of it.
  std::string state() const;
  // The bytes of a file whose name, without its folders, starts with the prefix. nullopt if there
  // is none or it is larger than kAssetBytesMax, and for a JSON file alone that does not have the
  // name of a part: it may be in any folder.
  static constexpr std::int64_t kAssetBytesMax = 20 << 20;
  Result<std::optional<std::string>> asset(std::string_view beginning) const;

 private:
  struct Zip;
  explicit Download(std::filesystem::path location);
  Result<> open_zip(IsPart is_part);
  Result<> open_files(IsPart is_part);
  Result<Fd> open_now(const Part& part) const;

  std::filesystem::path location_;
  std::vector<Part> parts_;
  std::vector<Damage> refused_;
  mutable std::list<std::pair<std::size_t, Fd>> open_;  // by the part's number, the last used first
  std::filesystem::path folder_;  // of the other files; "" if there are none, and for a zip
  mutable std::optional<std::vector<std::filesystem::path>> files_;  // in folder_, on demand
  std::unique_ptr<Zip> zip_;
};

}  // namespace reprise::source
