#include "cli/settings/provider_key.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <ranges>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/http.h"
#include "base/spawn.h"
#include "base/text.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kKeyBytesMax = 16 << 10;
constexpr int kOutputPollMs = 50;  // polling interval of the stop token and of the shell's end
constexpr int kEndPollMs = 2;      // likewise, once the output has ended

// A configured key and the server that it belongs to.
struct SetKey {
  const ProviderSettings* settings;
  std::string url;    // "" if neither a provider nor a server is beside it
  std::string where;  // "[providers.x]", or the file
};

bool has_key(const ProviderSettings& settings) {
  return settings.env_key || settings.key_command;
}

// openai-chat and openai-responses, for example, share keys.
bool shares_keys(const NamedProvider& a, const NamedProvider& b) {
  return a.kind->key_variable == b.kind->key_variable;
}

std::string server_of_key(const ProviderSettings& key, const NamedProvider& provider) {
  return key.key_url.empty() ? provider.default_url : key.key_url;
}

// Whether the request goes to the server of a provider with a name of its own.
bool goes_to_own_server(const Settings& settings, const NamedProvider& provider,
                        const std::string& url) {
  if (provider.is_kind()) {
    return false;
  }
  const auto section = settings.providers.find(provider.name);
  return http::is_same_server(section == settings.providers.end()
                                  ? provider.default_url
                                  : section->second.base_url.value_or(provider.default_url),
                              url);
}

// The provider's section, then the tops of the files, then all other sections, unless the request
// goes to the provider's own server: another section may be somebody else's account there.
std::vector<SetKey> set_keys(const Settings& settings, const NamedProvider& provider,
                             const std::string& url) {
  std::vector<SetKey> keys;
  std::vector<SetKey> others;
  for (const auto& [name, section] : settings.providers) {
    const auto named = find_provider(settings, name);
    if (has_key(section) && named && shares_keys(*named, provider)) {
      auto& list = named->name == provider.name ? keys : others;
      list.push_back({&section, server_of_key(section, *named), cat("[providers.", name, "]")});
    }
  }
  for (const TopSettings& top : settings.tops | std::views::reverse) {
    if (!has_key(top.own)) {
      continue;
    }
    const auto named = top.provider ? find_provider(settings, *top.provider) : std::nullopt;
    if (!top.provider) {
      keys.push_back({&top.own, top.own.key_url, top.from});
    } else if (named && shares_keys(*named, provider)) {
      keys.push_back({&top.own, server_of_key(top.own, *named), top.from});
    }
  }
  if (!goes_to_own_server(settings, provider, url)) {
    keys.insert(keys.end(), others.begin(), others.end());
  }
  return keys;
}

std::string description(const SetKey& set) {
  const std::string name =
      cat(set.settings->env_key ? "env_key" : "key_command", " of ", set.where);
  return set.url.empty()
             ? cat(name, " is set without a provider: set provider or base_url in the same place")
             : cat(name, " belongs to ", http::host_of(set.url));
}

// The provider's default variable may be unset, as a server may need no key.
Result<std::string> read_key(const ProcessEnvironment& environment,
                             const ProviderSettings& settings, const NamedProvider& provider) {
  if (!settings.env_key) {
    return run_key_command(settings.key_command.value_or(""));
  }
  if (auto key = environment.find(*settings.env_key)) {
    return *std::move(key);
  }
  if (settings.env_key == provider.key_variable) {
    return "";
  }
  return fail(Code::unauthorized,
              cat("no key: the variable ", *settings.env_key,
                  " named by env_key is not set: export ", *settings.env_key, "=…"));
}

// The shell of a key command. The destructor kills it, or its process group if it leads one, unless
// it has ended.
class KeyShell {
 public:
  KeyShell(pid_t pid, bool is_group_leader) : pid_(pid), is_group_leader_(is_group_leader) {}
  ~KeyShell() {
    if (!status_) {
      ::kill(is_group_leader_ ? -pid_ : pid_, SIGKILL);
      (void)wait_for(pid_);  // it was killed
    }
  }
  KeyShell(const KeyShell&) = delete;
  KeyShell& operator=(const KeyShell&) = delete;

  bool has_ended() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) != 0) {
      status_ = status;
    }
    return status_.has_value();
  }
  // 0 while it is running, or if SIGCHLD is ignored.
  int status() const { return status_.value_or(0); }

 private:
  pid_t pid_;
  bool is_group_leader_;
  std::optional<int> status_;
};

// What the shell writes until it ends; a process that it leaves behind may have the pipe open
// longer. Stops after kKeyBytesMax bytes.
Result<std::string> read_output(KeyShell& shell, int fd, const std::stop_token& stop,
                                std::string_view setting) {
  std::string out;
  bool is_open = true;
  while (out.size() <= kKeyBytesMax) {
    if (stop.stop_requested()) {
      return fail(Code::cancelled, cat(setting, " was stopped"));
    }
    const bool has_ended = shell.has_ended();
    pollfd wait{.fd = is_open ? fd : -1, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, has_ended ? 0 : is_open ? kOutputPollMs : kEndPollMs);
    if (ready > 0) {
      std::array<char, 4096> piece{};
      const ssize_t count = ::read(fd, piece.data(), piece.size());
      is_open = count > 0 || (count < 0 && errno == EINTR);
      out.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    } else if (ready == 0 && has_ended) {
      break;
    }
  }
  return out;
}

struct Variable {
  std::string name;
  std::string url;  // the server that the key is for
};

std::vector<Variable> key_variables(const ProcessEnvironment& environment,
                                    const NamedProvider& provider, const std::string& url) {
  std::vector<Variable> out;
  if (!provider.is_kind()) {
    out.push_back({provider.key_variable, provider.default_url});
  }
  if (const auto known = find_provider_at(*provider.kind, url)) {
    out.push_back({known->key_variable, known->default_url});
  }
  const std::string base(provider.kind->url_variable);
  out.push_back({std::string(provider.kind->key_variable),
                 environment.find(base).value_or(std::string(provider.kind->default_url))});
  return out;
}

}  // namespace

Result<FoundKey> find_key(const ProcessEnvironment& environment, const Settings& settings,
                          const NamedProvider& provider, const std::string& url) {
  FoundKey found;
  const auto note = [&found](std::string_view text) {
    found.hint += cat(found.hint.empty() ? "" : ", ", text);
  };
  for (const SetKey& set : set_keys(settings, provider, url)) {
    if (http::is_same_server(set.url, url)) {
      REPRISE_ASSIGN(found.key, read_key(environment, *set.settings, provider));
      found.name = set.settings->env_key ? *set.settings->env_key : "the output of key_command";
      return found;
    }
    note(description(set));
  }
  for (const Variable& variable : key_variables(environment, provider, url)) {
    auto key = variable.name.empty() ? std::nullopt : environment.find(variable.name);
    if (!key) {
      continue;
    }
    if (http::is_same_server(variable.url, url)) {
      found.key = *std::move(key);
      found.name = variable.name;
      return found;
    }
    note(cat(variable.name, " belongs to ", http::host_of(variable.url)));
  }
  return found;
}

bool is_safe_for_secrets(std::string_view url) {
  return !ascii_lower(url).starts_with("http://") || http::is_local_url(http::server_of(url));
}

Result<std::string> run_key_command(const std::string& command, std::string_view setting) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(Code::io, cat("cannot start ", setting), errno);
  }
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  const std::stop_token stop = interrupt_token();
  // The command may ask on the terminal, so it leaves the foreground process group only if there is
  // none; and only if a stop request will kill it, as the signals of this group do not reach it.
  const bool has_group =
      stop.stop_possible() && !Fd(::open("/dev/tty", O_RDWR | O_CLOEXEC)).is_open();
  REPRISE_ASSIGN(
      const pid_t pid,
      start_shell({.line = command, .output = writing.get(), .is_group_leader = has_group}));
  KeyShell shell(pid, has_group);
  writing = Fd();
  REPRISE_ASSIGN(const std::string out, read_output(shell, reading.get(), stop, setting));
  const bool is_read = out.size() <= kKeyBytesMax;
  if (const int status = shell.status(); is_read && status > 0) {
    return fail(Code::unauthorized, cat(setting, " ended with ",
                                        WIFEXITED(status) ? cat("exit code ", WEXITSTATUS(status))
                                                          : cat("signal ", WTERMSIG(status)),
                                        "; run it in a shell to see why"));
  }
  std::string key(trimmed(out));
  if (key.empty() || !is_read || key.contains('\n')) {
    return fail(Code::unauthorized,
                cat(setting, " must print the key as one line, and nothing else"));
  }
  return key;
}

}  // namespace reprise::cli
