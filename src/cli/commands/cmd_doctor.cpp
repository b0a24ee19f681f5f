// reprise doctor: tests what a turn needs, and suggests a command for each problem.

#include <algorithm>
#include <initializer_list>
#include <set>
#include <system_error>

#include "base/dynamic_library.h"
#include "base/file.h"
#include "base/http.h"
#include "base/json_write.h"
#include "base/terminal_text.h"
#include "choice/provider_names.h"
#include "cli/commands/doctor.h"
#include "cli/commands/help_text.h"
#include "cli/program/search_files.h"
#include "cli/program/store_opener.h"
#include "cli/provider/provider_choice.h"
#include "cli/provider/request_choice.h"
#include "cli/settings/config.h"
#include "store/sqlite/library.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kDoctorsServerTimeout{500};
constexpr std::chrono::milliseconds kDoctorsModelsTimeout{5'000};

std::string library_state(std::string_view title, std::initializer_list<const char*> names) {
  return DynamicLibrary::load(title, names) ? "found" : "missing";
}

class Doctor final : public Command {
 public:
  ArgumentTable arguments() override { return {}; }

  Result<Exit> run(Context& context) override {
    versions(context);
    home(context);
    const Settings* const settings = configuration(context);
    if (settings != nullptr) {
      check_store(context, context.config().store_url(*settings), findings_);
    }
    for (const std::string& url : find_stores_around(context)) {
      findings_.add("found_store", url);
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
    const auto problems = std::ranges::count_if(
        findings_.list(), [](const Finding& finding) { return !finding.is_ok; });
    if (problems == 0) {
      return Exit::success;
    }
    context.console().warn(cat(counted(problems, "problem"), " that would keep a turn from being ",
                               "stored or answered"));
    return Exit::failed;
  }

 private:
  // The fault concerns only those who open a store with another program, so it is a detail.
  void versions(Context& context) {
    findings_.add("version", std::string(trimmed(version_line())));
    findings_.add(
        "sqlite", std::string(sqlite::version()),
        context.globals().verbose && sqlite::has_wal_reset_fault()
            ? "SQLite before 3.51.3 can damage a database that one program writes to while another "
              "one checkpoints it; what Reprise writes is protected, what other programs write is "
              "not"
            : "");
  }

  void home(Context& context) {
    if (const auto known = context.config().check_home(); !known) {
      findings_.add_problem("home", known.error().message, "export HOME=/path/to/your/home");
    } else {
      findings_.add("home", context.environment().find("HOME").value_or("not set"));
    }
  }

  // Parses each file separately, so that an error in one does not hide errors in another. Null if
  // the settings are invalid.
  const Settings* configuration(Context& context) {
    const ConfigSources sources = context.config().sources();
    const auto kind = kind_of_target(sources.user_file);
    const bool has_user_file = kind != FileKind::none;
    findings_.add("config",
                  cat(sources.user_file.string(), has_user_file ? "" : " (no such file)"));
    if (has_user_file) {
      check_private_mode(findings_, "config_mode", sources.user_file);
    }
    parse({.user_file = sources.user_file,
           .user_file_required = sources.user_file_required,
           .project_from = "/"},
          context, "`reprise config edit` opens it");
    if (const auto project = find_project_file(sources.project_from);
        project && !project->empty()) {
      findings_.add("project_config", project->string());
      parse({.user_file = {}, .project_from = sources.project_from}, context, "correct the file");
    }
    const auto settings = context.config().settings();
    if (!settings && std::ranges::none_of(findings_.list(), [](const Finding& finding) {
          return !finding.is_ok;
        })) {  // the error is in a file of the store, or in the environment
      findings_.add_problem("config_error", settings.error().message,
                            "`reprise config path` names the files");
    }
    return settings ? *settings : nullptr;
  }

  void parse(const ConfigSources& sources, Context& context, std::string_view advice) {
    if (const auto loaded = load_settings(sources, context.environment()); !loaded) {
      findings_.add_problem("config_error", loaded.error().message, std::string(advice));
    }
  }

  void providers(Context& context, const Settings& settings) {
    std::set<std::string_view> variables;
    for (const ProviderKind& kind : provider_kinds()) {
      const std::string_view name = kind.key_variable;
      if (!name.empty() && variables.insert(name).second) {
        findings_.add(name, context.environment().find(name) ? "set" : "not set");
      }
    }
    const std::vector<LocalServer> servers = local_servers(context, kDoctorsServerTimeout);
    for (const LocalServer& server : servers) {
      findings_.add("local_server", cat(server.name, " at ", server.base_url, ", ",
                                        counted(std::ssize(server.models), "model")));
    }
    const auto expected = expected_provider(context);
    if (!expected) {
      findings_.add_problem("provider_error", expected.error().message, "`reprise setup` sets one");
      return;
    }
    if (expected->name.empty() && servers.empty()) {
      findings_.add_problem("no_provider", "no provider is set, and no local server answers",
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
    const ProviderKind& kind = *find_provider_kind(choice.kind);
    const std::string& url = choice.options.base_url;
    findings_.add("provider",
                  cat(choice.name, url.empty() ? "" : cat(" at ", http::masked_url(url))));
    if (choice.model.empty()) {
      findings_.add("model", "none is set; the server is asked for one");
    } else if (choice.model != kind.default_model || kind.as_of.empty()) {
      findings_.add("model", choice.model);
    } else {
      findings_.add("model", cat(choice.model, ", the default, current on ", kind.as_of));
    }
    model_ = choice.model;
  }

  // Like a turn: reads the key, and asks the server for its models.
  void ask_provider(Context& context, const Settings& settings) {
    RunFlags flags;
    flags.model = "";  // no model is needed
    auto choice = choose_provider(context, flags, nullptr);
    if (!choice) {
      findings_.add_problem("provider_error", choice.error().message,
                            "`reprise setup` sets the provider and its key");
      return;
    }
    if (find_provider_kind(choice->kind)->default_url.empty()) {
      return;  // built in
    }
    findings_.add("key", choice->options.api_key.empty() ? "none is sent" : "found");
    if (const auto request = choose_request(context, flags, settings, *choice); !request) {
      findings_.add_problem("provider_error", request.error().message,
                            "`reprise config show` names the file");
      return;
    }
    const auto provider = make_provider(choice->kind, choice->options);
    const auto models = provider
                            ? (*provider)->models(kDoctorsModelsTimeout, std::stop_token())
                            : Result<std::vector<ModelInfo>>(std::unexpected(provider.error()));
    if (!models && models.error().code == Code::unsupported) {
      findings_.add("models", models.error().message);
    } else if (!models) {
      findings_.add_problem(
          "provider_error", models.error().message,
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
    findings_.add("models", counted(std::ssize(models), "model"),
                  has_model ? "" : cat(model_, " is not among them: `reprise models` lists them"));
  }

  // Other tools' histories that can be imported.
  void histories(Context& context) {
    for (const SourceKind& kind : source_kinds()) {
      const auto path = default_location(
          kind, [&](std::string_view name) { return context.environment().find(name); });
      std::error_code none;
      if (path && fs::exists(*path, none)) {
        findings_.add("found_history", cat(kind.name, ": (", kind.title, ", ",
                                           context.config().short_path(path->native()), ")"));
      }
    }
  }

  void libraries() {
    const std::string curl = library_state("libcurl", kCurlFiles);
    findings_.add("libcurl", curl, curl == "found" ? "" : "install libcurl4 to reach providers");
    const std::string crypto = library_state("libcrypto", kCryptoFiles);
    findings_.add("libcrypto", crypto, crypto == "found" ? "" : "install libssl3 to store images");
    const std::string edit = library_state("libedit", kEditFiles);
    findings_.add("libedit", edit,
                  edit == "found" ? "" : "install libedit2 to edit lines in `reprise chat`");
  }

  void terminal(Context& context) {
    findings_.add("terminal", context.console().out().is_terminal()
                                  ? cat(context.environment().find("TERM").value_or("unknown"),
                                        ", ", context.console().out().columns(), " columns")
                                  : "none");
  }

  std::string document() const {
    std::string out;
    json::ObjectWriter object(out);
    object.key("findings");
    json::ArrayWriter array(out);
    for (const Finding& finding : findings_.list()) {
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
    for (const Finding& finding : findings_.list()) {
      const std::string gap(finding.name.size() < 20 ? 20 - finding.name.size() : 1, ' ');
      context.console().out().write(cat(
          finding.name, gap, finding.is_ok ? "" : "problem: ", terminal_line(finding.value), "\n"));
      if (!finding.fix.empty()) {
        context.console().out().write(
            cat(std::string(20, ' '), "-> ", terminal_line(finding.fix), "\n"));
      }
    }
  }

  Findings findings_;
  std::string model_;  // that would answer, according to the settings
};

}  // namespace

std::unique_ptr<Command> make_doctor() {
  return std::make_unique<Doctor>();
}

}  // namespace reprise::cli
