#include "engine/maker.h"

#include <algorithm>
#include <iterator>

#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise {
namespace {

constexpr std::string_view kMaker = "maker";
constexpr std::string_view kRefusedAnswer = "refused";

struct FormName {
  std::string_view name;
  bool RequestForm::* form;
};
constexpr FormName kForms[] = {
    {"prompt_in_question", &RequestForm::prompt_in_question},
    {"omits_opaque", &RequestForm::omits_opaque},
    {"omits_media", &RequestForm::omits_media},
    {"answers_results", &RequestForm::answers_results},
    {"strict_ids", &RequestForm::strict_ids},
    {"single_calls", &RequestForm::single_calls},
    {"tools_as_text", &RequestForm::tools_as_text},
    {"fills_reasoning", &RequestForm::fills_reasoning},
    {"fills_signatures", &RequestForm::fills_signatures},
    {"omits_parameters", &RequestForm::omits_parameters},
    {"short_answers", &RequestForm::short_answers},
};

// "a-model-20250929" and "a-model-latest" are aliases of "a-model".
std::string_view without_version(std::string_view model) {
  constexpr std::string_view kLatest = "-latest";
  constexpr std::size_t kDate = 9;  // "-20250929"
  if (model.ends_with(kLatest)) {
    return model.substr(0, model.size() - kLatest.size());
  }
  if (model.size() <= kDate) {
    return model;
  }
  const std::string_view tail = model.substr(model.size() - kDate);
  const bool has_date =
      tail.starts_with('-') && std::ranges::all_of(tail.substr(1), is_ascii_digit);
  return has_date ? model.substr(0, model.size() - kDate) : model;
}

bool is_plain(const Block& block) {
  return std::holds_alternative<TextBlock>(block) || std::holds_alternative<ImageBlock>(block);
}

}  // namespace

bool is_same(const Maker& a, const Maker& b) {
  return a.provider == b.provider && a.host == b.host &&
         without_version(a.model) == without_version(b.model);
}

Maker maker_at(const Provider& provider, std::string_view model) {
  return {std::string(provider.name()), std::string(provider.host()), std::string(model)};
}

std::optional<Maker> maker_of(const Message& answer) {
  const RawJson* const field = json::find_field(answer.extra, kMaker);
  if (field == nullptr) {
    return std::nullopt;
  }
  const auto [provider, host, model] =
      JsonView(field->text()).members({"provider", "host", "model"});
  return Maker{provider.text(), host.text(), model.text()};
}

std::vector<std::string> form_names(const RequestForm& form) {
  std::vector<std::string> names;
  for (const FormName& known : kForms) {
    if (form.*known.form) {
      names.emplace_back(known.name);
    }
  }
  return names;
}

RequestForm form_named(JsonView names) {
  RequestForm form;
  names.each([&form](JsonView name) {
    const auto* const known = std::ranges::find(kForms, name.text(), &FormName::name);
    if (known != std::end(kForms)) {
      form.*known->form = true;
    }
  });
  return form;
}

RequestForm form_union(const RequestForm& a, const RequestForm& b) {
  RequestForm out = a;
  for (const FormName& known : kForms) {
    out.*known.form = a.*known.form || b.*known.form;
  }
  return out;
}

RequestForm form_without(const RequestForm& form, const RequestForm& part) {
  RequestForm out = form;
  for (const FormName& known : kForms) {
    out.*known.form = form.*known.form && !(part.*known.form);
  }
  return out;
}

RequestForm form_of(const Message& answer) {
  const RawJson* const field = json::find_field(answer.extra, kMaker);
  return field == nullptr ? RequestForm() : form_named(JsonView(field->text())["form"]);
}

std::optional<RequestStart> start_of(const Message& answer) {
  const RawJson* const field = json::find_field(answer.extra, kMaker);
  return field == nullptr ? std::nullopt : request_start(JsonView(field->text())["start"]);
}

void record_maker(Message& answer, const Maker& maker, const RequestForm& form,
                  const std::optional<RequestStart>& start) {
  if (form == RequestForm() && !start && std::ranges::all_of(answer.blocks, is_plain)) {
    return;
  }
  std::string out;
  json::ObjectWriter object(out);
  object.field("provider", maker.provider).field("host", maker.host).field("model", maker.model);
  if (const auto names = form_names(form); !names.empty()) {
    object.raw("form", json::array_of(names));
  }
  if (start) {
    object.raw("start", json_of(*start));
  }
  object.close();
  json::set_field(answer.extra, kMaker, json::take(out));
}

bool is_refused_answer(const Message& answer) {
  const RawJson* const field = json::find_field(answer.extra, kRefusedAnswer);
  return answer.role == role::kAssistant && field != nullptr && field->text() == "true";
}

void mark_refused(Message& answer) {
  json::set_field(answer.extra, kRefusedAnswer, json::take("true"));
}

bool is_reasoning(const Block& block) {
  const auto* const unknown = std::get_if<UnknownBlock>(&block);
  return std::holds_alternative<ThinkingBlock>(block) ||
         (unknown != nullptr &&
          (unknown->type.contains("reasoning") || unknown->type.contains("thinking")));
}

}  // namespace reprise
