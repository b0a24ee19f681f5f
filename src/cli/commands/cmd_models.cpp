// reprise models: lists the provider's models.

#include <algorithm>

#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/provider/request_choice.h"
#include "cli/settings/program_config.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::milliseconds kModelsTimeout{15'000};

class Models final : public Command {
 public:
  ArgumentTable arguments() override {
    ArgumentTable run_flags;
    add_run_flags(run_flags, flags_);
    ArgumentTable table;
    for (OptionSpec& option : run_flags.options) {
      if (option.names == "--provider" || option.names == "--base-url") {
        table.options.push_back(std::move(option));
      }
    }
    return table;
  }

  Result<Exit> run(Context& context) override {
    if (const std::string message = run_flag_error(context, flags_); !message.empty()) {
      return context.console().usage_error(message);
    }
    flags_.model = "";  // no model is needed
    REPRISE_ASSIGN(ProviderChoice choice, choose_provider(context, flags_, nullptr));
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    REPRISE_TRY(choose_request(context, flags_, *settings, choice));  // headers and authentication
    REPRISE_ASSIGN(const auto provider, make_provider(choice.kind, choice.options));
    REPRISE_ASSIGN(const std::vector<ModelInfo> models,
                   provider->models(kModelsTimeout, std::stop_token()));
    flags_.model.reset();
    REPRISE_ASSIGN(const std::string model_name,
                   default_model_for(context, flags_, choice, models));
    if (context.globals().json) {
      context.console().print_json(document(choice, models, model_name));
      return Exit::success;
    }
    for (const ModelInfo& model : models) {
      context.console().out().write(
          cat(terminal_line(model.id), model.id == model_name ? "  (default)" : "",
              model.ends_on.empty() ? "" : cat("  (ends ", model.ends_on, ")"), "\n"));
    }
    if (std::ranges::find(models, model_name, &ModelInfo::id) == models.end()) {
      context.console().notice(
          models.empty()
              ? std::string("the provider lists no models")
              : cat("the default model, ", model_name,
                    ", is not one of them; choose one with `reprise config set model NAME`"));
    }
    return Exit::success;
  }

 private:
  static std::string document(const ProviderChoice& choice, const std::vector<ModelInfo>& models,
                              std::string_view model_name) {
    std::string out;
    json::ArrayWriter array(out);
    for (const ModelInfo& model : models) {
      array.item();
      json::ObjectWriter(out)
          .field("id", model.id)
          .text_or_null("name", model.name)
          .field("provider", choice.name)
          .field("default", model.id == model_name)
          .text_or_null("ends_on", model.ends_on)
          .close();
    }
    array.close();
    return out;
  }

  RunFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_models() {
  return std::make_unique<Models>();
}

}  // namespace reprise::cli
