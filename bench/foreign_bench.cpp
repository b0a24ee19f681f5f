// Listing the sessions of another tool: for the first time, compared with reading the first and
// last 64 KB of each file, and then compared with listing as many sessions of our own store.
//
// usage: foreign_bench FOLDER [--smoke|--full]

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "grown_store.h"
#include "measure.h"
#include "messages.h"
#include "reprise/open_source.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEndBytes = 64 << 10;
constexpr int kPerProject = 100;

// Sessions of Claude Code, one in ten longer than both ends together.
void write_sessions(const fs::path& history, int count) {
  for (int i = 0; i < count; ++i) {
    const fs::path project = history / "projects" / ("-home-a-" + std::to_string(i / kPerProject));
    fs::create_directories(project);
    const std::string number = std::to_string(100'000 + i);
    const fs::path file = project / ("0a1b2c3d-0000-4000-8000-000000" + number + ".jsonl");
    std::ofstream out(file);
    const int turns = i % 10 == 0 ? 200 : 10;
    std::string parent = "null";
    for (int turn = 0; turn < 2 * turns; ++turn) {
      const std::string id = "\"" + number + "-" + std::to_string(turn) + "\"";
      const char* role = turn % 2 == 0 ? "user" : "assistant";
      out << R"({"type":")" << role << R"(","uuid":)" << id << R"(,"parentUuid":)" << parent
          << R"(,"timestamp":"2026-11-20T10:00:00.000Z","cwd":"/home/a","message":{"role":")"
          << role << R"(","content":")" << std::string(400, 'x') << "\"}}\n";
      parent = id;
    }
    out.close();
    const timespec times[2] = {{1'790'000'000 + i, 0}, {1'790'000'000 + i, 0}};
    require(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0, "cannot set the time of a file");
  }
}

// Reads the minimum needed to describe each session.
std::size_t read_ends(const fs::path& history) {
  std::size_t bytes = 0;
  std::string buffer(kEndBytes, '\0');
  for (const auto& entry : fs::recursive_directory_iterator(history)) {
    if (!entry.is_regular_file()) {
      continue;
    }
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    const auto size = static_cast<off_t>(entry.file_size());
    const auto last = std::max<off_t>(0, size - static_cast<off_t>(kEndBytes));
    bytes +=
        static_cast<std::size_t>(std::max<ssize_t>(0, ::pread(fd, buffer.data(), kEndBytes, 0)));
    if (last > 0) {
      bytes += static_cast<std::size_t>(
          std::max<ssize_t>(0, ::pread(fd, buffer.data(), kEndBytes, last)));
    }
    ::close(fd);
  }
  return bytes;
}

std::size_t list_all(reprise::Source& source) {
  std::size_t count = 0;
  reprise::SessionQuery query{.limit = reprise::kPageMax};
  do {
    const auto page = must(source.list(query));
    count += page.sessions.size();
    query.after = page.next;
  } while (!query.after.empty());
  return count;
}

void measure(const fs::path& work, int count) {
  const fs::path history = work / "claude";
  write_sessions(history, count);
  const auto store = open_grown(work / "own.db");
  for (int i = 0; i < count; ++i) {
    (void)add_session(*store);
  }
  const auto list = [&](const fs::path& cache) {
    const auto source =
        must(reprise::open_source("claude:" + history.native(), {.cache_folder = cache}));
    require(must(source->list({.limit = 1})).sessions.size() == 1, "nothing is listed");
  };
  Samples first;
  Samples ends;
  Samples again;
  Samples own;
  list(work / "cache");
  for (int i = 0; i < 7; ++i) {
    first.add(time_us([&] { list(work / ("cache" + std::to_string(i))); }));
    ends.add(time_us([&] { require(read_ends(history) > 0, "nothing was read"); }));
    again.add(time_us([&] { list(work / "cache"); }));
    own.add(
        time_us([&] { require(list_all(*store) >= static_cast<std::size_t>(count), "too few"); }));
  }
  print(row_of("H1", "list of foreign sessions, the first time", first, ends, "us", at_most(2)));
  print(row_of("H2", "the same from the second time on", again, own, "us", at_most(2)));
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool smoke = std::erase(words, "--smoke") > 0;
  std::erase(words, "--full");
  if (words.size() != 1) {
    bench::give_up("usage: foreign_bench FOLDER [--smoke|--full]");
  }
  bench::measure(words[0], smoke ? 100 : 10'000);
  return 0;
}
