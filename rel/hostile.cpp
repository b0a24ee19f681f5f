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
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "hostile_files.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr rlim_t kMemoryMax = rlim_t{512} << 20;

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
    ::setenv("HOME", work_.path().c_str(), 1);
    ::setenv("TERM", "xterm-256color", 1);
    const fs::path made = work_.path() / "trial";
    fs::create_directories(made);
    stores_.emplace(corpus, make_database(made));
  }

  void try_one(unsigned number) {
    const fs::path folder = work_.path() / "trial";
    fs::remove_all(folder);
    const std::string url = stores_->put(number, folder);
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
        faults_.push_back(cat("input ", number, ", ", url, " ", command.back(), ": ", fault));
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
  std::string make_database(const fs::path& folder) const {
    const std::string url = cat("sqlite:", (folder / "made.db").native());
    const fs::path whole = folder / "whole.db";
    run({program_, "--store", url, "ask", "--provider", "echo", "How long is a league?"},
        work_.path());
    run({program_, "--store", url, "backup", whole.native()}, work_.path());
    return read_bytes(whole);
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
  std::optional<HostileStores> stores_;
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
