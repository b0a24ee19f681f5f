// reprise config: shows the settings and their origin; changes the user's file.

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/http.h"
#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "choice/provider_names.h"
#include "cli/commands/command.h"
#include "cli/output/table.h"
#include "cli/process/user_programs.h"
#include "cli/program/store_opener.h"
#include "cli/settings/config.h"
#include "cli/settings/config_keys.h"
#include "cli/settings/context_file.h"
#include "cli/settings/program_config.h"
#include "provider/kinds.h"
#include "reprise/open_store.h"
#include "store/context/defaults.h"

namespace reprise::cli {
namespace {

std::string settings_template() {
  const ProviderKind& kind = *find_provider_kind("anthropic");
  return cat(R"(# Settings of reprise. Flags and variables override this file; a project's
# .reprise.toml overrides it, too, in what it may set. All keys: docs/config.md.

# Who answers: )",
             provider::kind_names(), R"(.
#provider = "anthropic"
)",
             "#model = \"", kind.default_model, "\"\n#dev_model = \"", kind.dev_model, "\"\n",
             R"(
# Keys are read from ANTHROPIC_API_KEY or OPENAI_API_KEY, or:
#env_key = "MY_KEY_VARIABLE"
#key_command = "pass show anthropic"

#store = "sqlite:/home/me/reprise.db"
#system = "Answer briefly."

# Folders whose .reprise.toml may run commands and name servers and keys.
#trust = ["/home/me/work"]

#[mode.draft]
#system = "You help to write."
#context = ["file:notes.md"]
#path = "optional"

#[providers.openai-chat]
#base_url = "http://127.0.0.1:11434/v1"
#model = "llama3.2"
)");
}

constexpr std::string_view kProjectAccess[] = {"yes", "if trusted", "no"};  // by RequiredTrust

constexpr std::pair<Section, std::string_view> kSections[] = {
    {Section::top, ""}, {Section::provider, "providers.NAME."}, {Section::mode, "mode.NAME."}};

class ConfigCommand final : public Command {
 public:
  ArgumentTable arguments() override {
    return {
        .options = {{"--context", "", "with init: create a context file for this project",
                     &context_}},
        .arguments = {{"ACTION",
                       "show (the default), keys, get KEY, set KEY VALUE…, edit, trust [FOLDER], "
                       "path or init",
                       &action_,
                       false,
                       {"show", "keys", "get", "set", "edit", "trust", "path", "init"}},
                      {"WORD", "the key and its value, or the folder", &words_}}};
  }

  Result<Exit> run(Context& context) override {
    const std::string action = action_.value_or("show");
    if (context_ && action != "init") {
      return context.console().usage_error("--context can only be used with init");
    }
    if (const std::string_view message = words_error(action); !message.empty()) {
      return context.console().usage_error(message);
    }
    if (action == "get") {
      return get(context);
    }
    if (action == "set") {
      return set(context);
    }
    if (action == "edit") {
      return edit(context);
    }
    if (action == "trust") {
      return trust(context);
    }
    if (action == "keys") {
      return keys(context);
    }
    if (action == "path") {
      return path(context);
    }
    if (context_) {
      return init_context(context);
    }
    return action == "init" ? init(context) : show(context);
  }

 private:
  // With --json.
  template <class... Members>
  static void print_document(Context& context, const Members&... members) {
    if (context.globals().json) {
      context.console().print_json(json::object_of(members...));
    }
  }

  std::string_view words_error(std::string_view action) const {
    if (action == "get") {
      return words_.size() == 1 ? "" : "config get takes one KEY";
    }
    if (action == "set") {
      return words_.size() >= 2 ? "" : "config set takes a KEY and a VALUE";
    }
    if (action == "trust") {
      return words_.size() <= 1 ? "" : "config trust takes one folder";
    }
    return words_.empty() ? "" : "only get, set and trust take arguments";
  }

  Result<Exit> get(Context& context) const {
    const std::string& name = words_.front();
    REPRISE_TRY(parse_key_path(name));
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    for (const ShownSetting& setting : shown_settings(*settings)) {
      if (setting.name != name) {
        continue;
      }
      if (context.globals().json) {
        context.console().print_json(setting.json);
      } else {
        context.console().out().write(cat(terminal_line(setting.text()), "\n"));
      }
      return Exit::success;
    }
    return fail(Code::not_found, cat(name, " is not set"));
  }

  Result<Exit> set(Context& context) const {
    std::vector<std::string> values(words_.begin() + 1, words_.end());
    REPRISE_ASSIGN(const KeyPath path, parse_key_path(words_.front()));
    REPRISE_TRY(toml_value(path, values));
    if (path.section == Section::top && path.key->name == "store") {
      REPRISE_TRY(context.stores().check_url(values.front()));
      values.front() = absolute_store_url(values.front(), context.config().working_dir());
    }
    if (path.section == Section::top && path.key->name == "provider") {
      REPRISE_TRY(check_provider_name(context, values.front()));
    }
    if (path.key->name == "model" && path.section != Section::mode && values.front().empty()) {
      return fail(Code::invalid_argument,
                  cat(words_.front(), " must be the name of a model, not ''"));
    }
    REPRISE_ASSIGN(const std::string literal, toml_value(path, values));
    REPRISE_ASSIGN(const std::filesystem::path file, user_file(context));
    REPRISE_TRY(update_config(
        file, [&](const std::string& text) { return with_setting(text, path, literal); }));
    print_document(context, "key", words_.front(), "file", file.string());
    context.console().notice(cat("set ", words_.front(), " in ", file.string()));
    return Exit::success;
  }

  // A provider may be set up after it is chosen, so a table of its name is enough.
  static Result<> check_provider_name(Context& context, const std::string& name) {
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    if (find_provider(*settings, name) || settings->providers.contains(name)) {
      return {};
    }
    return fail(Code::invalid_argument, unknown_provider(name));
  }

  // Edits a copy, which replaces the file only if it is valid.
  static Result<Exit> edit(Context& context) {
    REPRISE_ASSIGN(const std::filesystem::path file, user_file(context));
    REPRISE_ASSIGN(std::string text, config_text(file));
    const std::string before = text;
    if (text.empty()) {
      text = settings_template();
    }
    while (true) {
      REPRISE_ASSIGN(text, edit_text(context.environment(), {text, ".toml"}, -1, [] {}));
      text += '\n';
      const auto checked = check_config(text, file.string());
      if (checked) {
        break;
      }
      context.console().report(checked.error());
      if (!context.console().can_ask()) {
        return fail(Code::invalid_argument, cat(file.string(), " was not changed"));
      }
      REPRISE_ASSIGN(const bool again, context.console().confirm("edit it again?"));
      if (!again) {
        return fail(Code::cancelled, cat(file.string(), " was not changed"));
      }
    }
    if (text != before) {
      REPRISE_TRY(save_edited(context, file, before, text));
    }
    print_document(context, "file", file.string());
    context.console().notice(text == before ? "nothing changed" : cat("saved ", file.string()));
    return Exit::success;
  }

  // Asks before it overwrites what was written since `before` was read.
  static Result<> save_edited(Context& context, const std::filesystem::path& file,
                              std::string before, const std::string& text) {
    for (bool is_saved = false; !is_saved;) {
      REPRISE_TRY(update_config(file, [&](const std::string& now) {
        is_saved = now == before;
        before = now;
        return is_saved ? text : now;
      }));
      if (!is_saved) {
        REPRISE_ASSIGN(
            const bool confirmed,
            context.console().confirm(
                cat("overwrite the changes that another program made to ", file.string(), "?")));
        if (!confirmed) {
          return fail(Code::cancelled, cat(file.string(), " was not changed"));
        }
      }
    }
    return {};
  }

  // The given folder, or that of the project's file, or the current one.
  Result<Exit> trust(Context& context) const {
    REPRISE_ASSIGN(const std::filesystem::path project,
                   find_project_file(context.config().working_dir()));
    const std::filesystem::path named = !words_.empty()
                                            ? context.config().path_named(words_.front())
                                        : project.empty() ? context.config().working_dir()
                                                          : project.parent_path();
    std::error_code missing;
    const std::filesystem::path folder = std::filesystem::canonical(named, missing);
    if (missing || !std::filesystem::is_directory(folder, missing)) {
      return fail(Code::not_found, cat("there is no folder ", named.string()));
    }
    if (words_.empty()) {
      REPRISE_TRY(check_narrow(context, folder));
    }
    REPRISE_ASSIGN(const std::filesystem::path file, user_file(context));
    bool is_new = false;
    REPRISE_TRY(update_config(file, [&](const std::string& text) -> Result<std::string> {
      REPRISE_ASSIGN(const std::vector<std::string> trusted, trusted_folders(text, file.string()));
      is_new = !is_trusted(folder, trusted);
      return is_new ? with_trusted_folder(text, folder.native()) : Result<std::string>(text);
    }));
    context.console().notice(is_new ? cat("the settings of projects in ", folder.string(),
                                          " and below it are trusted now; see ", file.string())
                                    : cat(folder.string(), " is already trusted"));
    print_document(context, "folder", folder.string(), "file", file.string());
    return Exit::success;
  }

  // Everything below a trusted folder is trusted, too.
  static Result<> check_narrow(const Context& context, const std::filesystem::path& folder) {
    std::error_code missing;
    const std::filesystem::path home =
        std::filesystem::canonical(context.environment().find("HOME").value_or("/"), missing);
    if (folder != folder.root_path() && folder != home) {
      return {};
    }
    return fail(Code::invalid_argument,
                cat("refusing to trust everything below ", folder.string(),
                    "; change to the project's folder, or name one: reprise config trust FOLDER"));
  }

  static Result<Exit> keys(Context& context) {
    std::vector<std::vector<std::string>> rows;
    std::string document;
    json::ArrayWriter array(document);
    for (const auto& [section, prefix] : kSections) {
      for (const Setting& key : config_keys()) {
        if (!key.is_in(section)) {
          continue;
        }
        const std::string name = cat(prefix, key.name);
        const std::string_view project_access =
            kProjectAccess[static_cast<std::size_t>(key.required_trust)];
        rows.push_back(
            {name, expected_value(key), std::string(project_access), std::string(key.help)});
        array.item();
        json::append_object(document, "key", name, "value", expected_value(key), "project",
                            project_access, "help", key.help);
      }
    }
    array.close();
    if (context.globals().json) {
      context.console().print_json(document);
      return Exit::success;
    }
    const std::vector<Column> columns = {{.heading = "key"},
                                         {.heading = "value", .flexible = true},
                                         {.heading = "in a project", .optional = true},
                                         {.heading = "what it sets"}};
    Output& out = context.console().out();
    out.write(format_table(columns, rows, out.text_columns()));
    return Exit::success;
  }

  // Resolves symbolic links, so that the target is changed.
  static Result<std::filesystem::path> user_file(Context& context) {
    REPRISE_TRY(context.config().check_home());
    return resolve_path(context.config().sources().user_file);
  }

  static Result<Exit> show(Context& context) {
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    std::string out;
    json::ObjectWriter object(out);
    for (const ShownSetting& setting : shown_settings(*settings)) {
      const auto origin = settings->origin.find(setting.name);
      const std::string from = origin == settings->origin.end() ? "" : origin->second;
      if (!context.globals().json) {
        context.console().out().write(cat(terminal_line(setting.name), " = ",
                                          terminal_line(setting.text()), "  (", terminal_line(from),
                                          ")\n"));
        continue;
      }
      object.key(setting.name);
      json::ObjectWriter(out).raw("value", setting.json).field("from", from).close();
    }
    object.close();
    if (context.globals().json) {
      context.console().print_json(out);
    } else {
      context.console().notice(
          cat("store: ", http::masked_url(context.config().store_url(*settings))));
    }
    return Exit::success;
  }

  static Result<Exit> path(Context& context) {
    const ConfigSources sources = context.config().sources();
    REPRISE_ASSIGN(const std::filesystem::path project, find_project_file(sources.project_from));
    if (context.globals().json) {
      std::string out;
      json::ObjectWriter object(out);
      object.field("user", sources.user_file.string())
          .text_or_null("project", project.string())
          .close();
      context.console().print_json(out);
      return Exit::success;
    }
    context.console().out().write(cat(terminal_line(sources.user_file.string()), "\n"));
    if (!project.empty()) {
      context.console().out().write(cat(terminal_line(project.string()), "\n"));
    }
    return Exit::success;
  }

  static Result<Exit> init(Context& context) {
    REPRISE_TRY(context.config().check_home());
    REPRISE_ASSIGN(const std::filesystem::path file,
                   resolve_folder_of(context.config().sources().user_file));
    REPRISE_TRY(make_private_folders(file.parent_path()));
    auto made = open_file(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!made && made.error().os_errno == EEXIST) {
      return fail(Code::conflict,
                  cat(file.string(), " already exists; `reprise config edit` changes it"));
    }
    if (!made) {
      return std::unexpected(made.error());
    }
    // Another process may have written settings since then.
    REPRISE_TRY(update_config(
        file, [](const std::string& text) { return cat(settings_template(), text); }));
    print_document(context, "file", file.string());
    context.console().notice(cat("wrote ", file.string()));
    return Exit::success;
  }

  static Result<Exit> init_context(Context& context) {
    REPRISE_ASSIGN(const std::filesystem::path file,
                   find_context_file(context.config().working_dir()));
    REPRISE_TRY(store::context::create_context_file(
        file, find_provider_kind(kCompatibleKind)->default_model));
    print_document(context, "file", file.string());
    context.console().notice(cat("wrote ", file.string(), "; it will hold the session: ",
                                 "keep it out of version control unless others may read it"));
    context.console().notice("use it with --store context: in this folder and below");
    return Exit::success;
  }

  std::optional<std::string> action_;
  std::vector<std::string> words_;
  bool context_ = false;
};

}  // namespace

std::unique_ptr<Command> make_config() {
  return std::make_unique<ConfigCommand>();
}

}  // namespace reprise::cli
