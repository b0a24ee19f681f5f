#include "hostile_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <ios>
#include <iterator>
#include <random>
#include <stdexcept>

#include "base/text.h"
#include "support/store_files.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

using test::kStoreFiles;

std::string repeated(std::string_view piece, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += piece;
  }
  return out;
}

std::string mutated(std::string bytes, std::minstd_rand& dice) {
  const auto rounds = 1 + dice() % 4;
  for (unsigned round = 0; round < rounds; ++round) {
    const std::size_t at = bytes.empty() ? 0 : dice() % bytes.size();
    const std::size_t length = std::min<std::size_t>(bytes.size() - at, dice() % 200);
    switch (dice() % 7) {
      case 0:
        bytes.insert(at, poisons()[dice() % poisons().size()]);
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 4:
        bytes.replace(at, length, std::string(length, '\0'));
        break;
      default:
        if (!bytes.empty()) {
          bytes[at] = static_cast<char>(dice());
        }
    }
  }
  return bytes;
}

// Creates something other than the expected regular file.
void make_special(const fs::path& file, std::minstd_rand& dice) {
  switch (dice() % 5) {
    case 0:
      fs::create_directories(file);
      break;
    case 1:
      if (::mkfifo(file.c_str(), 0600) != 0) {
        throw std::runtime_error("no pipe");
      }
      break;
    case 2:
      fs::create_symlink(file.filename(), file);
      break;
    case 3:
      fs::create_symlink("/dev/zero", file);
      break;
    default:
      std::ofstream(file).close();
      fs::permissions(file, fs::perms::none);
  }
}

}  // namespace

std::string read_bytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::vector<std::string>& poisons() {
  static const std::vector<std::string> all = {
      "\x1b[2J\x1b]0;owned\x07",
      cat("\xc2\x9b", "31m", kRightToLeftOverride, kLeftToRightIsolate),
      std::string("\0", 1),
      "\xff\xfe\xc0\xaf",
      R"(\ud83d)",
      R"(\u0000\u001b[31m)",
      R"("id":"../../../outside")",
      R"("id":"/etc/passwd")",
      "1e999999",
      "123456789012345678901234567890",
      "-0",
      repeated("[", 100'000),
      repeated(R"({"a":)", 50'000),
      repeated("x", 1'000'000),
      "\r\n\r\n",
      "}{",
      R"("seq":9223372036854775807)",
      R"("seq":-1)",
      R"("timestamp":"9999-99-99T99:99:99Z")",
  };
  return all;
}

HostileStores::HostileStores(const fs::path& corpus, std::string database) {
  for (std::size_t which = 0; which + 1 < kStoreFiles.size(); ++which) {
    for (const auto& entry : fs::directory_iterator(corpus / kStoreFiles[which].name)) {
      seeds_.emplace_back(which, read_bytes(entry.path()));
    }
  }
  if (database.empty()) {
    throw std::runtime_error("no database was made");
  }
  seeds_.emplace_back(kStoreFiles.size() - 1, std::move(database));
  std::ranges::sort(seeds_);
}

std::string HostileStores::create_store(unsigned number, const fs::path& folder) const {
  std::minstd_rand dice(number + 1);
  const auto& [which, seed] = seeds_[number % seeds_.size()];
  // Sometimes uses a file as one of another kind.
  const auto& target = kStoreFiles[dice() % 10 == 0 ? dice() % kStoreFiles.size() : which];
  const fs::path file = folder / target.file;
  fs::create_directories(file.parent_path());
  if (number % 50 == 0) {
    make_special(file, dice);
  } else {
    std::ofstream(file, std::ios::binary) << mutated(seed, dice);
  }
  return store_url_of(target, folder);
}

}  // namespace reprise::rel
