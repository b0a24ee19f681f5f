// rel_hostile PROGRAM CORPUS [COUNT [FIRST]]
//
// Runs the program with hostile stores: files of the corpus with bytes changed, truncated,
// duplicated and swapped, JSON that is deep, long or invalid, text that a terminal would interpret,
// and special files. In all cases, it must end by itself, in time, within 512 MiB and with one of
// its own exit codes, show no control characters, and write nowhere else.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "base/text.h"
#include "hostile_files.h"
#include "program.h"
#include "run.h"
#include "tally.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMemoryMax = std::size_t{512} << 20;

std::string fault_in(int code, std::string_view shown, bool is_json) {
  if (code < 0) {
    return "does not end";
  }
  if (code > 2 && code != 64) {
    return cat("ends with ", code);
  }
  const auto is_control = [is_json](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') ||
           (c == 0x7F && !is_json);
  };
  // JSON output to a file is data: its strings are unchanged.
  const bool is_text =
      !is_json && (shown.contains("\xc2\x9b") || shown.contains(kRightToLeftOverride));
  return is_text || std::ranges::any_of(shown, is_control) ? "shows a control character" : "";
}

class Hostile {
 public:
  Hostile(const std::string& program, const fs::path& corpus)
      : program_(fs::absolute(program)), stores_(corpus, make_database()) {}

  // The fault with the input of that number; "" if there is none.
  std::string try_one(unsigned number) {
    const fs::path folder = trial();
    fs::remove_all(folder);
    const std::string url = stores_.create_store(number, folder);
    const std::string copy = cat("sqlite:", (folder / "copy.db").native());
    const std::vector<std::vector<std::string>> commands = {
        {"--store", url, "list", "--all"},
        {"--store", url, "show", "--full", "01990000-0000-7000-8000-000000000001"},
        {"--store", url, "show", "--json", "last"},
        {"--yes", "copy", url, copy},
        {"--store", url, "verify"},
    };
    std::string faults;
    for (const auto& command : commands) {
      const bool is_json = std::ranges::find(command, "--json") != command.end();
      const Finished done = start(command);
      const std::string shown = done.shown + read_bytes(work_.path() / "err");
      if (const std::string fault = fault_in(done.code, shown, is_json); !fault.empty()) {
        faults += cat(url, " ", command.back(), ": ", fault, "; ");
      }
    }
    return faults + fault_outside();
  }

 private:
  fs::path trial() const { return work_.path() / "trial"; }

  Finished start(const std::vector<std::string>& words) const {
    Start start{
        .words = {program_}, .home = work_.path(), .environment = {}, .memory_max = kMemoryMax};
    start.words.insert(start.words.end(), words.begin(), words.end());
    return run_program(start);
  }

  // Too large for the corpus, and quickly created.
  std::string make_database() const {
    fs::create_directories(trial());
    const std::string url = cat("sqlite:", (trial() / "made.db").native());
    const fs::path whole = trial() / "whole.db";
    start({"--store", url, "ask", "--provider", "echo", "How long is a league?"});
    start({"--store", url, "backup", whole.native()});
    return read_bytes(whole);
  }

  // Beside the folder of the trial, there may only be the program's own files.
  std::string fault_outside() const {
    std::string fault;
    for (const auto& entry : fs::directory_iterator(work_.path())) {
      const std::string name = entry.path().filename();
      if (name != "trial" && name != "err" && name != ".local" && name != ".cache" &&
          name != ".config") {
        fault += cat("wrote ", name, "; ");
        fs::remove_all(entry.path());
      }
    }
    return fault;
  }

  std::string program_;
  WorkFolder work_;
  HostileStores stores_;
};

}  // namespace

int run(std::vector<std::string> words) {
  if (words.size() < 2) {
    return usage("rel_hostile PROGRAM CORPUS [COUNT [FIRST]]");
  }
  const auto number = [&](std::size_t at, unsigned otherwise) {
    return at < words.size() ? static_cast<unsigned>(std::stoul(words[at])) : otherwise;
  };
  const unsigned count = number(2, 2000);
  const unsigned first = number(3, 0);
  Hostile hostile(words[0], words[1]);
  Tally tally;
  for (unsigned i = first; i < first + count; ++i) {
    tally.add(cat("input ", i), hostile.try_one(i));
  }
  return report("hostile", "program", tally) ? 0 : 1;
}

}  // namespace reprise::rel
