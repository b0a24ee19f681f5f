// reprise import: copies sessions of other tools into the store.

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "base/command_line.h"
#include "base/reserve.h"
#include "base/terminal_text.h"
#include "cli/commands/command.h"
#include "cli/commands/import_sources.h"
#include "cli/output/session_json.h"
#include "cli/output/table.h"
#include "cli/program/interrupts.h"
#include "cli/program/path_watch.h"
#include "cli/program/store_opener.h"
#include "cli/settings/context_file.h"
#include "cli/settings/time_value.h"
#include "engine/copy.h"
#include "reprise/sessions.h"
#include "session/import.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAuto = "auto";

constexpr std::chrono::milliseconds kPauseMin{2'000};
constexpr int kIdleFactor = 10;  // spends at most about a tenth of the time importing

// The variables on which it depends where histories, settings and the store are. Passwords are not
// among them.
std::vector<std::string> unit_variables() {
  std::vector<std::string> names = {
      "HOME",      "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "REPRISE_AUTHOR",
      "PGHOST",    "PGHOSTADDR",      "PGPORT",        "PGDATABASE",     "PGUSER",
      "PGOPTIONS", "PGSERVICE",       "PGSERVICEFILE", "PGPASSFILE",     "PGSSLMODE",
      "PGSSLCERT", "PGSSLKEY",        "PGSSLROOTCERT"};
  for (const SourceKind& kind : source_kinds()) {
    for (const SourceKind::DefaultLocation& location : kind.default_locations) {
      if (!location.variable.empty() &&
          std::ranges::find(names, location.variable) == names.end()) {
        names.emplace_back(location.variable);
      }
    }
  }
  return names;
}

// The store, unless the user's own settings name it, which the unit reads, too.
std::optional<std::string> store_of_unit(Context& context, const Settings& settings) {
  const auto origin = settings.origin.find("store");
  const bool is_users = origin != settings.origin.end() &&
                        origin->second == context.config().sources().user_file.string();
  return is_users ? std::nullopt : settings.store;
}

// systemd runs no program whose path has such characters, but passes them to one.
std::string program_of_unit(const std::string& path) {
  const bool is_safe = std::ranges::none_of(path, [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f' || c == '\'' || c == '"' || c == '\\';
  });
  return is_safe ? unit_text(path)
                 : cat("/bin/sh -c ", unit_word("exec \"$0\" \"$@\""), " ", unit_word(path));
}

// The unit runs in another folder and without this shell's variables, so it names what this run
// would use.
Result<std::string> systemd_unit(Context& context) {
  REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::string command = error ? "/usr/bin/env reprise" : program_of_unit(program.native());
  if (const auto store = store_of_unit(context, *settings)) {
    command +=
        cat(" --store ", unit_word(absolute_store_url(resolved_store_url(without_password(*store)),
                                                      context.config().working_dir())));
  }
  const ConfigSources sources = context.config().sources();
  if (sources.user_file_required) {
    command +=
        cat(" --config ", unit_word((context.config().working_dir() / sources.user_file).native()));
  }
  std::string variables;
  for (const std::string& name : unit_variables()) {
    if (const auto value = context.environment().find(name)) {
      variables += cat("Environment=", unit_text(cat(name, "=", *value)), "\n");
    }
  }
  return cat(R"(# mkdir -p ~/.config/systemd/user
# reprise import --unit > ~/.config/systemd/user/reprise-import.service
# systemctl --user enable --now reprise-import
[Unit]
Description=Import the histories of other tools into Reprise

[Service]
)",
             variables, "ExecStart=", command, context.globals().insecure ? " --insecure" : "",
             R"( import --watch --yes --quiet
Restart=on-failure
Nice=10

[Install]
WantedBy=default.target
)");
}

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t kMega = 1'000'000;
  return bytes >= kMega ? cat(bytes / kMega, " MB") : cat((bytes + 999) / 1000, " kB");
}

struct Counts {
  std::map<CopyOutcome, std::int64_t> sessions;
  std::int64_t messages = 0;
  std::int64_t failed = 0;
  std::int64_t damaged = 0;
  std::int64_t incomplete = 0;  // of the damaged ones
};

class ImportCommand final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--watch", "", "keep importing new sessions until Ctrl-C", &watch_},
                        {"--unit", "", "print a systemd user unit that runs --watch", &unit_},
                        {"-n,--dry-run", "", "show what would be imported, without importing it",
                         &dry_run_}},
            .arguments = {{"SOURCE",
                           "another tool's history: claude:, codex:FOLDER or a path; without it, "
                           "all that are found",
                           &sources_}}};
  }

  Result<Exit> run(Context& context) override {
    if (unit_ && (watch_ || dry_run_ || !sources_.empty() || context.globals().json)) {
      return context.console().usage_error("--unit cannot be used with a SOURCE or another option");
    }
    if (watch_ && dry_run_) {
      return context.console().usage_error("--watch and --dry-run cannot be used together");
    }
    if (unit_) {
      return print_unit(context);
    }
    REPRISE_TRY(context.config().check_home());
    const bool is_auto = sources_.empty() || (sources_.size() == 1 && sources_.front() == kAuto);
    std::vector<FoundSource> sources;
    std::vector<FoundSource> empty_sources;  // of tools without sessions so far
    if (is_auto) {
      sources = find_import_sources(context);
      const auto empty = std::ranges::stable_partition(
          sources, [](const FoundSource& found) { return !found.listed.sessions.empty(); });
      std::ranges::move(empty, std::back_inserter(empty_sources));
      sources.erase(empty.begin(), empty.end());
    } else {
      REPRISE_ASSIGN(sources, open_import_sources(context, sources_));
    }
    REPRISE_ASSIGN(const bool is_confirmed, show_and_confirm(context, sources, is_auto));
    REPRISE_TRY(dry_run_ ? Result<>() : note_gone_from(context, empty_sources));
    if (!is_confirmed) {
      return Exit::success;
    }
    const Interrupts interrupts;
    REPRISE_ASSIGN(const Exit exit, import_all(context, sources, interrupts));
    REPRISE_TRY(note_gone_from(context, sources));
    if (!watch_) {
      return exit;
    }
    std::ranges::move(empty_sources, std::back_inserter(sources));
    return watch_sources(context, sources, interrupts);
  }

 private:
  static Result<Exit> print_unit(Context& context) {
    REPRISE_ASSIGN(const std::string unit, systemd_unit(context));
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    context.console().out().write(unit);
    if (const auto store = store_of_unit(context, *settings);
        store && without_password(*store) != *store) {
      context.console().notice(
          "the password of the store is not in the unit: put it in ~/.pgpass, or set "
          "store_key_command in your settings");
    }
    return Exit::success;
  }

  // Shows what was found and asks where no source was named. False: there is nothing to do.
  Result<bool> show_and_confirm(Context& context, const std::vector<FoundSource>& sources,
                                bool is_auto) const {
    if (sources.empty()) {
      context.console().notice(
          "no history of another tool was found; name one: reprise import "
          "claude:FOLDER");
    }
    if (context.globals().json && (dry_run_ || sources.empty())) {
      context.console().print_json(document(sources, {}));
    } else if ((is_auto || dry_run_) && !sources.empty() && !context.globals().json) {
      print_found(context, sources);
    }
    if (dry_run_ || sources.empty()) {
      return watch_;
    }
    return is_auto ? context.console().confirm("import all of them?") : true;
  }

  // Runs until it is stopped, which is no failure. The interval depends on the time that a pass
  // takes. What fails is reported once, and tried again after the next change.
  Result<Exit> watch_sources(Context& context, std::vector<FoundSource>& sources,
                             const Interrupts& interrupts) {
    PathWatch watch;
    const auto watch_all = [&] {
      for (const FoundSource& found : sources) {
        watch.add(found.files());
      }
    };
    watch_all();
    context.console().notice("watching for changes; Ctrl-C stops");
    std::string last_error;
    for (;;) {  // the first pass covers changes before the watch began
      const auto start = std::chrono::steady_clock::now();
      for (FoundSource& found : sources) {
        list_again(context, found);
      }
      auto imported = import_all(context, sources, interrupts, Verbosity::changes);
      if (const auto noted = note_gone_from(context, sources); imported && !noted) {
        imported = std::unexpected(noted.error());
      }
      const std::string error = imported ? "" : imported.error().message;
      if (!imported && imported.error().code != Code::cancelled && error != last_error) {
        context.console().warn(error);
      }
      last_error = error;
      const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::steady_clock::now() - start);
      if (!watch.wait(std::max(kPauseMin, kIdleFactor * spent), interrupts.token())) {
        return Exit::success;
      }
      watch_all();
    }
  }

  static void print_found(Context& context, const std::vector<FoundSource>& sources) {
    const std::vector<Column> columns = {{.heading = "tool"},
                                         {.heading = "place", .flexible = true},
                                         {.heading = "sessions", .align = Alignment::right},
                                         {.heading = "messages", .align = Alignment::right},
                                         {.heading = "size", .align = Alignment::right},
                                         {.heading = "newest"}};
    std::vector<std::vector<std::string>> rows;
    rows.reserve(sources.size());
    for (const FoundSource& found : sources) {
      rows.push_back({std::string(found.kind->title),
                      terminal_line(context.config().short_path(found.path.native())),
                      std::to_string(found.listed.sessions.size()),
                      cat(found.messages(), found.has_exact_counts() ? "" : "+"),
                      size_text(found.bytes()), age_text(found.newest(), context.clock().now())});
    }
    Output& out = context.console().out();
    out.write(format_table(columns, rows, out.text_columns()));
  }

  enum class Verbosity : std::uint8_t { all, changes };

  Result<Exit> import_all(Context& context, std::vector<FoundSource>& sources,
                          const Interrupts& interrupts, Verbosity verbosity = Verbosity::all) {
    REPRISE_ASSIGN(Store* const store, context.stores().open(Access::write));
    if (!store->capabilities().messages) {
      return fail(Code::unsupported, "cannot import into this store, which holds no messages");
    }
    std::int64_t total = 0;
    for (const FoundSource& found : sources) {
      total += std::ssize(found.listed.sessions);
    }
    std::vector<Counts> counts(sources.size());
    std::int64_t done = 0;
    std::stop_source stop;  // also on a full disk
    const std::stop_callback on_interrupt(interrupts.token(), [&stop] { stop.request_stop(); });
    for (std::size_t i = 0; i < sources.size() && !stop.stop_requested(); ++i) {
      if (sources[i].source == nullptr) {
        continue;
      }
      for (const Damage& part : sources[i].listed.damage) {
        warn(context, cat("cannot read ", part.where, ": ", part.reason));
      }
      counts[i].damaged += std::ssize(sources[i].listed.damage);
      context.console().progress({"importing", done, total});
      import_sessions(
          foreign_of(sources[i]), *store,
          [&](const SessionInfo& info, const Result<ImportedSession>& imported) {
            context.console().progress({"importing", ++done, total});
            note(context, info, imported, counts[i]);
            if (!imported && is_disk_full(imported.error())) {
              stop.request_stop();
            }
          },
          stop.get_token());
    }
    if (stop.stop_requested()) {
      const bool is_interrupted = interrupts.token().stop_requested();
      return fail(
          is_interrupted ? Code::cancelled : Code::io,
          cat("stopped after ", done, " of ", counted(total, "session"),
              is_interrupted ? "" : ", as the disk is full", "; `reprise import` continues"));
    }
    context.console().end_progress();
    return end(context, sources, counts, verbosity);
  }

  static ForeignSessions foreign_of(const FoundSource& found) {
    return {.source = *found.source,
            .tool = found.kind->name,
            .sessions = found.listed.sessions,
            .place = found.path.native()};
  }

  // Of histories that were listed completely.
  static Result<> note_gone_from(Context& context, const std::vector<FoundSource>& sources) {
    for (const FoundSource& found : sources) {
      if (found.source == nullptr || !found.error.empty() || !found.listed.damage.empty()) {
        continue;
      }
      const auto store = context.stores().open_existing();
      if (!store && store.error().code == Code::not_found) {
        return {};
      }
      REPRISE_TRY(store);
      REPRISE_ASSIGN(const std::int64_t count, note_gone(foreign_of(found), **store));
      if (count > 0) {
        context.console().notice(cat(
            found.kind->title, ": ", counted(count, "session"), count == 1 ? " is" : " are",
            " gone there and kept here; `reprise list --gone` lists ", count == 1 ? "it" : "them"));
      }
    }
    return {};
  }

  // Once, if it watches: what is not imported is tried again after each change.
  void warn(Context& context, const std::string& text) {
    if (!watch_ || warned_.insert(text).second) {
      context.console().warn(text);
    }
  }

  void note(Context& context, const SessionInfo& info, const Result<ImportedSession>& imported,
            Counts& counts) {
    if (!imported) {
      ++counts.failed;
      warn(context, cat("cannot import ", session_name(info), ": ", imported.error().message));
      return;
    }
    ++counts.sessions[imported->outcome];
    counts.messages += imported->messages;
    counts.damaged += imported->damage.empty() ? 0 : 1;
    counts.incomplete += imported->is_whole ? 0 : 1;
    if (imported->outcome == CopyOutcome::conflict) {
      warn(context, cat("not imported: ", session_name(info), ": ", imported->detail));
    }
    for (const std::string& part : imported->damage) {
      warn(context, cat(session_name(info), ": ", part));
    }
  }

  static Exit end(Context& context, const std::vector<FoundSource>& sources,
                  std::vector<Counts>& counts, Verbosity verbosity) {
    const bool has_changes = std::ranges::any_of(
        counts, [](const Counts& count) { return count.messages > 0 || count.failed > 0; });
    if (verbosity == Verbosity::changes && !has_changes) {
      return Exit::success;
    }
    if (context.globals().json) {
      context.console().print_json(document(sources, counts));
    }
    Exit exit = Exit::success;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (verbosity == Verbosity::changes && counts[i].messages == 0 && counts[i].failed == 0) {
        continue;
      }
      auto& outcomes = counts[i].sessions;
      const std::int64_t forks = outcomes[CopyOutcome::forked];
      const std::int64_t conflicts = outcomes[CopyOutcome::conflict];
      context.console().notice(
          cat(sources[i].kind->title, ": ", outcomes[CopyOutcome::copied], " new, ",
              outcomes[CopyOutcome::continued], " continued, ", outcomes[CopyOutcome::unchanged],
              " unchanged, ", forks > 0 ? cat(forks, " as forks, ") : "",
              conflicts > 0 ? cat(conflicts, " in conflict, ") : "", counts[i].failed, " failed; ",
              counted(counts[i].messages, "message")));
      const bool is_complete = counts[i].failed == 0 && conflicts == 0 &&
                               counts[i].incomplete == 0 && sources[i].listed.damage.empty();
      exit = is_complete ? exit : Exit::failed;
    }
    return exit;
  }

  static std::string document(const std::vector<FoundSource>& sources,
                              const std::vector<Counts>& counts) {
    std::string out = "{\"sources\":";
    json::ArrayWriter array(out);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      array.item();
      json::ObjectWriter object(out);
      object.field("tool", sources[i].kind->name)
          .field("place", sources[i].path.native())
          .field("sessions", static_cast<std::int64_t>(sources[i].listed.sessions.size()))
          .field("messages", sources[i].messages())
          .field("bytes", sources[i].bytes());
      const Time newest = sources[i].newest();
      object.text_or_null("newest_at", newest == Time{} ? "" : format_time(newest));
      if (i < counts.size()) {
        for (const auto& [outcome, count] : counts[i].sessions) {
          object.field(to_string(outcome), count);
        }
        object.field("failed", counts[i].failed)
            .field("damaged", counts[i].damaged)
            .field("messages_added", counts[i].messages);
      }
      object.close();
    }
    array.close();
    return out + "}";
  }

  std::vector<std::string> sources_;
  bool dry_run_ = false;
  bool watch_ = false;
  bool unit_ = false;
  std::set<std::string> warned_;
};

}  // namespace

std::unique_ptr<Command> make_import() {
  return std::make_unique<ImportCommand>();
}

}  // namespace reprise::cli
