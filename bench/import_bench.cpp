// Importing Claude Code's lines compared with the minimum cost (floor_import.cpp): the same files,
// alternately, each into a new database.
//
// usage: import_bench FOLDER BENCH_PROGRAMS PROGRAM [--smoke|--full]

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "measure.h"
#include "spawn.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWords[] = {
    "the",    "build",          "of",     "header", "fails", "module",      "\\n",    "linker",
    "test",   "\\\"quoted\\\"", "value",  "line",   "\\t",   "caf\xC3\xA9", "return", "x->y",
    "struct", "0x7fff",         "error:", "in"};

class Random {
 public:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_ >> 33U;
  }

 private:
  std::uint64_t state_ = 7;
};

std::string words(Random& random, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    text += kWords[random.next() % std::size(kWords)];
    text += ' ';
  }
  return text;
}

// Writes turns: a question, an answer in two lines, a call and its result, an attachment.
class Session {
 public:
  Session(const fs::path& folder, int number, Random& random) : random_(random) {
    const std::string digits = std::to_string(1'000'000 + number).substr(1);
    id_ = "0a1b2c3d-0000-4000-8000-000000" + digits;
    uuid_prefix_ = "00" + digits + "-0000-4000-9000-";
    out_.open(folder / (id_ + ".jsonl"), std::ios::binary);
  }

  std::int64_t write_turn() {
    const std::int64_t before = out_.tellp();
    const std::string request = std::to_string(lines_);
    line("user", R"({"role":"user","content":")" + words(random_, 300) + "\"}");
    const std::string head =
        R"({"id":"msg_)" + request +
        R"(","type":"message","role":"assistant","model":"claude-x","content":[)";
    const std::string tail =
        R"(],"stop_reason":null,"usage":{"input_tokens":900,"cache_read_input_tokens":800,"output_tokens":70}})";
    line("assistant",
         head + R"({"type":"thinking","thinking":")" + words(random_, 600) + R"(","signature":")" +
             std::string(400, 'k') + "\"}" + tail,
         request);
    line("assistant", head + R"({"type":"text","text":")" + words(random_, 900) + "\"}" + tail,
         request);
    line("assistant",
         head + R"({"type":"tool_use","id":"toolu_)" + request +
             R"(","name":"Bash","input":{"command":")" + words(random_, 120) + "\"}}" + tail,
         request);
    line("user", R"({"role":"user","content":[{"tool_use_id":"toolu_)" + request +
                     R"(","type":"tool_result","content":")" + words(random_, 2500) + "\"}]}");
    line("attachment", "", "",
         R"("attachment":{"type":"environment","rendered":")" + words(random_, 800) + "\"}");
    return static_cast<std::int64_t>(out_.tellp()) - before;
  }

 private:
  void line(std::string_view type, const std::string& message, const std::string& request = "",
            const std::string& more = "") {
    const std::string uuid = uuid_prefix_ + std::to_string(100'000'000'000 + lines_);
    const std::int64_t second = lines_ % 60;
    const std::int64_t minute = lines_ / 60 % 60;
    const std::int64_t hour = lines_ / 3600 % 24;
    const auto two = [](std::int64_t number) { return std::to_string(100 + number).substr(1); };
    const std::string time =
        "2026-11-20T" + two(hour) + ":" + two(minute) + ":" + two(second) + ".000Z";
    out_ << R"({"parentUuid":)" << (parent_.empty() ? "null" : "\"" + parent_ + "\"")
         << R"(,"isSidechain":false,"userType":"external","cwd":"/srv/project","sessionId":")"
         << id_ << R"(","version":"2.1.330","gitBranch":"main","type":")" << type << "\"";
    if (!message.empty()) {
      out_ << R"(,"message":)" << message;
    }
    if (!request.empty()) {
      out_ << R"(,"requestId":"req_)" << request << "\"";
    }
    if (!more.empty()) {
      out_ << ',' << more;
    }
    out_ << R"(,"uuid":")" << uuid << R"(","timestamp":")" << time << "\"}\n";
    parent_ = uuid;
    ++lines_;
  }

  Random& random_;
  std::string id_;
  std::string uuid_prefix_;  // lines with the same uuids in two sessions would make one a fork
  std::ofstream out_;
  std::string parent_;
  std::int64_t lines_ = 0;
};

std::int64_t make_history(const fs::path& history, std::int64_t least_bytes) {
  constexpr std::int64_t kSessionBytes = 4 << 20;
  const fs::path folder = history / "projects" / "-srv-project";
  fs::create_directories(folder);
  Random random;
  std::int64_t bytes = 0;
  for (int number = 0; bytes < least_bytes; ++number) {
    Session session(folder, number, random);
    for (std::int64_t own = 0; own < kSessionBytes && bytes < least_bytes;) {
      const std::int64_t turn = session.write_turn();
      own += turn;
      bytes += turn;
    }
  }
  return bytes;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  require(argc >= 4, "usage: import_bench FOLDER BENCH_PROGRAMS PROGRAM [--smoke|--full]");
  const fs::path work(argv[1]);
  const fs::path floor = fs::path(argv[2]) / "floor_import";
  const std::string_view scale = argc > 4 ? argv[4] : "";
  constexpr std::int64_t kMega = 1 << 20;
  const std::int64_t size = (scale == "--smoke" ? 4 : scale == "--full" ? 1024 : 256) * kMega;
  const int rounds = scale == "--smoke" ? 1 : 3;
  const fs::path history = work / "claude";
  const std::int64_t bytes = make_history(history, size);
  const std::vector<std::string> environment = {"HOME=" + work.native(), "PATH=/usr/bin:/bin"};
  Samples ours;
  Samples limit;
  Samples our_cpu;
  Samples limit_cpu;
  double peak_kb = 0;
  // Each begins with as much free memory, and waits for nothing that was written before.
  const auto measure = [&](const fs::path& database, const std::vector<std::string>& command) {
    ::sync();
    const Cost cost = spawn(command, environment);
    for (const char* const ending : {"", "-wal", "-shm"}) {
      fs::remove(database.native() + ending);
    }
    return cost;
  };
  for (int round = 0; round < rounds; ++round) {
    const fs::path own = work / "own.db";
    const fs::path bare = work / "bare.db";
    const Cost least = measure(bare, {floor.native(), history.native(), bare.native()});
    const Cost cost = measure(own, {argv[3], "--store", "sqlite:" + own.native(), "--yes",
                                    "--quiet", "import", "claude:" + history.native()});
    const auto megabytes = static_cast<double>(bytes) / 1e6;
    ours.add(megabytes / (cost.wall_us / 1e6));
    limit.add(megabytes / (least.wall_us / 1e6));
    our_cpu.add(megabytes / (cost.cpu_us / 1e6));
    limit_cpu.add(megabytes / (least.cpu_us / 1e6));
    peak_kb = std::max(peak_kb, cost.peak_kb);
  }
  print(row_of("I1", "import of Claude Code's lines, " + std::to_string(bytes / kMega) + " MiB",
               ours, limit, "MB/s", at_least(0.8)));
  print(row_of("I1", "the same by processor time", our_cpu, limit_cpu, "MB/s", at_least(0.8)));
  print_absolute("I2", "its peak memory", peak_kb / 1024, "MiB", at_most(128));
  return 0;
}
