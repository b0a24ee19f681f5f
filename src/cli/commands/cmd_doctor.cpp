// reprise doctor: tests what a turn needs, and suggests a command for each problem.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <set>
#include <system_error>

#include "base/dynamic_library.h"
#include "base/file.h"
#include "base/http.h"
#include "base/json_write.h"
#include "base/terminal_text.h"
#include "cli/commands/help_text.h"
#include "cli/program/search_files.h"
#include "cli/program/store_opener.h"
#include "cli/provider/provider_server.h"
#include "cli/provider/request_choice.h"
#include "cli/settings/config.h"
#include "cli/settings/provider_names.h"
#include "session/outbox.h"
#include "store/sqlite/library.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kDoctorsServerTimeout{500};
constexpr std::chrono::milliseconds kDoctorsModelsTimeout{5'000};
constexpr std::uintmax_t kMiB = 1 << 20;
constexpr std::uintmax_t kFreeMin = 16 * kMiB;  // with less, a turn may not be stored
constexpr std::uintmax_t kFreeLittle = 256 * kMiB;
constexpr std::size_t kProbeBytes = 64 << 10;
// In stores that list page by page, the first page is counted.
constexpr std::size_t kCountedMax = kPageMax;

struct Finding {
  std::string_view name;  // in the JSON document
  std::string value;
  std::string fix = {};  // a command that helps; "" if there is no problem
  bool is_ok = true;     // false: a turn would not be stored or answered
};

std::string library_state(std::string_view title, std::initializer_list<const char*> names) {
  return DynamicLibrary::load(title, names) ? "found" : "missing";
}

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
std::string write_advice(const fs::path& path, int os_errno) {
  const std::string first = os_errno == EROFS    ? "remount its file system writable"
                            : os_errno == ENOSPC ? "free some space"
                                                 : cat("make ", path.string(), " writable");
  return cat(first, ", or name another store with --store");
}

class Doctor final : public Command {
 public:
  ArgumentTable arguments() override { return {}; }

  Result<Exit> run(Context& context) override {
    versions(context);
    home(context);
    const Settings* const settings = configuration(context);
    if (settings != nullptr) {
      store(context, context.config().store_url(*settings));
    }
    for (const std::string& url : find_stores_around(context)) {
      add("found_store", url);
    }
    histories(context);
    if (settings != nullptr) {
      providers(context, *settings);
    }
    libraries();
    terminal(context);
    if (context.globals().json) {
      context.console().print_json(document());
    } else {
      print(context);
    }
    const auto problems =
        std::ranges::count_if(findings_, [](const Finding& finding) { return !finding.is_ok; });
    if (problems == 0) {
      return Exit::success;
    }
    context.console().warn(cat(counted(problems, "problem"), " that would keep a turn from being ",
                               "stored or answered"));
    return Exit::failed;
  }

 private:
  void add(std::string_view name, std::string value, std::string fix = {}) {
    findings_.push_back({name, std::move(value), std::move(fix)});
  }
  void add_problem(std::string_view name, std::string value, std::string fix) {
    findings_.push_back({name, std::move(value), std::move(fix), false});
  }

  // The fault concerns only those who open a store with another program, so it is a detail.
  void versions(Context& context) {
    add("version", std::string(trimmed(version_line())));
    add("sqlite", std::string(sqlite::version()),
        context.globals().verbose && sqlite::has_wal_reset_fault()
            ? "SQLite before 3.51.3 can damage a store that several programs write to; Reprise's "
              "processes take turns, so let no other program write to it"
            : "");
  }

  void home(Context& context) {
    if (const auto known = context.config().check_home(); !known) {
      add_problem("home", known.error().message, "export HOME=/path/to/your/home");
    } else {
      add("home", context.environment().find("HOME").value_or("not set"));
    }
  }

  // Parses each file separately, so that an error in one does not hide errors in another. Null if
  // the settings are invalid.
  const Settings* configuration(Context& context) {
    const ConfigSources sources = context.config().sources();
    const auto kind = kind_of_target(sources.user_file);
    const bool has_user_file = kind != FileKind::none;
    add("config", cat(sources.user_file.string(), has_user_file ? "" : " (no such file)"));
    if (has_user_file) {
      private_mode("config_mode", sources.user_file);
    }
    parse({.user_file = sources.user_file,
           .user_file_required = sources.user_file_required,
           .project_from = "/"},
          context);
    if (const auto project = find_project_file(sources.project_from);
        project && !project->empty()) {
      add("project_config", project->string());
      parse({.user_file = {}, .project_from = sources.project_from}, context);
    }
    const auto settings = context.config().settings();
    if (!settings && std::ranges::none_of(findings_, [](const Finding& finding) {
          return !finding.is_ok;
        })) {  // the error is in a file of the store, or in the environment
      add_problem("config_error", settings.error().message,
                  "`reprise config path` names the files");
    }
    return settings ? *settings : nullptr;
  }

  void parse(const ConfigSources& sources, Context& context) {
    if (const auto loaded = load_settings(sources, context.environment()); !loaded) {
      add_problem("config_error", loaded.error().message,
                  "correct the file; `reprise config show` lists the settings in use");
    }
  }

  // Only the owner should be able to read the file.
  void private_mode(std::string_view name, const fs::path& file) {
    struct stat status{};
    if (::stat(file.c_str(), &status) == 0 && (status.st_mode & 0077U) != 0) {
      add(name, cat(file.string(), " can be read or written by others"),
          cat("chmod go= ", file.string()));
    }
  }

  // What `reprise store migrate` would do.
  void tables(Context& context) {
    const auto target = context.stores().target();
    if (!target) {
      return;
    }
    std::int64_t steps = 0;
    const auto tried = migrate_store(target->url, target->options,
                                     {.dry_run = true, .on_step = [&](auto) { ++steps; }});
    if (tried) {
      add("store_tables", steps == 0 ? "up to date" : cat(counted(steps, "change"), " outstanding"),
          steps == 0 ? "" : "their owner runs: reprise store migrate");
    }
  }

  void store(Context& context, const std::string& url) {
    add("store", url);
    const StoreKind* const kind = find_store_kind(url);
    const bool has_path = kind != nullptr && (kind->location == StoreKind::Location::file ||
                                              kind->location == StoreKind::Location::folder);
    if (has_path) {
      store_file(context.config().path_named(store_path(url).value_or("")), *kind);
    }
    // The outbox: messages that a server did not accept.
    if (kind != nullptr && kind->location == StoreKind::Location::server) {
      writable(context.config().outbox_folder());
    }
    const auto opened = context.stores().open(Access::read);
    if (!opened && opened.error().code == Code::not_found) {
      add("sessions", "0");
    } else if (!opened) {
      add_problem("store_error", opened.error().message, repair_of(opened.error()));
    } else {
      count_sessions(**opened);
      if (kind != nullptr && kind->location == StoreKind::Location::server) {
        tables(context);
      }
    }
    check_outbox(context, url);
    const StoreCounts counts = context.stores().watch().statistics().counts();
    add("store_calls", statistics_line(counts));
  }

  // Sessions on this machine that could not be saved to a server.
  void check_outbox(Context& context, const std::string& url) {
    const auto count = count_outbox_sessions(context.config().outbox_folder(), url);
    if (!count) {
      add_problem("spilled", count.error().message, "check the path and its permissions");
    } else if (*count > 0) {
      add("spilled", counted(static_cast<std::int64_t>(*count), "session"),
          cat("reprise copy spill: '", url, "'"));
    }
  }

  static std::string repair_of(const Error& error) {
    return error.code == Code::corrupt
               ? "`reprise verify --repair` recovers what can be read"
               : "check the path, its permissions and which program uses it";
  }

  void store_file(const fs::path& path, const StoreKind& kind) {
    std::error_code error;
    const bool is_file = kind.location == StoreKind::Location::file;
    if (fs::exists(path, error)) {
      private_mode("store_mode", path);
      const auto size = is_file ? fs::file_size(path, error) : 0;
      if (is_file && !error) {
        add("store_bytes", std::to_string(size));
      }
      if (::access(path.c_str(), is_file ? R_OK | W_OK : R_OK | W_OK | X_OK) != 0) {
        const int os_errno = errno;
        add_problem("store_access", os_error("write", path, os_errno).message,
                    os_errno == EACCES ? cat("chmod u+rw", is_file ? " " : "x ", path.string())
                                       : write_advice(path, os_errno));
      }
    } else if (error) {
      add_problem("store_access", os_error("access", path, error.value()).message,
                  "check the path and its permissions");
    }
    writable(is_file ? path.parent_path() : path);
  }

  // Tests writing: creates, syncs and removes a file.
  void writable(const fs::path& target) {
    const fs::path folder = existing_folder(target);
    const auto resolved = resolve_path(folder);
    const auto probe =
        resolved ? PreparedFile::write(*resolved / "reprise-doctor", std::string(kProbeBytes, '.'))
                 : Result<PreparedFile>(std::unexpected(resolved.error()));
    if (!probe) {
      const Error& error = probe.error();
      add_problem("write",
                  error.os_errno == 0 ? error.message
                                      : os_error("write to", folder, error.os_errno).message,
                  write_advice(folder, error.os_errno));
    } else {
      add("write", cat("wrote and synced a file in ", folder.string()));
    }
    std::error_code error;
    const auto space = fs::space(folder, error);
    if (error) {
      return;
    }
    const std::uintmax_t mib = space.available / kMiB;
    const std::string available = cat(mib < 10'000 ? cat(mib, " MiB") : cat(mib / 1024, " GiB"),
                                      " free in ", folder.string());
    if (space.available < kFreeMin) {
      add_problem("space", available, "free some space: turns cannot be stored");
    } else {
      add("space", available, space.available < kFreeLittle ? "free some space soon" : "");
    }
  }

  void count_sessions(Store& store) {
    SessionQuery query;
    query.limit = largest_page(store);
    std::size_t count = 0;
    do {
      auto page = store.list(query);
      if (!page) {
        add_problem("store_error", page.error().message, repair_of(page.error()));
        return;
      }
      for (const Damage& part : page->damage) {
        add_problem("damage", cat(part.where, ": ", part.reason),
                    store.capabilities().repair != nullptr
                        ? "`reprise verify --repair` recovers what can be read"
                        : "run `reprise verify` for details");
      }
      count += page->sessions.size();
      query.after = page->next;
    } while (!query.after.empty() && count < kCountedMax);
    add("sessions", cat(count, query.after.empty() ? "" : " or more"));
  }

  void providers(Context& context, const Settings& settings) {
    std::set<std::string_view> variables;
    for (const ProviderKind& kind : provider_kinds()) {
      const std::string_view name = kind.key_variable;
      if (!name.empty() && variables.insert(name).second) {
        add(name, context.environment().find(name) ? "set" : "not set");
      }
    }
    const std::vector<LocalServer> servers = local_servers(context, kDoctorsServerTimeout);
    for (const LocalServer& server : servers) {
      add("local_server", cat(server.name, " at ", server.base_url, ", ",
                              counted(std::ssize(server.models), "model")));
    }
    const auto expected = expected_provider(context);
    if (!expected) {
      add_problem("provider_error", expected.error().message, "`reprise setup` sets one");
      return;
    }
    if (expected->name.empty() && servers.empty()) {
      add_problem("no_provider", "no provider is set, and no local server answers",
                  cat("`reprise setup` sets one; or export ", key_variables(" or "),
                      ", start a local server such as Ollama, or try `--provider echo`"));
      return;
    }
    if (!expected->name.empty()) {
      describe(*expected);
    }
    ask_provider(context, settings);
  }

  void describe(const ProviderChoice& choice) {
    const ProviderKind& kind = *find_provider_kind(choice.name);
    const std::string& url = choice.options.base_url;
    add("provider", cat(choice.name, url.empty() ? "" : cat(" at ", http::masked_url(url))));
    if (choice.model.empty()) {
      add("model", "none is set; the server is asked for one");
    } else if (choice.model != kind.default_model || kind.as_of.empty()) {
      add("model", choice.model);
    } else {
      add("model", cat(choice.model, ", the default, current on ", kind.as_of));
    }
    model_ = choice.model;
  }

  // Like a turn: reads the key, and asks the server for its models.
  void ask_provider(Context& context, const Settings& settings) {
    RunFlags flags;
    flags.model = "";  // no model is needed
    auto choice = choose_provider(context, flags, nullptr);
    if (!choice) {
      add_problem("provider_error", choice.error().message,
                  "`reprise setup` sets the provider and its key");
      return;
    }
    if (find_provider_kind(choice->name)->default_url.empty()) {
      return;  // built in
    }
    add("key", choice->options.api_key.empty() ? "none is sent" : "found");
    if (const auto request = choose_request(context, flags, settings, *choice); !request) {
      add_problem("provider_error", request.error().message,
                  "`reprise config show` names the file");
      return;
    }
    const auto provider = make_provider(choice->name, choice->options);
    const auto models = provider
                            ? (*provider)->models(kDoctorsModelsTimeout, std::stop_token())
                            : Result<std::vector<ModelInfo>>(std::unexpected(provider.error()));
    if (!models && models.error().code == Code::unsupported) {
      add("models", models.error().message);
    } else if (!models) {
      add_problem("provider_error", models.error().message,
                  models.error().code == Code::unauthorized
                      ? "`reprise setup` sets the key"
                      : "`reprise models` tries again; `reprise setup` sets another provider");
    } else {
      offered(*models);
    }
  }

  void offered(const std::vector<ModelInfo>& models) {
    const bool has_model =
        model_.empty() || std::ranges::find(models, model_, &ModelInfo::id) != models.end();
    add("models", counted(std::ssize(models), "model"),
        has_model ? "" : cat(model_, " is not among them: `reprise models` lists them"));
  }

  // Other tools' histories that can be imported.
  void histories(Context& context) {
    for (const SourceKind& kind : source_kinds()) {
      const auto path = default_location(
          kind, [&](std::string_view name) { return context.environment().find(name); });
      std::error_code none;
      if (path && fs::exists(*path, none)) {
        add("found_history", cat(kind.name, ": (", kind.title, ", ",
                                 context.config().short_path(path->native()), ")"));
      }
    }
  }

  void libraries() {
    const std::string curl = library_state("libcurl", kCurlFiles);
    add("libcurl", curl, curl == "found" ? "" : "install libcurl4 to reach providers");
    const std::string crypto = library_state("libcrypto", kCryptoFiles);
    add("libcrypto", crypto, crypto == "found" ? "" : "install libssl3 to store images");
    const std::string edit = library_state("libedit", kEditFiles);
    add("libedit", edit, edit == "found" ? "" : "install libedit2 to edit lines in `reprise chat`");
  }

  void terminal(Context& context) {
    add("terminal", context.console().out().is_terminal()
                        ? cat(context.environment().find("TERM").value_or("unknown"), ", ",
                              context.console().out().columns(), " columns")
                        : "none");
  }

  std::string document() const {
    std::string out;
    json::ObjectWriter object(out);
    object.key("findings");
    json::ArrayWriter array(out);
    for (const Finding& finding : findings_) {
      array.item();
      json::ObjectWriter item(out);
      item.field("name", finding.name).field("value", finding.value);
      item.field("ok", finding.is_ok).text_or_null("fix", finding.fix).close();
    }
    array.close();
    object.close();
    return out;
  }

  void print(Context& context) const {
    for (const Finding& finding : findings_) {
      const std::string gap(finding.name.size() < 20 ? 20 - finding.name.size() : 1, ' ');
      context.console().out().write(cat(
          finding.name, gap, finding.is_ok ? "" : "problem: ", terminal_line(finding.value), "\n"));
      if (!finding.fix.empty()) {
        context.console().out().write(
            cat(std::string(20, ' '), "-> ", terminal_line(finding.fix), "\n"));
      }
    }
  }

  std::vector<Finding> findings_;
  std::string model_;  // that would answer, according to the settings
};

}  // namespace

std::unique_ptr<Command> make_doctor() {
  return std::make_unique<Doctor>();
}

}  // namespace reprise::cli
