#pragma once

// Decides what a request contains: the prompt, the start of the history within the budget, or only
// the new messages after an answer that the provider still has.

#include "engine/history.h"
#include "engine/lesson.h"
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
  std::optional<RequestStart> start = std::nullopt;  // if a length that was refused determines it
  std::optional<TokenCount> cut_to = std::nullopt;   // the budget, because of the known limit
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
  Lesson lesson = {};                                // about the target
};

RequestPlan plan_request(const Record& record, PlanOptions options);

// invalid_argument when the prompt alone exceeds the budget, so that no turn would fit.
Result<> check_prompt_fits(const Record& record, PlanOptions options);

// The estimated size of a request with the whole history that may be sent now.
RequestSize measure_request(const Record& record, PlanOptions options);

// The budget for a request that has at most `wanted` tokens of history, or only the last turn if
// that is more. nullopt when there are no older turns to leave out.
std::optional<TokenCount> shorter_budget(const Record& record, PlanOptions options,
                                         TokenCount wanted);

// `view` must outlive the request.
Request make_request(const ConversationOptions& options, RequestPlan& plan, RequestView& view);

}  // namespace reprise
