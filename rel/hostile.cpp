// rel_hostile PROGRAM CORPUS [COUNT [FIRST]]
//
// Gives the program stores that nobody should have: files of the corpus with bytes changed, cut,
// doubled and swapped, JSON that is deep, long or not JSON, text that a terminal would obey, and
// what is no file at all. Whatever it does with them, it ends by itself, in time and in 512 MiB,
// with an exit code of its own, shows nothing that a terminal obeys, and writes nowhere else.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>  // NOLINT(misc-include-cleaner): rlimit
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr rlim_t kMemoryMax = rlim_t{512} << 20;

// Where the input stands in the folder of the trial, and the URL of the store that it is.
struct Kind {
  std::string file;
  std::string url;  // before the folder: "chatdir:"
  std::string place;
};

const std::array<Kind, 7>& kinds() {
  static const std::string chat = "chats/chat/01990000-0000-7000-8000-000000000001/";
  static const std::array<Kind, 7> all = {{
      {chat + "messages.jsonl", "chatdir:", "chats"},
      {chat + "reprise.json", "chatdir:", "chats"},
      {"chats/archive/gb5og-0-jrc-p34-1/chat.zip", "chatdir:", "chats"},
      {"sessions/active/01990000-0000-7000-8000-000000000001.json", "sessions:", "sessions"},
      {"conversations.json", "chain:", "conversations.json"},
      {"openai.json", "context:", "openai.json"},
      {"reprise.db", "sqlite:", "reprise.db"},
  }};
  return all;
}

std::string read_bytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += piece;
  }
  return out;
}

// Bytes that have been trouble somewhere.
const std::vector<std::string>& poisons() {
  static const std::vector<std::string> all = {
      "\x1b[2J\x1b]0;owned\x07",
      "\xc2\x9b"
      "31m\xe2\x80\xae\xe2\x81\xa6",
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

// What is no file, or not the one that is looked for.
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

void limit(int resource, rlim_t most) {
  const rlimit value{most, most};
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &value);
}

struct Run {
  std::string shown;
  std::string fault;
};

Run run(const std::vector<std::string>& words, const fs::path& home) {
  const Ended ended = in_process([&](const Say& say) -> std::string {
    const fs::path shown = home / "shown";
    const Fd out(::open(shown.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600));
    const pid_t child = ::fork();
    if (child == 0) {
      limit(RLIMIT_AS, kMemoryMax);
      limit(RLIMIT_CORE, 0);
      limit(RLIMIT_CPU, 20);
      ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
      ::dup2(out.get(), STDOUT_FILENO);
      ::dup2(out.get(), STDERR_FILENO);
      std::vector<char*> arguments;
      for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));  // execv() changes nothing
      }
      arguments.push_back(nullptr);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    say(read_bytes(shown));
    return code == 0 || code == 1 || code == 2 || code == 64 ? "" : cat("\nEXIT CODE ", code);
  });
  return {ended.said, ended.fault};
}

std::string fault_in(const Run& run, bool is_json) {
  if (!run.fault.empty()) {
    return run.fault;
  }
  const std::size_t code = run.shown.rfind("\nEXIT CODE ");
  if (code != std::string::npos) {
    return run.shown.substr(code + 1);
  }
  const auto is_control = [is_json](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') ||
           (c == 0x7F && !is_json);
  };
  // JSON that goes to a file is data: its strings are kept as they are.
  const bool is_text = !is_json && (run.shown.find("\xc2\x9b") != std::string::npos ||
                                    run.shown.find("\xe2\x80\xae") != std::string::npos);
  return is_text || std::ranges::any_of(run.shown, is_control) ? "shows a control character" : "";
}

class Hostile {
 public:
  Hostile(std::string program, const fs::path& corpus) : program_(std::move(program)) {
    for (const auto& entry : fs::directory_iterator(corpus)) {
      const std::string bytes = read_bytes(entry.path());
      if (!bytes.empty()) {
        seeds_.emplace_back(static_cast<unsigned char>(bytes[0]) % kinds().size(), bytes.substr(1));
      }
    }
    ::setenv("HOME", work_.path().c_str(), 1);
    ::setenv("TERM", "xterm-256color", 1);
    add_database();
    std::ranges::sort(seeds_);
  }

  void try_one(unsigned number) {
    std::minstd_rand dice(number + 1);
    const fs::path folder = work_.path() / "trial";
    fs::remove_all(folder);
    const auto& [which, seed] = seeds_[number % seeds_.size()];
    // A file is sometimes taken for one of another kind.
    const Kind& kind = kinds()[dice() % 10 == 0 ? dice() % kinds().size() : which];
    const fs::path file = folder / kind.file;
    fs::create_directories(file.parent_path());
    if (number % 50 == 0) {
      make_special(file, dice);
    } else {
      std::ofstream(file, std::ios::binary) << mutated(seed, dice);
    }
    const std::string url = kind.url + (folder / kind.place).native();
    const std::string copy = cat("sqlite:", (folder / "copy.db").native());
    const std::vector<std::vector<std::string>> commands = {
        {program_, "--store", url, "list", "--all"},
        {program_, "--store", url, "show", "--full", "01990000-0000-7000-8000-000000000001"},
        {program_, "--store", url, "show", "--json", "last"},
        {program_, "--yes", "copy", url, copy},
        {program_, "--store", url, "verify"},
    };
    for (const auto& command : commands) {
      const bool is_json = std::ranges::find(command, "--json") != command.end();
      const std::string fault = fault_in(run(command, work_.path()), is_json);
      if (!fault.empty()) {
        faults_.push_back(cat("input ", number, ", ", kind.url, " ", command.back(), ": ", fault));
      }
    }
    look_outside(number);
  }

  int report(unsigned count) const {
    std::printf("hostile  program   %6u tried, %zu faults\n", count, faults_.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(faults_.size(), 10); ++i) {
      std::printf("  %s\n", faults_[i].c_str());
    }
    return faults_.empty() ? 0 : 1;
  }

 private:
  // Too large to be kept in the corpus, and quickly made.
  void add_database() {
    const fs::path folder = work_.path() / "trial";
    fs::create_directories(folder);
    const std::string url = cat("sqlite:", (folder / "made.db").native());
    const fs::path whole = folder / "whole.db";
    run({program_, "--store", url, "ask", "--provider", "echo", "How long is a league?"},
        work_.path());
    run({program_, "--store", url, "backup", whole.native()}, work_.path());
    seeds_.emplace_back(kinds().size() - 1, read_bytes(whole));
    if (seeds_.back().second.empty()) {
      throw std::runtime_error("no database was made");
    }
  }

  // Beside the folder of the trial there is only what the program keeps for itself.
  void look_outside(unsigned number) {
    for (const auto& entry : fs::directory_iterator(work_.path())) {
      const std::string name = entry.path().filename();
      if (name != "trial" && name != "shown" && name != ".local" && name != ".cache" &&
          name != ".config") {
        faults_.push_back(cat("input ", number, ": wrote ", name));
        fs::remove_all(entry.path());
      }
    }
  }

  std::string program_;
  WorkFolder work_;
  std::vector<std::pair<std::size_t, std::string>> seeds_;
  std::vector<std::string> faults_;
};

}  // namespace
}  // namespace reprise::rel

int main(int argc, char** argv) {
  try {
    if (argc < 3) {
      std::fputs("usage: rel_hostile PROGRAM CORPUS [COUNT [FIRST]]\n", stderr);
      return 64;
    }
    const auto number = [&](int at, unsigned otherwise) {
      const std::string_view text = at < argc ? argv[at] : "";
      std::from_chars(text.data(), text.data() + text.size(), otherwise);
      return otherwise;
    };
    const unsigned count = number(3, 2000);
    const unsigned first = number(4, 0);
    reprise::rel::Hostile hostile(argv[1], argv[2]);
    for (unsigned i = 0; i < count; ++i) {
      hostile.try_one(first + i);
    }
    return hostile.report(count);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rel_hostile: %s\n", error.what());
    return 1;
  }
}
