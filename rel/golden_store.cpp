#include "golden_store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "life.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  auto bytes = read_file(file);
  if (!bytes) {
    throw std::runtime_error(bytes.error().message);
  }
  return *std::move(bytes);
}

void make_database(const fs::path& file, const std::string& sql) {
  sqlite3* handle = nullptr;
  const bool made = sqlite3_open(file.c_str(), &handle) == SQLITE_OK &&
                    sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  const std::string fault = made ? "" : sqlite3_errmsg(handle);
  sqlite3_close(handle);
  if (!made) {
    throw std::runtime_error(cat(file.native(), ": ", fault));
  }
}

}  // namespace

GoldenStore::GoldenStore(fs::path folder, std::string expected)
    : folder_(std::move(folder)), name_(folder_.filename()), expected_(std::move(expected)) {}

std::vector<GoldenStore> GoldenStore::all(const Kind& kind) {
  std::vector<GoldenStore> out;
  for (const auto& entry : fs::directory_iterator(REL_GOLDEN)) {
    if (entry.path().filename().native().starts_with(kind.name + "-")) {
      out.push_back({entry.path(), read(entry.path() / "seen")});
    }
  }
  std::ranges::sort(out, {}, &GoldenStore::name);
  return out;
}

void GoldenStore::save(const std::string& expected) const {
  if (const auto written = replace_file(folder_ / "seen", expected); !written) {
    throw std::runtime_error(written.error().message);
  }
}

void GoldenStore::install(const fs::path& location) const {
  copy_folder(folder_, location);
  fs::remove(location / "seen");
  if (const fs::path sql = location / "reprise.sql"; fs::exists(sql)) {
    make_database(location / "reprise.db", read(sql));
    fs::remove(sql);
  }
  constexpr timespec kWritten{1'768'766'400, 0};
  const std::array<timespec, 2> times = {kWritten, kWritten};
  for (const auto& entry : fs::recursive_directory_iterator(location)) {
    ::utimensat(AT_FDCWD, entry.path().c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
  }
}

}  // namespace reprise::rel
