// reprise config: what is set, and where.

#include <fcntl.h>

#include <cerrno>

#include "base/file.h"
#include "base/http.h"
#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/program/commands.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "cli/settings/config.h"
#include "cli/settings/settings.h"
#include "provider/kinds.h"
#include "provider/request_options.h"
#include "reprise/open_store.h"
#include "reprise/provider.h"
#include "store/context/defaults.h"

namespace reprise::cli {
namespace {

std::string settings_template() {
  const ProviderKind& kind = *find_provider_kind("anthropic");
  return cat(R"(# Settings of reprise. Flags and variables beat this file; a project's
# .reprise.toml beats it, too, in what it may set. All keys: docs/config.md.

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

struct Shown {
  std::string name;
  std::string value;
};

void add(std::vector<Shown>& out, std::string name, const std::optional<std::string>& value) {
  if (value) {
    out.push_back({std::move(name), *value});
  }
}

void add(std::vector<Shown>& out, const std::string& prefix, const ProviderSettings& settings) {
  add(out, prefix + "model", settings.model);
  add(out, prefix + "dev_model", settings.dev_model);
  if (settings.base_url) {
    out.push_back({prefix + "base_url", http::masked_url(*settings.base_url)});
  }
  add(out, prefix + "env_key", settings.env_key);
  if (settings.key_command) {
    out.push_back({prefix + "key_command", "(set)"});
  }
}

void add(std::vector<Shown>& out, const std::string& prefix, const RequestSettings& settings) {
  for (const provider::RequestOption& option : provider::request_options()) {
    if (std::string value = provider::option_value(option, settings.options); !value.empty()) {
      out.push_back({cat(prefix, option.name), std::move(value)});
    }
  }
  add(out, prefix + "auth", settings.auth);
  if (!settings.headers.empty()) {
    out.push_back({prefix + "headers", "(set)"});
  }
  if (!settings.extra.is_null()) {
    out.push_back({prefix + "extra", settings.extra.text()});
  }
}

std::string number_text(double number) {
  std::string text = std::to_string(number);
  text.resize(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text + "0" : text;
}

std::vector<Shown> shown_settings(const Settings& settings) {
  std::vector<Shown> out;
  if (settings.store) {
    out.push_back({"store", http::masked_url(without_password(*settings.store))});
  }
  if (settings.store_key_command) {
    out.push_back({"store_key_command", "(set)"});
  }
  if (settings.insecure) {
    out.push_back({"insecure", *settings.insecure ? "true" : "false"});
  }
  if (settings.spill) {
    out.push_back({"spill", *settings.spill ? "true" : "false"});
  }
  add(out, "provider", settings.provider);
  add(out, "", settings.any());
  add(out, "system", settings.system);
  if (settings.temperature) {
    out.push_back({"temperature", number_text(*settings.temperature)});
  }
  if (settings.stream) {
    out.push_back({"stream_default", *settings.stream ? "true" : "false"});
  }
  add(out, "save_path_default", settings.save_path);
  if (settings.max_tokens) {
    out.push_back({"max_tokens", std::to_string(*settings.max_tokens)});
  }
  if (settings.budget) {
    out.push_back({"budget", std::to_string(*settings.budget)});
  }
  if (settings.max_answer_bytes) {
    out.push_back({"max_answer_bytes", std::to_string(*settings.max_answer_bytes)});
  }
  add(out, "retention", settings.retention);
  for (const auto& [name, provider] : settings.providers) {
    add(out, cat("providers.", name, "."), provider);
    if (provider.store) {
      out.push_back({cat("providers.", name, ".store"), *provider.store ? "true" : "false"});
    }
  }
  for (const auto& [name, section] : settings.requests) {
    add(out, name.empty() ? "" : cat("providers.", name, "."), section);
  }
  for (const auto& [name, mode] : settings.modes) {
    out.push_back({cat("mode.", name), mode.system});
  }
  return out;
}

class ConfigCommand final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--context", "", "with init: a context file for this project", &context_}},
            .arguments = {{"ACTION",
                           "show (the default), path or init",
                           &action_,
                           false,
                           {"show", "path", "init"}}}};
  }

  Result<Exit> run(Context& context) override {
    const std::string action = action_.value_or("show");
    if (context_ && action != "init") {
      return context.voice().wrong_usage("--context goes with init");
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
  static Result<Exit> show(Context& context) {
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    std::string out;
    json::ObjectWriter object(out);
    for (const Shown& setting : shown_settings(*settings)) {
      const auto origin = settings->origin.find(setting.name);
      const std::string from = origin == settings->origin.end() ? "" : origin->second;
      if (!context.globals().json) {
        context.voice().out().write(cat(terminal_line(setting.name), " = ",
                                        terminal_line(setting.value), "  (", terminal_line(from),
                                        ")\n"));
        continue;
      }
      object.key(setting.name);
      json::ObjectWriter(out).field("value", setting.value).field("from", from).close();
    }
    object.close();
    if (context.globals().json) {
      context.voice().print_json(out);
    } else {
      context.voice().remark(
          cat("store: ", http::masked_url(context.config().store_url(*settings))));
    }
    return Exit::done;
  }

  static Result<Exit> path(Context& context) {
    const ConfigSources sources = context.config().sources();
    REPRISE_ASSIGN(const std::filesystem::path project, find_project_file(sources.project_from));
    if (context.globals().json) {
      std::string out;
      json::ObjectWriter object(out);
      object.field("user", sources.user_file.string());
      if (project.empty()) {
        object.null("project");
      } else {
        object.field("project", project.string());
      }
      object.close();
      context.voice().print_json(out);
      return Exit::done;
    }
    context.voice().out().write(cat(terminal_line(sources.user_file.string()), "\n"));
    if (!project.empty()) {
      context.voice().out().write(cat(terminal_line(project.string()), "\n"));
    }
    return Exit::done;
  }

  static Result<Exit> init(Context& context) {
    REPRISE_ASSIGN(const std::filesystem::path file,
                   resolve_folder_of(context.config().sources().user_file));
    REPRISE_TRY(make_private_folders(file.parent_path()));
    auto made = open_file(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!made && made.error().os_errno == EEXIST) {
      return fail(Code::conflict, cat(file.string(), " exists already and stays as it is"));
    }
    if (!made) {
      return std::unexpected(made.error());
    }
    REPRISE_TRY(replace_file(file, settings_template()));
    context.voice().remark(cat("wrote ", file.string()));
    return Exit::done;
  }

  static Result<Exit> init_context(Context& context) {
    REPRISE_ASSIGN(const std::filesystem::path file,
                   find_context_file(context.config().working_dir()));
    REPRISE_TRY(store::context::create_context_file(
        file, find_provider_kind("openai-chat")->default_model));
    context.voice().remark(cat("wrote ", file.string(),
                               "; it will hold the conversation, so keep it out ",
                               "of version control unless others may read it"));
    context.voice().remark("use it with --store context: in this folder and below");
    return Exit::done;
  }

  std::optional<std::string> action_;
  bool context_ = false;
};

}  // namespace

std::unique_ptr<Command> make_config() {
  return std::make_unique<ConfigCommand>();
}

}  // namespace reprise::cli
