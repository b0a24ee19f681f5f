// rel_leaks PROGRAM
//
// Uses every command of the program with keys planted wherever a key may be, and searches for each
// of them: no key may be in the output or in files, including archives and databases, nobody else
// may read the files, and no other machine may be contacted.

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "fake_provider/fake_provider.h"
#include "life.h"
#include "program.h"
#include "run.h"
#include "tally.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

// A part of every key, which occurs nowhere else.
constexpr std::string_view kPlanted = "PLANTED";

bool write_line(const char* file, const std::string& line) {
  const Fd fd(::open(file, O_WRONLY | O_CLOEXEC));
  return fd.is_open() && write_all(fd.get(), line, file);
}

bool raise_loopback() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

// Moves this process and its children to a network namespace with only 127.0.0.1. False if the
// kernel does not allow that.
bool isolate_network() {
  const auto user = ::getuid();
  const auto group = ::getgid();
  if (::unshare(CLONE_NEWNET) != 0) {
    // Without root, a network namespace needs a user namespace.
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 ||
        !write_line("/proc/self/uid_map", cat("0 ", user, " 1")) ||
        !write_line("/proc/self/setgroups", "deny") ||
        !write_line("/proc/self/gid_map", cat("0 ", group, " 1"))) {
      return false;
    }
  }
  return raise_loopback();
}

// The number of attempts in it to reach another address.
std::int64_t count_outside_attempts() {
  // Two lines for each protocol: the names of its counters, and the counters.
  std::int64_t found = 0;
  for (const char* const table : {"/proc/net/snmp", "/proc/net/snmp6"}) {
    std::ifstream in(table);
    std::string names;
    for (std::string line; std::getline(in, line); names = line) {
      std::istringstream columns(line);
      std::string name;
      std::int64_t value = 0;
      if (line.starts_with("Ip6OutNoRoutes") && columns >> name >> value) {
        found += value;
      }
      if (!line.starts_with("Ip: ") || !names.starts_with("Ip: ")) {
        continue;
      }
      std::istringstream heads(names);
      std::string count;
      while (heads >> name && columns >> count) {
        found += name == "OutNoRoutes" ? std::stoll(count) : 0;
      }
    }
  }
  return found;
}

// Whether attempts can be counted.
bool can_count_attempts() {
  const std::int64_t before = count_outside_attempts();
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) {
    return false;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(0xC0000201);  // 192.0.2.1, which is reserved for documentation
  (void)::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return count_outside_attempts() > before;
}

// The contents of an archive, one file after the other.
std::string unpacked(const fs::path& file) {
  int fault = 0;
  const std::unique_ptr<zip_t, void (*)(zip_t*)> zip(zip_open(file.c_str(), ZIP_RDONLY, &fault),
                                                     zip_discard);
  std::string out;
  for (std::int64_t i = 0; zip != nullptr && i < zip_get_num_entries(zip.get(), 0); ++i) {
    const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> entry(
        zip_fopen_index(zip.get(), static_cast<std::uint64_t>(i), 0), zip_fclose);
    std::array<char, 4096> piece{};
    for (std::int64_t got = 1; entry != nullptr && got > 0;) {
      got = zip_fread(entry.get(), piece.data(), piece.size());
      out.append(piece.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    }
  }
  return out.empty() ? cat(kPlanted, ", for all that is known") : out;
}

class Leaks {
 public:
  Leaks(const std::string& program, bool is_isolated)
      : program_(fs::absolute(program)), is_isolated_(is_isolated) {
    auto server = fake::FakeProvider::start({.key = {}, .seed = 7});
    if (!server) {
      throw std::runtime_error(server.error().message);
    }
    server_ = *std::move(server);
    fs::create_directories(home() / ".config/reprise");
    plant(".config/reprise/config.toml",
          "env_key = \"MY_KEY\"\n[providers.anthropic]\nkey_command = \"echo sk-ant-PLANTED-6\"\n"
          "base_url = \"" +
              with_password() + "\"\n");
    plant("attached.txt", "a text\n");
  }

  Tally try_all() {
    for (const std::string& store : trial_urls("")) {
      store_ = store;
      conversation();
      scan();
      move();
      leave();
    }
    without_store();
    lost_server();
    tally_.add("commands that could be done", done_ * 4 > tally_.trials * 3 ? "" : "too few");
    return std::move(tally_);
  }

 private:
  fs::path home() const { return work_.path(); }
  void plant(const std::string& name, std::string_view text) {
    if (!replace_file(home() / name, text)) {
      throw std::runtime_error(name);
    }
    planted_.push_back(home() / name);
  }
  std::string with_password() const { return cat("http://me:PLANTED-url@", authority()); }
  std::string authority() const { return server_->url().substr(7); }

  // Runs the program with all keys, and checks all files afterwards.
  void run(const std::vector<std::string>& words) {
    Start start{.words = {program_},
                .home = home(),
                .environment = {"OPENAI_API_KEY=sk-PLANTED-1", "ANTHROPIC_API_KEY=sk-ant-PLANTED-2",
                                "MY_KEY=sk-proj-PLANTED-3", "PGPASSWORD=PLANTED-4",
                                "AWS_SECRET_ACCESS_KEY=PLANTED-5",
                                cat("OPENAI_BASE_URL=", server_->url(), "/v1")}};
    start.words.insert(start.words.end(), words.begin(), words.end());
    const Finished done = run_program(start);
    std::string what = store_;
    for (const std::string& word : words) {
      what += cat(" ", word.find(kPlanted) == std::string::npos ? word : "(a URL)");
    }
    done_ += done.code == 0 ? 1U : 0U;
    tally_.add(what, fault_after(done));
  }
  void in_store(std::vector<std::string> words) {
    words.insert(words.begin(), {"--store", store_, "--yes"});
    run(words);
  }

  std::string fault_after(const Finished& done) {
    if (done.code < 0 || done.code > 64) {
      return cat("ends with ", done.code);
    }
    if (done.shown.contains(kPlanted)) {
      const auto at = done.shown.find(kPlanted);
      return cat("shows \"", done.shown.substr(at < 60 ? 0 : at - 60, 90), "\"");
    }
    for (const auto& entry : fs::recursive_directory_iterator(home())) {
      if (std::string fault = fault_in(entry.path()); !fault.empty()) {
        return fault;
      }
    }
    const std::int64_t attempts = is_isolated_ ? count_outside_attempts() : 0;
    const bool is_new_attempt = attempts > std::exchange(attempts_, attempts);
    return is_new_attempt ? "wanted to speak to another machine" : "";
  }

  std::string fault_in(const fs::path& path) const {
    const bool is_ours = path == home() / ".config" || path == home() / ".config/reprise" ||
                         std::ranges::find(planted_, path) != planted_.end();
    struct stat status{};
    if (is_ours || ::lstat(path.c_str(), &status) != 0) {
      return "";
    }
    if ((status.st_mode & 077U) != 0 && !S_ISLNK(status.st_mode)) {
      return cat(path.native(), " can be read by others");
    }
    if (!S_ISREG(status.st_mode)) {
      return "";
    }
    const std::string bytes =
        path.extension() == ".zip" ? unpacked(path) : read_file(path).value_or("");
    return bytes.contains(kPlanted) ? cat("a key is in ", path.native()) : "";
  }

  void conversation() {
    const std::vector<std::string> provider = {"--provider", "openai-responses", "--model", "fake"};
    const auto ask = [&](std::vector<std::string> words) {
      words.insert(words.begin(), "ask");
      words.insert(words.end(), provider.begin(), provider.end());
      in_store(words);
    };
    ask({"--new", "hello"});
    ask({"-c", "--json", "-f", "attached.txt", "and this?"});
    ask({"-c", "--yes", "--verbose", "--tools", "all", "call:list_dir {}"});
    ask({"-c", "--dry-run", "what is sent?"});
    ask({"--go-on"});
    ask({"--save", "answer.md", "-c", "and then?"});
    in_store({"ask", "-c", "--provider", "openai-responses", "--model", "fake:echo_key", "who?"});
    in_store(
        {"ask", "-c", "--provider", "openai-responses", "--model", "fake:500,first=1", "and?"});
    in_store({"ask", "--new", "--provider", "anthropic", "--model", "fake", "hello"});
    in_store({"ask", "--dry-run", "--provider", "anthropic", "--model", "fake", "hello"});
    in_store({"ask", "--new", "--provider", "openai-chat", "--base-url", with_password() + "/v1",
              "--model", "fake", "hello"});
    in_store({"ask", "--dry-run", "--json", "--provider", "openai-chat", "--base-url",
              with_password() + "/v1", "--model", "fake", "hello"});
    in_store({"ask", "--new", "--provider", "openai-chat", "--base-url",
              "http://me:PLANTED-url@127.0.0.1:1/v1", "--model", "fake", "hello"});
    in_store({"chat", "--plain", "--provider", "openai-responses", "--model", "fake"});
  }

  void scan() {
    in_store({"list", "--all"});
    in_store({"list", "--all", "--json"});
    in_store({"show", "last"});
    in_store({"show", "last", "--json", "--full"});
    in_store({"info", "last"});
    in_store({"info", "last", "--json"});
    in_store({"resume", "--plain"});
    in_store({"verify"});
    in_store({"todo", "last", "add", "measure"});
    in_store({"rename", "last", "Leagues"});
    in_store({"fork", "last"});
    in_store({"doctor"});
    in_store({"doctor", "--json"});
    in_store({"config"});
    in_store({"config", "--json"});
  }

  void move() {
    const std::string name = store_.substr(0, store_.find(':'));
    in_store({"archive", "last"});
    in_store({"list", "--state", "archived"});
    in_store({"backup", cat(name, ".backup")});
    in_store({"verify", "--repair"});
    run({"--yes", "copy", store_, cat("sqlite:", name, "-copy.db")});
    run({"--yes", "copy", store_, cat("chatdir:", name, "-copy")});
    run({"--yes", "copy", store_, cat("sessions:", name, "-sessions"), "--json"});
  }

  void leave() {
    in_store({"close", "last"});
    in_store({"delete", "last"});
    in_store({"list", "--state", "trashed", "--json"});
    in_store({"restore", "last"});
    in_store({"cleanup", "--older-than", "0d", "--dry-run"});
    in_store({"cleanup", "--older-than", "0d"});
    in_store({"clear"});
    in_store({"clear", "--purge"});
  }

  void without_store() {
    store_ = "no store";
    run({"--help"});
    run({"--version"});
    run({"help", "ask"});
    run({"completions", "bash"});
    run({"config", "path"});
    run({"config", "init", "--config", (home() / "made.toml").native()});
    run({"ask", "--no-such-flag", "sk-hello"});
  }

  // An unavailable server for sessions with its password in the URL.
  void lost_server() {
    const std::string url = "postgres://me:PLANTED-password@127.0.0.1:1/sessions";
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"list"},
                                               {"show", "last", "--json"},
                                               {"doctor"},
                                               {"doctor", "--json"},
                                               {"config"},
                                               {"config", "--json"},
                                               {"verify"},
                                               {"ask", "--provider", "echo", "hello"},
                                               {"ask", "--json", "--provider", "echo", "hello"}}) {
      std::vector<std::string> all = {"--store", url};
      all.insert(all.end(), words.begin(), words.end());
      run(all);
    }
    run({"copy", "sqlite:sqlite-copy.db", url});
    run({"copy", url, "sqlite:never.db"});
    run({"copy", "spill:", url});
  }

  std::string program_;
  bool is_isolated_;
  WorkFolder work_;
  std::unique_ptr<fake::FakeProvider> server_;
  std::vector<fs::path> planted_;
  std::string store_;
  std::int64_t attempts_ = count_outside_attempts();
  std::size_t done_ = 0;
  Tally tally_;
};

}  // namespace

int run(std::vector<std::string> words) {
  if (words.size() != 1) {
    return usage("rel_leaks PROGRAM");
  }
  ::umask(0);  // private files must be created with their mode
  const bool is_isolated = isolate_network() && can_count_attempts();
  if (!is_isolated) {
    std::puts("leaks: no network of our own here, so nobody looks who is spoken to");
  }
  return report("leaks", "program", Leaks(words[0], is_isolated).try_all()) ? 0 : 1;
}

}  // namespace reprise::rel
