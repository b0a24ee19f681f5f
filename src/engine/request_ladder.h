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

// The size of a request, as estimate_tokens() counts it.
struct RequestSize {
  TokenCount history = {};
  TokenCount rest = {};           // the prompt and the tools
  TokenCount since_summary = {};  // of the history: with the newest stored summary; 0 for none
  TokenCount all() const { return history + rest; }
};

// The tokens of history in a request within the limit, with a margin, since estimates differ.
TokenCount history_within(TokenCount limit, TokenCount rest);

// What a request has taught about the server's model: what helped in the end, if other sessions
// need it, too.
struct Taught {
  RequestForm form = {};
  TokenCount limit = {};      // 0: nothing about the length
  bool forgets_form = false;  // what was known before is no longer accepted
  bool is_nothing() const { return form == RequestForm() && limit.value == 0 && !forgets_form; }
};

class RequestLadder {
 public:
  // The form that requests start with, and what of it is known from other sessions.
  void begin(const RequestForm& form, const RequestForm& known = {});
  const RequestForm& form() const { return form_; }
  bool has_changed() const { return form_ != begun_ || !history_.empty(); }

  // Whether there is another form to try.
  bool change_form(const Refusal& refusal, const SentParts& sent);
  // Whether the history may be cut once more, and how much may remain: first without what a stored
  // summary replaced, then what the refusal or `limit` (0: unknown) tells, else a half, a quarter …
  // nothing but the question.
  std::optional<TokenCount> cut_history(const Refusal& refusal, const RequestSize& size,
                                        TokenCount limit);
  // The last steps of a request that is too long: without the images of earlier turns, and with a
  // lower limit for the answer.
  bool omit_media(const SentParts& sent);
  bool shorten_answers(const Refusal& refusal);
  // The history was cut, which is said like this.
  void on_cut(std::string words) { history_ = std::move(words); }

  // The refusal that is shown if nothing helps.
  void on_refused(const Error& error);
  const std::optional<Error>& first_refusal() const { return first_; }
  // What helped, for other sessions. Call it before take_line().
  Taught taught() const;
  // What helped, in one line; "" if nothing was changed. Begins anew.
  std::string take_line();

 private:
  void apply(bool RequestForm::* step, const SentParts& sent);
  void take_back(const Refusal& refusal);
  bool forget();
  void learn_limit(const Refusal& refusal, const RequestSize& size, TokenCount known);

  RequestForm begun_;
  RequestForm known_;
  RequestForm form_;
  RequestForm last_;     // what the last step changed
  RequestForm useless_;  // what did not help
  TokenCount limit_;     // as refusals tell; 0: they do not
  bool has_forgotten_ = false;
  std::string history_;
  std::optional<Error> first_;
  std::int64_t images_ = 0;  // that were left out
  std::int64_t pdfs_ = 0;
  int forms_ = 0;
  int cuts_ = 0;
};

}  // namespace reprise
