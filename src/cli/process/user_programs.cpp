#include "cli/process/user_programs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <expected>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "cli/process/process.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

bool is_installed(const ProcessEnvironment& environment, std::string_view program) {
  const std::string path = environment.find("PATH").value_or("/usr/bin:/bin");
  return std::ranges::any_of(split(path, ':'), [program](std::string_view folder) {
    const fs::path file = fs::path(folder) / program;
    return ::access(file.c_str(), X_OK) == 0;
  });
}

// Ctrl-C must not end the shell before the program.
constexpr std::string_view kTraps = "trap : INT QUIT; ";

// A private temporary file, removed by the destructor.
class EditedFile {
 public:
  static Result<EditedFile> make(const fs::path& folder, const EditedText& edited) {
    std::string path = cat((folder / "reprise-XXXXXX").native(), edited.suffix);
    const Fd file(::mkstemps(path.data(), static_cast<int>(edited.suffix.size())));  // 0600
    if (!file.is_open()) {
      return std::unexpected(os_error("create", path, errno));
    }
    EditedFile out(path);
    REPRISE_TRY(write_all(file.get(), edited.text, path));
    return out;
  }
  ~EditedFile() {
    std::error_code ignored;  // it may have been removed already
    fs::remove(path_, ignored);
  }
  EditedFile(EditedFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  EditedFile& operator=(EditedFile&&) = delete;
  EditedFile(const EditedFile&) = delete;
  EditedFile& operator=(const EditedFile&) = delete;

  const fs::path& path() const { return path_; }

 private:
  explicit EditedFile(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

int wait_for_editor(pid_t child, int fd, const std::function<void()>& meanwhile) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): there is no function for this call yet.
  const Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  while (ended.is_open()) {
    std::array<pollfd, 2> watched{pollfd{ended.get(), POLLIN, 0}, pollfd{fd, POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
      break;
    }
    if (watched[0].revents != 0) {
      break;
    }
    if (watched[1].revents != 0) {
      meanwhile();
    }
  }
  return wait_for(child);
}

}  // namespace

KeyInterruptsIgnored::KeyInterruptsIgnored() {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignore, &int_before_);
  ::sigaction(SIGQUIT, &ignore, &quit_before_);
}

KeyInterruptsIgnored::~KeyInterruptsIgnored() {
  ::sigaction(SIGINT, &int_before_, nullptr);
  ::sigaction(SIGQUIT, &quit_before_, nullptr);
}

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
  // Shows colours and leaves short texts on screen, unless the user has set the variables.
  REPRISE_ASSIGN(
      const pid_t child,
      start_shell({.line = cat(kTraps, "export LESS=\"${LESS-FRX}\" LV=\"${LV--c}\"; ", command),
                   .input = reading.get()}));
  return std::unique_ptr<Pager>(new Pager(out, std::move(writing), child));
}

Pager::Pager(Output& out, Fd writing, pid_t child)
    : out_(out), writing_(std::move(writing)), child_(child) {
  out_.redirect(writing_.get());
}

Pager::~Pager() {
  // fails if the pager was closed early
  (void)out_.flush();
  out_.restore();
  writing_ = Fd();
  (void)wait_for(child_);  // quitting early is not a failure
}

Result<std::string> edit_text(const ProcessEnvironment& environment, const EditedText& edited,
                              int fd, const std::function<void()>& meanwhile) {
  const fs::path folder = environment.find("TMPDIR").value_or("/tmp");
  REPRISE_ASSIGN(const fs::path real, resolve_path(folder));
  REPRISE_ASSIGN(const EditedFile file, EditedFile::make(real, edited));
  std::string editor = environment.find("VISUAL").value_or("");
  if (editor.empty()) {
    editor = environment.find("EDITOR").value_or("vi");
  }
  const std::string path = file.path().string();
  const KeyInterruptsIgnored ignored;
  REPRISE_ASSIGN(const pid_t child,
                 start_shell({.line = cat(kTraps, editor, " \"$1\""), .argument = path}));
  const int status = wait_for_editor(child, fd, meanwhile);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(Code::io, cat("the editor '", editor, "' failed; nothing was changed"));
  }
  REPRISE_ASSIGN(std::string after, read_file(path));
  if (after.ends_with('\n')) {
    after.pop_back();
  }
  return after;
}

}  // namespace reprise::cli
