#include "engine/request_ladder.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace reprise {
namespace {

constexpr int kFormsMax = 6;
constexpr int kCutsMax = 6;

// Steps with the same number are made together.
struct LadderStep {
  int number;
  bool RequestForm::* form;
  bool is_hinted_only;
  bool (*applies)(const SentParts& sent, const Refusal& refusal);
  std::string_view words;  // after "accepted "
};

constexpr LadderStep kLadderSteps[] = {
    {1, &RequestForm::fills_reasoning, true,
     [](const SentParts& sent, const Refusal&) { return sent.calls > 0; },
     "with reasoning before each tool call"},
    {1, &RequestForm::fills_signatures, true,
     [](const SentParts& sent, const Refusal&) { return sent.calls > 0; },
     "with a placeholder for the signatures of other models' tool calls"},
    {2, &RequestForm::omits_opaque, false,
     [](const SentParts& sent, const Refusal&) { return sent.opaque > 0; },
     "without the reasoning and other marks of earlier answers"},
    {3, &RequestForm::omits_parameters, false,
     [](const SentParts&, const Refusal& refusal) { return refusal.has_parameters; },
     "without the options that are not from this command"},
    {4, &RequestForm::prompt_in_question, false,
     [](const SentParts& sent, const Refusal&) { return sent.has_prompt; },
     "with the system prompt in the first question"},
    {4, &RequestForm::answers_results, false,
     [](const SentParts& sent, const Refusal&) { return sent.questions_after_results > 0; },
     "with an answer between tool results and the next question"},
    {4, &RequestForm::strict_ids, false,
     [](const SentParts& sent, const Refusal&) { return sent.loose_ids > 0; },
     "with other ids of the tool calls"},
    {4, &RequestForm::single_calls, false,
     [](const SentParts& sent, const Refusal&) { return sent.parallel_calls > 0; },
     "with tool calls one by one"},
    {5, &RequestForm::tools_as_text, false,
     [](const SentParts& sent, const Refusal&) { return sent.calls > 0; },
     "with earlier tool calls as text"},
    {6, &RequestForm::omits_media, false,
     [](const SentParts& sent, const Refusal&) { return sent.images + sent.pdfs > 0; }, ""},
};

}  // namespace

void RequestLadder::begin(const RequestForm& form) {
  begun_ = form;
  form_ = form;
}

void RequestLadder::apply(bool RequestForm::* step, const SentParts& sent) {
  form_.*step = true;
  if (step == &RequestForm::omits_media) {
    images_ = sent.images;
    pdfs_ = sent.pdfs;
  }
}

bool RequestLadder::shorten_answers(const Refusal& refusal) {
  return refusal.hint.short_answers && !std::exchange(form_.short_answers, true);
}

bool RequestLadder::change_form(const Refusal& refusal, const SentParts& sent) {
  if (forms_ == kFormsMax) {
    return false;
  }
  const auto is_new = [&](const LadderStep& step) {
    return !(form_.*step.form) && step.applies(sent, refusal);
  };
  int number = 0;
  for (const LadderStep& step : kLadderSteps) {
    if (refusal.hint.*step.form && is_new(step)) {
      apply(step.form, sent);
      ++forms_;
      return true;
    }
  }
  for (const LadderStep& step : kLadderSteps) {
    if (!step.is_hinted_only && (number == 0 || number == step.number) && is_new(step)) {
      apply(step.form, sent);
      number = step.number;
    }
  }
  forms_ += number > 0 ? 1 : 0;
  return number > 0;
}

std::optional<double> RequestLadder::cut_history(const Refusal& refusal) {
  constexpr double kHalf = 0.5;
  constexpr double kMargin = 0.9;  // estimates differ
  if (cuts_ == kCutsMax) {
    return std::nullopt;
  }
  if (++cuts_ == kCutsMax) {
    return 0;
  }
  const bool is_named = refusal.size > refusal.limit && refusal.limit > 0;
  return is_named ? kMargin * static_cast<double>(refusal.limit) / static_cast<double>(refusal.size)
                  : kHalf;
}

void RequestLadder::on_refused(const Error& error) {
  if (!first_) {
    first_ = error;
  }
}

std::string RequestLadder::take_line() {
  std::vector<std::string> changes;
  for (const LadderStep& step : kLadderSteps) {
    if (form_.*step.form && !(begun_.*step.form)) {
      changes.emplace_back(step.form != &RequestForm::omits_media ? step.words
                           : pdfs_ == 0   ? "without the images of earlier turns"
                           : images_ == 0 ? "without the PDFs of earlier turns"
                                          : "without the images and PDFs of earlier turns");
    }
  }
  if (form_.short_answers && !begun_.short_answers) {
    changes.emplace_back("with a lower limit for the answer");
  }
  if (!history_.empty()) {
    changes.push_back(std::exchange(history_, {}));
  }
  const auto first = std::exchange(first_, std::nullopt);
  begun_ = form_;
  forms_ = 0;
  cuts_ = 0;
  return changes.empty() || !first ? "" : cat(first->message, "; accepted ", joined(changes));
}

}  // namespace reprise
