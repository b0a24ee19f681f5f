#include "engine/request_ladder.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "engine/lesson.h"
#include "engine/maker.h"

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

// The limit that a refusal names, in estimated tokens; 0 if it names none. Its "A > B" tells how
// the server's units relate to these.
TokenCount named_limit(const Refusal& refusal, const RequestSize& size) {
  if (refusal.size <= refusal.limit || refusal.limit <= 0) {
    return {refusal.size == 0 ? refusal.limit : 0};
  }
  const double part = static_cast<double>(refusal.limit) / static_cast<double>(refusal.size);
  return {static_cast<std::int64_t>(part * static_cast<double>(size.all().value))};
}

}  // namespace

TokenCount history_within(TokenCount limit, TokenCount rest) {
  constexpr double kMargin = 0.9;
  const double tokens = kMargin * static_cast<double>(limit.value);
  return {std::max<std::int64_t>(0, static_cast<std::int64_t>(tokens) - rest.value)};
}

void RequestLadder::begin(const RequestForm& form, const RequestForm& known) {
  begun_ = form;
  form_ = form;
  known_ = known;
}

void RequestLadder::apply(bool RequestForm::* step, const SentParts& sent) {
  form_.*step = true;
  last_.*step = true;
  if (step == &RequestForm::omits_media) {
    images_ = sent.images;
    pdfs_ = sent.pdfs;
  }
}

bool RequestLadder::change_form(const Refusal& refusal, const SentParts& sent) {
  if (forms_ == kFormsMax) {
    return false;
  }
  take_back(refusal);
  last_ = {};
  const auto is_new = [&](const LadderStep& step) {
    return !(form_.*step.form) && !(useless_.*step.form) && step.applies(sent, refusal);
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
  const bool has_changed = number > 0 || forget();
  forms_ += has_changed ? 1 : 0;
  return has_changed;
}

// What was filled in because of the last refusal is sent no more if this one is the same.
void RequestLadder::take_back(const Refusal& refusal) {
  for (const LadderStep& step : kLadderSteps) {
    if (step.is_hinted_only && last_.*step.form && refusal.hint.*step.form) {
      form_.*step.form = false;
      useless_.*step.form = true;
    }
  }
}

// The last step: what other sessions have learned may no longer be accepted.
bool RequestLadder::forget() {
  const RequestForm form = form_without(begun_, known_);
  if (has_forgotten_ || form == begun_) {
    return false;
  }
  form_ = form;
  has_forgotten_ = true;
  return true;
}

std::optional<TokenCount> RequestLadder::cut_history(const Refusal& refusal,
                                                     const RequestSize& size, TokenCount limit) {
  last_ = {};
  if (refusal.is_length) {
    learn_limit(refusal, size, limit);
  }
  if (cuts_ == kCutsMax) {
    return std::nullopt;
  }
  if (++cuts_ == kCutsMax - 1) {
    return TokenCount{0};
  }
  const TokenCount named = named_limit(refusal, size);
  const TokenCount known = named.value > 0 ? named : limit;
  const TokenCount within = history_within(known, size.rest);
  const bool is_known = known.value > 0 && within < size.history;
  const TokenCount wanted = is_known ? within : TokenCount{size.history.value / 2};
  const bool has_older = size.since_summary.value > 0 && size.since_summary < size.history;
  return has_older && (!is_known || size.since_summary <= wanted) ? size.since_summary : wanted;
}

// Without a number the limit is below what was refused.
void RequestLadder::learn_limit(const Refusal& refusal, const RequestSize& size, TokenCount known) {
  const TokenCount named = named_limit(refusal, size);
  TokenCount limit = named.value > 0 && named < size.all() ? named : size.all();
  for (const TokenCount other : {known, limit_}) {
    if (other.value > 0 && named.value == 0) {
      limit = std::min(limit, other);
    }
  }
  limit_ = limit;
}

bool RequestLadder::omit_media(const SentParts& sent) {
  if (cuts_ == kCutsMax || form_.omits_media || sent.images + sent.pdfs == 0) {
    return false;
  }
  ++cuts_;
  apply(&RequestForm::omits_media, sent);
  return true;
}

bool RequestLadder::shorten_answers(const Refusal& refusal) {
  return refusal.hint.short_answers && !std::exchange(form_.short_answers, true);
}

void RequestLadder::on_refused(const Error& error) {
  if (!first_) {
    first_ = error;
  }
}

Taught RequestLadder::taught() const {
  return {.form = lasting_part(last_),
          .limit = limit_ < kLimitMin ? TokenCount() : limit_,
          .forgets_form = has_forgotten_};
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
  if (has_forgotten_) {
    changes.emplace_back("without what earlier sessions needed");
  }
  if (form_.short_answers && !begun_.short_answers) {
    changes.emplace_back("with a lower limit for the answer");
  }
  if (!history_.empty()) {
    changes.push_back(std::exchange(history_, {}));
  }
  const auto first = std::exchange(first_, std::nullopt);
  begun_ = form_;
  last_ = {};
  useless_ = {};
  limit_ = {};
  if (std::exchange(has_forgotten_, false)) {
    known_ = {};
  }
  forms_ = 0;
  cuts_ = 0;
  return changes.empty() || !first ? "" : cat(first->message, "; accepted ", joined(changes));
}

}  // namespace reprise
