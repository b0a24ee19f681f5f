#pragma once

// What a request is changed to when a server rejects it: one step after the other, the cheapest
// first, each only if the request has what it changes. A refusal's words may choose a step, but
// none is needed: what is not understood is tried in order. Neither the question, nor what was
// given for this turn, nor the prompt and the tools are ever left out.

#include "reprise/provider.h"

namespace reprise {

// What the rejected request had.
struct SentParts {
  bool has_prompt = false;
  std::int64_t opaque = 0;  // blocks and members
  std::int64_t calls = 0;
  std::int64_t loose_ids = 0;       // other than nine letters and digits
  std::int64_t parallel_calls = 0;  // answers with several
  std::int64_t questions_after_results = 0;
  std::int64_t images = 0;  // of earlier turns
  std::int64_t pdfs = 0;    // likewise
};

class RequestLadder {
 public:
  // The form that requests start with.
  void begin(const RequestForm& form);
  const RequestForm& form() const { return form_; }
  bool has_changed() const { return form_ != begun_ || !history_.empty(); }

  // Whether there is another form to try.
  bool change_form(const Refusal& refusal, const SentParts& sent);
  // Whether the history may be cut once more, and the part that may remain.
  std::optional<double> cut_history(const Refusal& refusal);
  // The last step of a request that is too long: whether the answer may still be limited.
  bool shorten_answers(const Refusal& refusal);
  // The history was cut, which is said like this.
  void on_cut(std::string words) { history_ = std::move(words); }

  // The refusal that is shown if nothing helps.
  void on_refused(const Error& error);
  const std::optional<Error>& first_refusal() const { return first_; }
  // What helped, in one line; "" if nothing was changed. Begins anew.
  std::string take_line();

 private:
  void apply(bool RequestForm::* step, const SentParts& sent);

  RequestForm begun_;
  RequestForm form_;
  std::string history_;
  std::optional<Error> first_;
  std::int64_t images_ = 0;  // that were left out
  std::int64_t pdfs_ = 0;
  int forms_ = 0;
  int cuts_ = 0;
};

}  // namespace reprise
