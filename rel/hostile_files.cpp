#include "hostile_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <ios>
#include <iterator>
#include <random>
#include <stdexcept>

#include "base/text.h"
#include "reprise/open_store.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

// The path of the input in the folder of the trial, and its URL as a store.
struct Kind {
  std::string name;  // its folder in the corpus
  std::string file;
  std::string_view store;
};

const std::array<Kind, 7>& kinds() {
  static const std::string chat = "chats/chat/01990000-0000-7000-8000-000000000001/";
  static const std::array<Kind, 7> all = {{
      {"chat_log", chat + "messages.jsonl", "chatdir"},
      {"chat_facts", chat + "reprise.json", "chatdir"},
      {"chat_archive", "chats/archive/gb5og-0-jrc-p34-1/chat.zip", "chatdir"},
      {"session", "sessions/active/01990000-0000-7000-8000-000000000001.json", "sessions"},
      {"chain", "conversations.json", "chain"},
      {"context", "openai.json", "context"},
      {"database", "reprise.db", "sqlite"},
  }};
  return all;
}

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
  for (std::size_t which = 0; which + 1 < kinds().size(); ++which) {
    for (const auto& entry : fs::directory_iterator(corpus / kinds()[which].name)) {
      seeds_.emplace_back(which, read_bytes(entry.path()));
    }
  }
  if (database.empty()) {
    throw std::runtime_error("no database was made");
  }
  seeds_.emplace_back(kinds().size() - 1, std::move(database));
  std::ranges::sort(seeds_);
}

std::string HostileStores::put(unsigned number, const fs::path& folder) const {
  std::minstd_rand dice(number + 1);
  const auto& [which, seed] = seeds_[number % seeds_.size()];
  // Sometimes uses a file as one of another kind.
  const Kind& kind = kinds()[dice() % 10 == 0 ? dice() % kinds().size() : which];
  const fs::path file = folder / kind.file;
  fs::create_directories(file.parent_path());
  if (number % 50 == 0) {
    make_special(file, dice);
  } else {
    std::ofstream(file, std::ios::binary) << mutated(seed, dice);
  }
  return url_in_folder(*std::ranges::find(store_kinds(), kind.store, &StoreKind::name), folder);
}

}  // namespace reprise::rel
