// Runs another program and ours alternately for the same task.
//
// usage: peer_bench FOLDER PROGRAM WHAT=COMMAND…
//   WHAT     version, turn or list: the task of COMMAND
//   COMMAND  its path and arguments; {url} stands for a server with OpenAI's protocol

#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "instant_server.h"
#include "measure.h"
#include "spawn.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Task {
  std::string_view name;
  std::string_view description;
  Words ours;
  double goal;  // ours / theirs
};

Words split(std::string command, const std::string& url) {
  constexpr std::string_view kUrl = "{url}";
  for (auto at = command.find(kUrl); at != std::string::npos; at = command.find(kUrl, at)) {
    command.replace(at, kUrl.size(), url);
  }
  std::istringstream in(command);
  Words words;
  for (std::string word; in >> word;) {
    words.push_back(word);
  }
  return words;
}

int run(const Words& words) {
  require(words.size() >= 4, "usage: peer_bench FOLDER PROGRAM WHAT=COMMAND...");
  const fs::path folder = fs::path(words[1]) / "peers";
  const std::string& program = words[2];
  fs::create_directories(folder / "home");
  const InstantServer server;
  const std::string store = "sqlite:" + (folder / "ours.db").string();
  const std::array<Task, 3> tasks = {{
      {"version", "--version", {program, "--version"}, 1.0 / 4},
      {"turn",
       "a durable turn",
       {program, "--store", store, "ask", "--new", "--provider", "openai-chat", "--base-url",
        server.base_url(), "--model", "m", "And now?"},
       1.0 / 14},
      {"list", "a list", {program, "--store", store, "list", "--all"}, 1.0 / 20},
  }};
  const Words environment = {"PATH=/usr/local/bin:/usr/bin:/bin",
                             "HOME=" + (folder / "home").string(), "OPENAI_API_KEY=measured",
                             "OPENAI_BASE_URL=" + server.base_url(), "LANG=C.UTF-8"};
  spawn(tasks[1].ours, environment);  // creates a session to list
  for (auto word = words.begin() + 3; word != words.end(); ++word) {
    const auto equals = word->find('=');
    const std::string name = word->substr(0, equals);
    const Words theirs =
        split(equals == std::string::npos ? "" : word->substr(equals + 1), server.base_url());
    bool is_known = false;
    for (const Task& task : tasks) {
      if (task.name != name || theirs.empty()) {
        continue;
      }
      is_known = true;
      Samples ours;
      Samples limit;
      constexpr int kRuns = 11;
      for (int round = 0; round <= kRuns; ++round) {
        const double other = spawn(theirs, environment).wall_us / 1000;
        const double own = spawn(task.ours, environment).wall_us / 1000;
        if (round > 0) {  // the first round only warms the caches
          limit.add(other);
          ours.add(own);
        }
      }
      print(row_of(
          "peer",
          std::string(task.description) + ", beside " + fs::path(theirs[0]).filename().string(),
          ours, limit, "ms", at_most(task.goal)));
    }
    require(is_known, "neither version=, turn= nor list=: " + *word);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run({argv, argv + argc});
}
