// What doctor finds out about the store.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/command_line.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands/doctor.h"
#include "cli/program/store_opener.h"
#include "cli/settings/program_config.h"
#include "reprise/open_store.h"
#include "session/outbox.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMiB = 1 << 20;
constexpr std::uintmax_t kFreeMin = 16 * kMiB;  // with less, a turn may not be stored
constexpr std::uintmax_t kFreeLittle = 256 * kMiB;
constexpr std::size_t kProbeBytes = 64 << 10;
// In stores that list page by page, the first page is counted.
constexpr std::size_t kCountedMax = kPageMax;

// The folder, or its nearest existing parent.
fs::path existing_folder(fs::path folder) {
  std::error_code none;
  while (!fs::is_directory(folder, none) && folder.has_parent_path() &&
         folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

// What to do about a file or folder that cannot be written.
std::string write_advice(Context& context, const fs::path& path, int os_errno) {
  const std::string home = context.environment().find("HOME").value_or("");
  std::error_code none;
  if (fs::path(home).native().starts_with(path.native()) && !fs::is_directory(home, none)) {
    return cat("the home folder ", home,
               " does not exist: set HOME or XDG_DATA_HOME, or use --store");
  }
  const std::string first = os_errno == EROFS    ? "remount its file system writable"
                            : os_errno == ENOSPC ? "free some space"
                                                 : cat("make ", path.string(), " writable");
  return cat(first, ", or name another store with --store");
}

// What `reprise store migrate` would do.
void check_tables(Findings& findings, Context& context) {
  const auto target = context.stores().target();
  if (!target) {
    return;
  }
  std::int64_t steps = 0;
  const auto tried = migrate_store(target->url, target->options,
                                   {.dry_run = true, .on_step = [&](auto) { ++steps; }});
  if (tried) {
    findings.add(
        "store_tables", steps == 0 ? "up to date" : cat(counted(steps, "change"), " outstanding"),
        steps == 0 ? "" : cat("their owner runs: ", context.config().program(), " store migrate"));
  }
}

// Sessions on this machine that could not be saved to a server.
void check_outbox(Findings& findings, Context& context, const std::string& url) {
  const auto count = count_outbox_sessions(context.config().outbox_folder(), url);
  if (!count) {
    findings.add_problem("spilled", count.error().message, "check the path and its permissions");
  } else if (*count > 0) {
    findings.add("spilled", counted(static_cast<std::int64_t>(*count), "session"),
                 shell_command({"copy", "spill:", url}));
  }
}

// What to do about an unreadable part of the store.
std::string repair_advice(Context& context) {
  return cat("`", context.config().program(), " verify --repair` recovers what can be read");
}

std::string advice_for(Context& context, const Error& error) {
  const auto settings = context.config().settings();
  if (settings && is_on_a_server(context.config().store_url(**settings))) {
    return error.code == Code::unauthorized
               ? "check the role, its password and its rights on the server"
               : "check that the server is running and can be reached from here, and what its log "
                 "says";
  }
  return error.code == Code::corrupt ? repair_advice(context)
                                     : "check the path, its permissions and which program uses it";
}

// What a test of writing finds is called.
struct WriteCheck {
  std::string_view name = "write";
  std::string_view space = "space";
  std::string_view done = "wrote and synced a file in ";
  std::string_view full = "free some space: turns cannot be stored";
};
// On this machine, if the store is on a server.
constexpr WriteCheck kSpillCheck = {
    .name = "spill_write",
    .space = "spill_space",
    .done = "what the server does not store can be kept in ",
    .full = "free some space: what the server does not store is lost"};

// Tests writing: creates, syncs and removes a file.
void check_writable(Findings& findings, Context& context, const fs::path& target,
                    const WriteCheck& check = {}) {
  const fs::path folder = existing_folder(target);
  const auto resolved = resolve_path(folder);
  const auto probe =
      resolved ? PreparedFile::write(*resolved / "reprise-doctor", std::string(kProbeBytes, '.'))
               : Result<PreparedFile>(std::unexpected(resolved.error()));
  if (!probe) {
    const Error& error = probe.error();
    findings.add_problem(
        check.name,
        error.os_errno == 0 ? error.message : os_error("write to", folder, error.os_errno).message,
        write_advice(context, folder, error.os_errno));
  } else {
    findings.add(check.name, cat(check.done, folder.string()));
  }
  std::error_code error;
  const auto space = fs::space(folder, error);
  if (error) {
    return;
  }
  const std::uintmax_t mib = space.available / kMiB;
  const std::string available =
      cat(mib < 10'000 ? cat(mib, " MiB") : cat(mib / 1024, " GiB"), " free in ", folder.string());
  if (space.available < kFreeMin) {
    findings.add_problem(check.space, available, std::string(check.full));
  } else {
    findings.add(check.space, available,
                 space.available < kFreeLittle ? "free some space soon" : "");
  }
}

void check_store_file(Findings& findings, Context& context, const fs::path& path,
                      const StoreKind& kind) {
  std::error_code error;
  const bool is_file = kind.location == StoreKind::Location::file;
  if (fs::exists(path, error)) {
    check_private_mode(findings, "store_mode", path);
    const auto size = is_file ? fs::file_size(path, error) : 0;
    if (is_file && !error) {
      findings.add("store_bytes", std::to_string(size));
    }
    if (::access(path.c_str(), is_file ? R_OK | W_OK : R_OK | W_OK | X_OK) != 0) {
      const int os_errno = errno;
      findings.add_problem("store_access", os_error("write", path, os_errno).message,
                           os_errno == EACCES
                               ? cat("chmod u+rw", is_file ? " " : "x ", path.string())
                               : write_advice(context, path, os_errno));
    }
  } else if (error) {
    findings.add_problem("store_access", os_error("access", path, error.value()).message,
                         "check the path and its permissions");
  }
  check_writable(findings, context, is_file ? path.parent_path() : path);
}

void count_sessions(Context& context, Findings& findings, Store& store) {
  SessionQuery query;
  query.limit = largest_page(store);
  std::size_t count = 0;
  do {
    auto page = store.list(query);
    if (!page) {
      findings.add_problem("store_error", page.error().message, advice_for(context, page.error()));
      return;
    }
    for (const Damage& part : page->damage) {
      findings.add_problem("damage", cat(part.where, ": ", part.reason),
                           store.capabilities().repair != nullptr
                               ? repair_advice(context)
                               : cat("run `", context.config().program(), " verify` for details"));
    }
    count += page->sessions.size();
    query.after = page->next;
  } while (!query.after.empty() && count < kCountedMax);
  findings.add("sessions", cat(count, query.after.empty() ? "" : " or more"));
}

}  // namespace

void check_private_mode(Findings& findings, std::string_view name, const fs::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) == 0 && (status.st_mode & 0077U) != 0) {
    findings.add(name, cat(file.string(), " can be read or written by others"),
                 cat("chmod go= ", file.string()));
  }
}

void check_store(Context& context, const std::string& url, Findings& findings) {
  findings.add("store", url);
  const StoreKind* const kind = find_store_kind(url);
  const bool has_path = kind != nullptr && (kind->location == StoreKind::Location::file ||
                                            kind->location == StoreKind::Location::folder);
  if (has_path) {
    check_store_file(findings, context, context.config().path_named(store_path(url).value_or("")),
                     *kind);
  }
  // The outbox: messages that a server did not accept.
  if (kind != nullptr && kind->location == StoreKind::Location::server) {
    check_writable(findings, context, context.config().outbox_folder(), kSpillCheck);
  }
  const auto opened = context.stores().open(Access::read);
  if (!opened && opened.error().code == Code::not_found) {
    findings.add("sessions", "0");
  } else if (!opened) {
    findings.add_problem("store_error", opened.error().message,
                         advice_for(context, opened.error()));
  } else {
    count_sessions(context, findings, **opened);
    if (kind != nullptr && kind->location == StoreKind::Location::server) {
      check_tables(findings, context);
    }
  }
  check_outbox(findings, context, url);
  const StoreCounts counts = context.stores().watch().statistics().counts();
  findings.add("store_calls", statistics_line(counts));
}

}  // namespace reprise::cli
