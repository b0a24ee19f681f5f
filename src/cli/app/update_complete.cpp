// What Tab does to the input, and models that are looked up for it.

#include <algorithm>

#include "base/text.h"
#include "cli/app/complete.h"
#include "cli/app/effect.h"
#include "cli/app/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {

void complete_input(State& state, Effects& effects) {
  Editor& input = state.input();
  if (input.cursor() != input.text().size()) {
    return;
  }
  if (Tab* const tab = state.tab(); tab != nullptr && input.text().starts_with("/model ")) {
    tab->completing = input.text();
    if (!tab->models_asked) {
      tab->models_asked = true;
      effects.emplace_back(ListModels{.tab = tab->id});
    }
  }
  const Completion completion = complete(state, input.text());
  if (Tab* const tab = state.tab(); tab != nullptr) {
    tab->completed = completion.text;
  }
  if (completion.text != input.text()) {
    input.set(completion.text);
    return;
  }
  state.status.clear();
  for (const std::string& candidate : completion.candidates) {
    state.status += cat(state.status.empty() ? "" : "  ", trimmed(candidate));
  }
}

void on_models(State& state, const ModelsListed& listed, Effects& effects) {
  Tab* const tab = state.find(listed.tab);
  if (tab == nullptr) {
    return;
  }
  for (const std::string& model : listed.models) {
    if (std::ranges::find(tab->models, model) == tab->models.end()) {
      tab->models.push_back(model);
    }
  }
  // Who has typed on since does not want it any more.
  const std::string& text = tab->input.text();
  if (tab == state.tab() && !tab->completing.empty() &&
      (text == tab->completing || text == tab->completed)) {
    tab->input.set(std::string(tab->completing));
    complete_input(state, effects);
  }
}

}  // namespace reprise::cli::app
