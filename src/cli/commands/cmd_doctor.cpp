// reprise doctor: what is set up, what is missing and how to mend it.

#include <initializer_list>
#include <set>
#include <system_error>

#include "base/file.h"
#include "base/http.h"
#include "base/json_write.h"
#include "base/late_library.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/stores_around.h"
#include "cli/program/commands.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "cli/program/help_text.h"
#include "cli/settings/config.h"
#include "cli/settings/provider_choice.h"
#include "cli/settings/settings.h"
#include "reprise/open_store.h"
#include "reprise/provider.h"
#include "store/sqlite/version.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::milliseconds kDoctorsServerTimeout{500};
// One page: where a store is many files, each page looks at all of them.
constexpr std::size_t kCountedMax = kPageMax;

struct Finding {
  std::string_view name;  // stands in the JSON
  std::string value;
  std::string mend = {};  // what to do about it; "" when all is well
};

std::string library_state(std::string_view what, std::initializer_list<const char*> names) {
  return LateLibrary::load(what, names) ? "there" : "missing";
}

class Doctor final : public Command {
 public:
  ArgumentTable arguments() override { return {}; }

  Result<Exit> run(Context& context) override {
    versions();
    configuration(context);
    store(context);
    for (const std::string& url : find_stores_around(context)) {
      add("found_store", url);
    }
    providers(context);
    libraries();
    terminal(context);
    if (context.globals().json) {
      context.voice().print_json(document());
    } else {
      print(context);
    }
    return Exit::done;
  }

 private:
  void add(std::string_view name, std::string value, std::string mend = {}) {
    findings_.push_back({name, std::move(value), std::move(mend)});
  }

  void versions() {
    add("version", std::string(trimmed(version_line())));
    add("sqlite", std::string(sqlite::version()),
        sqlite::has_wal_reset_fault()
            ? "before 3.51.3 other programs that write to the store can damage it; Reprise's own "
              "processes are kept apart by a lock, so write to it with Reprise only"
            : "");
  }

  void configuration(Context& context) {
    const ConfigSources sources = context.config().sources();
    const auto kind = kind_behind(sources.user_file);
    add("config", cat(sources.user_file.string(), kind == FileKind::none ? " (not there)" : ""));
    if (const auto project = find_project_file(sources.project_from);
        project && !project->empty()) {
      add("project_config", project->string());
    }
    if (const auto settings = context.config().settings(); !settings) {
      add("config_error", settings.error().message, "mend the file");
    }
  }

  void store(Context& context) {
    const auto settings = context.config().settings();
    if (!settings) {
      return;
    }
    const std::string url = context.config().store_url(**settings);
    add("store", url);
    if (url.starts_with("sqlite:")) {
      const std::filesystem::path file = url.substr(url.find(':') + 1);
      std::error_code error;
      const auto size = std::filesystem::file_size(file, error);
      const bool is_unknown = error && error != std::errc::no_such_file_or_directory;
      add("store_bytes", error ? "0" : std::to_string(size),
          is_unknown ? os_error("look at", file, error.value()).message : "");
    }
    const auto opened = context.stores().open(Access::read);
    if (!opened && opened.error().code == Code::not_found) {
      add("sessions", "0");
    } else if (!opened) {
      add("store_error", opened.error().message,
          "check the path and its permissions; `reprise verify --repair` saves what can be read");
    } else {
      count_sessions(**opened);
    }
  }

  void count_sessions(Store& store) {
    SessionQuery query;
    query.limit = kPageMax;
    std::size_t count = 0;
    do {
      auto page = store.list(query);
      if (!page) {
        add("store_error", page.error().message, "`reprise verify` says more");
        return;
      }
      count += page->sessions.size();
      query.after = page->next;
    } while (!query.after.empty() && count < kCountedMax);
    add("sessions", cat(count, query.after.empty() ? "" : " or more"));
  }

  void providers(Context& context) {
    bool key = false;
    std::set<std::string_view> variables;
    for (const ProviderKind& kind : provider_kinds()) {
      const std::string_view name = kind.key_variable;
      if (name.empty() || !variables.insert(name).second) {
        continue;
      }
      const bool set = context.environment().find(name).has_value();
      key = key || set;
      add(name, set ? "set" : "not set");
    }
    const auto settings = context.config().settings();
    const bool configured =
        settings && ((*settings)->provider || (*settings)->any().env_key ||
                     (*settings)->any().key_command || (*settings)->any().base_url);
    chosen(context);
    const std::vector<LocalServer> servers = find_local_servers(kDoctorsServerTimeout);
    for (const LocalServer& server : servers) {
      add("local_server", cat(server.name, " at ", server.base_url, ", ", server.models.size(),
                              server.models.size() == 1 ? " model" : " models"));
    }
    if (!key && !configured && servers.empty()) {
      add("no_provider", "nobody would answer",
          "set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or try "
          "`--provider echo`");
    }
  }

  void chosen(Context& context) {
    const auto choice = expected_provider(context);
    if (!choice) {
      add("provider_error", choice.error().message, "set provider to one of them");
      return;
    }
    if (choice->name.empty()) {
      return;
    }
    const ProviderKind& kind = *find_provider_kind(choice->name);
    const std::string& url = choice->options.base_url;
    add("provider", cat(choice->name, url.empty() ? "" : cat(" at ", http::masked_url(url))));
    if (choice->model.empty()) {
      add("model", "none is set: the server is asked for one");
    } else if (choice->model != kind.default_model || kind.as_of.empty()) {
      add("model", choice->model);
    } else {
      add("model", cat(choice->model, ", the default, current on ", kind.as_of));
    }
  }

  void libraries() {
    const std::string curl =
        library_state("libcurl", {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"});
    add("libcurl", curl, curl == "there" ? "" : "install libcurl4 to talk to providers");
    const std::string crypto = library_state("libcrypto", {"libcrypto.so.3", "libcrypto.so"});
    add("libcrypto", crypto, crypto == "there" ? "" : "install libssl3 to store images");
    const std::string edit = library_state("libedit", {"libedit.so.2", "libedit.so.0"});
    add("libedit", edit, edit == "there" ? "" : "install libedit2 to edit lines in `reprise chat`");
  }

  void terminal(Context& context) {
    add("terminal", context.voice().out().is_terminal()
                        ? cat(context.environment().find("TERM").value_or("unknown"), ", ",
                              context.voice().out().columns(), " columns")
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
      if (finding.mend.empty()) {
        item.null("mend");
      } else {
        item.field("mend", finding.mend);
      }
      item.close();
    }
    array.close();
    object.close();
    return out;
  }

  void print(Context& context) const {
    for (const Finding& finding : findings_) {
      const std::string gap(finding.name.size() < 20 ? 20 - finding.name.size() : 1, ' ');
      context.voice().out().write(cat(finding.name, gap, terminal_line(finding.value), "\n"));
      if (!finding.mend.empty()) {
        context.voice().out().write(
            cat(std::string(20, ' '), "-> ", terminal_line(finding.mend), "\n"));
      }
    }
  }

  std::vector<Finding> findings_;
};

}  // namespace

std::unique_ptr<Command> make_doctor() {
  return std::make_unique<Doctor>();
}

}  // namespace reprise::cli
