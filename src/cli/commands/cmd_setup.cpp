// reprise setup: asks for provider, key and model, tests them with a request, and writes the user's
// settings.

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/file.h"
#include "base/http.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "choice/provider_names.h"
#include "choice/resolve.h"
#include "cli/commands/command.h"
#include "cli/process/key_command.h"
#include "cli/program/interrupts.h"
#include "cli/provider/provider_choice.h"
#include "cli/repl/line_source.h"
#include "cli/settings/config.h"
#include "cli/settings/config_keys.h"
#include "cli/settings/program_config.h"
#include "engine/message_of.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::milliseconds kSetupServerTimeout{500};
constexpr std::chrono::milliseconds kOfferTimeout{15'000};
constexpr std::size_t kModelsShown = 20;

// A provider to choose from.
struct ProviderCandidate {
  NamedProvider provider;
  std::string base_url = {};     // "" for the provider's own
  std::string description = {};  // for display
  bool is_found = false;         // a local server that responds, or a provider whose key is set
  bool is_local = false;
};

struct Answers {
  ProviderCandidate candidate;
  std::string env_key;      // "" for none
  std::string key_command;  //
  std::string model;
  std::string key;  // never displayed or written
};

bool is_variable_name(std::string_view name) {
  return !name.empty() && !is_ascii_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_ascii_alnum(c) || c == '_'; });
}

class Setup final : public Command {
 public:
  ArgumentTable arguments() override { return {}; }

  Result<Exit> run(Context& context) override {
    context_ = &context;
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    source_ =
        make_plain_source({.input_fd = STDIN_FILENO, .show = [&context](std::string_view text) {
                             context.console().err().write(text);
                             // A failure of standard error cannot be reported.
                             (void)context.console().err().flush();
                           }});
    Answers answers;
    REPRISE_ASSIGN(answers.candidate, ask_provider(*settings));
    if (answers.candidate.provider.kind->has_server()) {
      REPRISE_TRY(ask_key(*settings, answers));
      REPRISE_TRY(ask_model(answers));
      REPRISE_TRY(try_request(answers));
    }
    return write(answers);
  }

 private:
  void print(std::string_view text) {
    context_->console().err().write(cat(terminal_line(text), "\n"));
  }

  // The line entered; `suggestion` if it is empty.
  Result<std::string> ask(std::string_view question, std::string_view suggestion) {
    const Input input =
        source_->read(cat(question, suggestion.empty() ? "" : cat(" [", suggestion, "]"), ": "),
                      interrupts_.token());
    if (::isatty(STDIN_FILENO) != 1) {
      print("");  // a terminal echoes the end of the line
    }
    if (input.kind == Input::Kind::stopped) {
      return fail(Code::cancelled, "stopped: no setting was changed");
    }
    if (input.kind == Input::Kind::end) {
      return fail(Code::invalid_argument,
                  "setup needs answers on standard input, one per line: the provider, the variable "
                  "that holds its key (or ! and a command that prints it), and the model; an empty "
                  "line accepts the default");
    }
    const std::string text(trimmed(input.text));
    return text.empty() ? std::string(suggestion) : text;
  }

  // Whether to ask again: on a terminal only.
  bool can_repeat(const Error& error) {
    if (!context_->console().can_ask()) {
      return false;
    }
    context_->console().report(error);
    return true;
  }

  // Local servers that respond, then providers whose key is set.
  std::vector<ProviderCandidate> candidates(const Settings& settings) {
    std::vector<ProviderCandidate> candidates;
    const auto chat = find_provider(settings, kCompatibleKind);
    for (const LocalServer& server : local_servers(*context_, kSetupServerTimeout)) {
      if (!chat) {
        break;
      }
      const auto known = find_provider_at(*chat->kind, server.base_url);
      candidates.push_back({.provider = known.value_or(*chat),
                            .base_url = known ? "" : server.base_url,
                            .description = cat(server.name, " at ", server.base_url, ", ",
                                               counted(std::ssize(server.models), "model")),
                            .is_found = true,
                            .is_local = true});
    }
    for (const std::string_view name : provider_names()) {
      const auto provider = find_provider(settings, name);
      const bool is_present = std::ranges::any_of(candidates, [&](const ProviderCandidate& other) {
        return other.provider.name == name && other.base_url.empty();
      });
      if (provider && !is_present) {
        candidates.push_back(known_candidate(*provider));
      }
    }
    std::ranges::stable_partition(candidates, &ProviderCandidate::is_found);
    return candidates;
  }

  ProviderCandidate known_candidate(const NamedProvider& provider) const {
    const std::string& variable = provider.key_variable;
    const bool has_key = !variable.empty() && context_->environment().find(variable).has_value();
    const bool is_local = http::is_local_url(provider.default_url);
    return {.provider = provider,
            .description =
                !provider.kind->has_server() ? "built in, repeats your message; for testing"
                : variable.empty()
                    ? cat(provider.kind->protocol, " at ", provider.default_url)
                    : cat(provider.kind->protocol, "; key in ", variable, has_key ? " (set)" : ""),
            .is_found = has_key,
            .is_local = is_local};
  }

  Result<ProviderCandidate> ask_provider(const Settings& settings) {
    const std::vector<ProviderCandidate> listed = candidates(settings);
    print("choose a provider:");
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const std::string& name = listed[i].provider.name;
      print(cat(i < 9 ? "  " : " ", i + 1, "  ", name,
                std::string(name.size() < 18 ? 18 - name.size() : 1, ' '), listed[i].description));
    }
    const std::string suggestion = listed.front().is_found ? "1" : "";
    while (true) {
      REPRISE_ASSIGN(const std::string answer, ask("provider, by number or name", suggestion));
      auto chosen = find_candidate(listed, settings, answer);
      if (chosen || !can_repeat(chosen.error())) {
        return chosen;
      }
    }
  }

  Result<ProviderCandidate> find_candidate(const std::vector<ProviderCandidate>& listed,
                                           const Settings& settings,
                                           const std::string& answer) const {
    const auto number = parse_number<std::size_t>(answer);
    if (number && *number >= 1 && *number <= listed.size()) {
      return listed[*number - 1];
    }
    const auto named = std::ranges::find_if(listed, [&](const ProviderCandidate& candidate) {
      return candidate.provider.name == answer;
    });
    if (named != listed.end()) {
      return *named;
    }
    if (const auto own = find_provider(settings, answer); own) {  // a [providers.NAME]
      return known_candidate(*own);
    }
    return fail(Code::invalid_argument, answer.empty() ? std::string("no provider was named")
                                                       : cat("unknown provider '", answer, "'"));
  }

  Result<> ask_key(const Settings& settings, Answers& answers) {
    const NamedProvider& provider = answers.candidate.provider;
    if (answers.candidate.is_local) {
      return {};
    }
    while (true) {
      REPRISE_ASSIGN(const std::string answer,
                     ask("key: the variable that holds it, or ! and a command that prints it",
                         provider.key_variable));
      const auto taken = take_key(settings, answer, answers);
      if (taken || !can_repeat(taken.error())) {
        return taken;
      }
    }
  }

  Result<> take_key(const Settings& settings, const std::string& answer, Answers& answers) {
    if (answer.starts_with('!')) {
      const auto section = settings.providers.find(answers.candidate.provider.name);
      if (section != settings.providers.end() && section->second.env_key) {
        return fail(Code::conflict,
                    cat("env_key is set for ", section->first,
                        ", which a key_command would not replace: remove it first, with `reprise "
                        "config edit`"));
      }
      answers.key_command = trimmed(std::string_view(answer).substr(1));
      REPRISE_ASSIGN(answers.key, run_key_command(answers.key_command));
      return {};
    }
    if (!is_variable_name(answer)) {  // may be a key, so it is not repeated
      return fail(Code::invalid_argument,
                  "that is not the name of a variable; keys themselves are never stored");
    }
    const auto key = context_->environment().find(answer);
    if (!key) {
      return fail(Code::unauthorized, cat("the variable ", answer,
                                          " is not set: export it, and run `reprise setup` again"));
    }
    answers.env_key = answer;
    answers.key = *key;
    return {};
  }

  Result<std::unique_ptr<Provider>> connect(const Answers& answers) const {
    ProviderOptions options;
    options.base_url = server_of(answers);
    options.api_key = answers.key;
    return make_provider(answers.candidate.provider.kind->name, options);
  }

  std::string server_of(const Answers& answers) const {
    const NamedProvider& provider = answers.candidate.provider;
    if (!answers.candidate.base_url.empty()) {
      return answers.candidate.base_url;
    }
    const auto variable = provider.is_kind()
                              ? context_->environment().find(provider.kind->url_variable)
                              : std::nullopt;
    return variable.value_or(provider.default_url);
  }

  Result<> ask_model(Answers& answers) {
    REPRISE_ASSIGN(const auto provider, connect(answers));
    auto models = provider->models(kOfferTimeout, interrupts_.token());
    if (!models && models.error().code != Code::unsupported) {
      return std::unexpected(models.error());
    }
    const std::vector<ModelInfo> offered = models ? *std::move(models) : std::vector<ModelInfo>();
    for (std::size_t i = 0; i < std::min(kModelsShown, offered.size()); ++i) {
      print(cat("  ", offered[i].id));
    }
    if (offered.size() > kModelsShown) {
      print(cat("  and ", offered.size() - kModelsShown, " more: `reprise models` lists them"));
    }
    const std::string suggestion =
        choice::default_model(*answers.candidate.provider.kind, false, server_of(answers), offered);
    REPRISE_ASSIGN(answers.model, ask("model", suggestion));
    return answers.model.empty() ? fail(Code::invalid_argument, "no model given") : Result<>();
  }

  Result<> try_request(const Answers& answers) {
    REPRISE_ASSIGN(const auto provider, connect(answers));
    FixedMessages messages(
        {reprise::message_of(role::kUser, {TextBlock{"Answer with the word ready.", {}}})});
    Request request{.model = answers.model, .messages = messages};
    std::string words;
    const auto answered = provider->stream(
        request,
        [&words](const StreamEvent& event) {
          if (const auto* const text = std::get_if<TextDelta>(&event); text != nullptr) {
            words += text->text;
          }
        },
        interrupts_.token());
    if (!answered) {
      return fail_with_context("the request failed, and no setting was changed", answered.error());
    }
    print(cat(answers.model, " answers: ", trimmed(words).substr(0, 200)));
    return {};
  }

  Result<Exit> write(const Answers& answers) {
    const std::filesystem::path named = context_->config().sources().user_file;
    REPRISE_ASSIGN(const std::filesystem::path file, resolve_path(named));
    REPRISE_TRY(update_config(
        file, [&answers](const std::string& text) { return with_answers(text, answers); }));
    const std::string& name = answers.candidate.provider.name;
    context_->console().notice(
        cat("saved in ", context_->config().short_path(file.string()),
            "; `reprise` starts a chat with ",
            answers.model.empty() ? name : cat(answers.model, " of ", name)));
    return Exit::success;
  }

  // The text of the settings file with the answers.
  static Result<std::string> with_answers(std::string text, const Answers& answers) {
    const std::string& name = answers.candidate.provider.name;
    const auto set = [&](const std::string& key, const std::string& value) -> Result<> {
      if (value.empty()) {
        return {};
      }
      REPRISE_ASSIGN(const KeyPath path, parse_key_path(key));
      REPRISE_ASSIGN(const std::string literal, toml_value(path, {value}));
      REPRISE_ASSIGN(text, with_setting(text, path, literal));
      return {};
    };
    const std::string section = cat("providers.", name, ".");
    const bool is_default = answers.env_key == answers.candidate.provider.key_variable;
    REPRISE_TRY(set("provider", name));
    REPRISE_TRY(set(section + "model", answers.model));
    REPRISE_TRY(set(section + "base_url", answers.candidate.base_url));
    REPRISE_TRY(set(section + "env_key", is_default ? "" : answers.env_key));
    REPRISE_TRY(set(section + "key_command", answers.key_command));
    return text;
  }

  Context* context_ = nullptr;
  Interrupts interrupts_;
  std::unique_ptr<LineSource> source_;
};

}  // namespace

std::unique_ptr<Command> make_setup() {
  return std::make_unique<Setup>();
}

}  // namespace reprise::cli
