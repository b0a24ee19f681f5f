#include "cli/output/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace reprise::cli {
namespace {

bool is_installed(const ProcessEnvironment& environment, std::string_view program) {
  const std::string path = environment.find("PATH").value_or("/usr/bin:/bin");
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::filesystem::path file = std::filesystem::path(rest.substr(0, colon)) / program;
    if (::access(file.c_str(), X_OK) == 0) {
      return true;
    }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return false;
}

[[noreturn]] void run(const std::string& command, int input) {
  (void)::signal(SIGINT, SIG_DFL);
  (void)::signal(SIGPIPE, SIG_DFL);
  // Shows colours and leaves short texts on screen, unless the user has set the variables. The
  // child has one thread.
  ::setenv("LESS", "FRX", 0);  // NOLINT(concurrency-mt-unsafe)
  ::setenv("LV", "-c", 0);     // NOLINT(concurrency-mt-unsafe)
  if (::dup2(input, STDIN_FILENO) >= 0) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the variable may name options.
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  }
  ::_exit(127);
}

}  // namespace

std::string pager_command(const ProcessEnvironment& environment) {
  for (const std::string_view variable : {"REPRISE_PAGER", "PAGER"}) {
    if (const auto command = environment.find(variable)) {
      return *command == "cat" ? "" : *command;
    }
  }
  return is_installed(environment, "less") ? "less -R" : "";
}

Result<std::unique_ptr<Pager>> Pager::start(Output& out, const std::string& command) {
  REPRISE_TRY(out.flush());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::unexpected(os_error("start", command, errno));
  }
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return std::unexpected(os_error("start", command, errno));
  }
  if (child == 0) {
    run(command, reading.get());
  }
  return std::unique_ptr<Pager>(new Pager(out, std::move(writing), child));
}

Pager::Pager(Output& out, Fd writing, pid_t child)
    : out_(out), writing_(std::move(writing)), child_(child) {
  (void)::signal(SIGINT, SIG_IGN);
  out_.redirect(writing_.get());
}

Pager::~Pager() {
  // fails if the pager was closed early
  (void)out_.flush();
  out_.restore();
  writing_ = Fd();
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  (void)::signal(SIGINT, SIG_DFL);
}

}  // namespace reprise::cli
