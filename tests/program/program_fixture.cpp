#include "program/program_fixture.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/process/process.h"
#include "reprise/open_store.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

Fd checked(int fd) {
  if (fd < 0) {
    throw std::runtime_error("no file descriptor");
  }
  return Fd(fd);
}

// The output, read in a separate thread, because the buffer of a terminal is limited.
class Written {
 public:
  explicit Written(bool is_terminal) {
    if (is_terminal) {
      int master = -1;
      int slave = -1;
      termios raw{};
      ::cfmakeraw(&raw);
      const winsize size{.ws_row = 40, .ws_col = 200, .ws_xpixel = 0, .ws_ypixel = 0};
      if (::openpty(&master, &slave, nullptr, &raw, &size) != 0) {
        throw std::runtime_error("no terminal");
      }
      in_ = Fd(slave);
      out_ = Fd(master);
    } else {
      std::array<int, 2> ends{};
      if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error("no pipe");
      }
      in_ = Fd(ends[1]);
      out_ = Fd(ends[0]);
    }
    reader_ = std::thread([this] {
      std::array<char, 4096> piece{};
      for (ssize_t got = 1; got > 0;) {
        got = ::read(out_.get(), piece.data(), piece.size());
        bytes_.append(piece.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
      }
    });
  }
  ~Written() {
    if (reader_.joinable()) {
      in_ = Fd();
      reader_.join();
    }
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  Written(Written&&) = delete;
  Written& operator=(Written&&) = delete;

  int fd() const { return in_.get(); }
  std::string bytes() {
    in_ = Fd();
    reader_.join();
    return std::move(bytes_);
  }

 private:
  Fd in_;
  Fd out_;
  std::string bytes_;
  std::thread reader_;
};

}  // namespace

std::vector<std::string> lasting_kinds() {
  std::vector<std::string> names;
  for (const StoreKind& kind : store_kinds()) {
    if (kind.location != StoreKind::Location::nowhere) {
      names.emplace_back(kind.name);
    }
  }
  return names;
}

std::vector<std::string> kinds_with_running_answers() {
  std::vector<std::string> names = lasting_kinds();
  std::erase(names, "chain");
  return names;
}

ProgramTest::ProgramTest()
    : home_(folder_.path() / "home"),
      environment_{{"HOME", home_.native()},
                   {"REPRISE_PROVIDER", "echo"},
                   {"REPRISE_LOCAL_PORTS", "none"},
                   {"LC_ALL", "C.UTF-8"},
                   {"TERM", "xterm"},
                   {"NO_COLOR", "1"},
                   {"REPRISE_PAGER", "cat"}} {
  ::signal(SIGPIPE, SIG_IGN);
  std::filesystem::create_directories(project());
  std::filesystem::current_path(project());
}

std::string ProgramTest::store_url(std::string_view kind, std::string_view name) const {
  const StoreKind* const found = find_store_kind(cat(kind, ":"));
  if (found != nullptr && found->location == StoreKind::Location::server) {
    return postgres_url(cat(folder_.path().filename().native(), "-", name));
  }
  return cat(kind, ":", (project() / name).native());
}

std::vector<std::string> ProgramTest::commands() {
  std::vector<std::string> names;
  for (const cli::CommandEntry& entry : cli::command_table()) {
    names.emplace_back(entry.name);
  }
  return names;
}

Done ProgramTest::run_with_input(const std::vector<std::string>& words, To output, int input) {
  const Fd before = checked(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  ::dup2(input, STDIN_FILENO);
  Written out(output == To::terminal);
  Written err(output == To::terminal);
  Done done;
  {
    cli::Output standard(out.fd(), "standard output");
    cli::Output error(err.fd(), "standard error");
    done.code = static_cast<int>(
        cli::run_program(words, cli::ProcessEnvironment(environment_), standard, error));
  }
  ::dup2(before.get(), STDIN_FILENO);
  done.out = out.bytes();
  done.err = err.bytes();
  return done;
}

Done ProgramTest::run(const std::vector<std::string>& words, To output) {
  const Fd nothing = checked(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return run_with_input(words, output, nothing.get());
}

Done ProgramTest::run_piped(const std::vector<std::string>& words, std::string_view input,
                            std::size_t piece) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  Fd from(ends[0]);
  std::thread writer([to = Fd(ends[1]), input, piece]() mutable {
    for (std::string_view rest = input; !rest.empty();) {
      const std::string_view next = rest.substr(0, piece);
      if (!write_all(to.get(), next, "the pipe")) {
        return;
      }
      rest.remove_prefix(next.size());
    }
  });
  Done done = run_with_input(words, To::file, from.get());
  from = Fd();  // in case the program has not read all of it
  writer.join();
  return done;
}

}  // namespace reprise::test
