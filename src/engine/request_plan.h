#pragma once

// Decides what a request contains: the prompt, the start of the history within the budget, or only
// the new messages after an answer that the provider still has.

#include "engine/history.h"
#include "engine/request_view.h"
#include "engine/session_notes.h"
#include "reprise/conversation.h"

namespace reprise {

class Record;

struct RequestPlan {
  std::string system = {};
  std::string previous_response_id = {};
  bool store_response = false;
  std::string conversation = {};
  bool grows = true;  // the next request starts with the same messages
  RequestForm form = {};
  std::vector<Usage> recent = {};  // of the newest answers
  ViewOptions view;
  std::vector<std::string> notes = {};
  std::optional<RequestStart> reduced_start = std::nullopt;  // set if a reduced budget changed it
  std::optional<Error> fault = std::nullopt;  // the stored part could not be read and is left out
};

struct PlanOptions {
  const ConversationOptions& options;
  const Provider& provider;
  bool by_response_id = true;                        // if possible
  std::optional<Message> last = std::nullopt;        // sent in this request only, not recorded
  std::optional<HistorySlice> slice = std::nullopt;  // instead of the whole record
  std::optional<TokenCount> budget = std::nullopt;   // lower than that of the options
  std::optional<RequestForm> form = std::nullopt;    // instead of the one that was accepted last
};

RequestPlan plan_request(const Record& record, PlanOptions options);

// invalid_argument when the prompt alone exceeds the budget, so that no turn would fit.
Result<> check_prompt_fits(const Record& record, PlanOptions options);

// The budget for a part of the history that is sent now, for a retry when the request is too long
// for the model; 0: only the last turn. nullopt when there are no older turns to leave out.
std::optional<TokenCount> part_of_history(const Record& record, PlanOptions options, double part);

// `view` must outlive the request.
Request make_request(const ConversationOptions& options, RequestPlan& plan, RequestView& view);

}  // namespace reprise
