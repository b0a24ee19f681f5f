#pragma once

// What a person downloaded from a service: a zip, the folder it was unpacked into, or only the JSON
// file. Of a zip, the JSON is unpacked into a private file without a name, which goes with this.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "source/file.h"

namespace reprise::source {

// One thread at a time.
class Download {
 public:
  // Whether a file of it, by its name in the folder or zip, has conversations.
  using IsPart = bool (*)(std::string_view name);

  struct Part {
    std::filesystem::path file;  // for messages
    Fd fd;
  };

  static Result<std::unique_ptr<Download>> open(const std::filesystem::path& place, IsPart is_part);
  // The beginning of its first part; "" when it has none. Unpacks no more than that.
  static Result<std::string> beginning(const std::filesystem::path& place, IsPart is_part);

  ~Download();
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  // In the order of their names.
  const std::vector<Part>& parts() const { return parts_; }
  // A file whose name, without its folders, begins so. nullopt: it is not there, or larger than
  // kAssetBytesMax.
  struct Asset {
    std::string name;
    std::string bytes;
  };
  static constexpr std::int64_t kAssetBytesMax = 20 << 20;
  Result<std::optional<Asset>> asset(std::string_view beginning) const;

 private:
  struct Zip;
  explicit Download(std::filesystem::path place);
  Result<> open_zip(IsPart is_part);
  Result<> open_files(IsPart is_part);

  std::filesystem::path place_;
  std::vector<Part> parts_;
  std::filesystem::path folder_;  // with its other files; "" for a zip
  mutable std::optional<std::vector<std::filesystem::path>> files_;  // in it, when asked for
  std::unique_ptr<Zip> zip_;
};

}  // namespace reprise::source
