#pragma once

// What of the record goes into a request: the prompt, where the history begins within the budget,
// or only what is new after an answer that the provider still has.

#include "engine/record.h"
#include "engine/request_view.h"

namespace reprise {

struct RequestPlan {
  std::string system = {};
  std::string previous_response_id = {};
  bool keep_response = false;
  std::string conversation = {};
  bool grows = true;  // the next request begins with the same messages
  ViewOptions view;
  std::vector<std::string> notes = {};
  std::optional<RequestStart> cut_at = std::nullopt;  // where a tighter budget made it begin
  std::optional<Error> fault = std::nullopt;  // the stored part could not be read and is left out
};

struct PlanOptions {
  const ConversationOptions& options;
  const Provider& provider;
  bool by_response_id = true;                        // when it is possible
  std::optional<Message> last = std::nullopt;        // said in this request only
  std::optional<HistorySlice> slice = std::nullopt;  // instead of the whole record
  std::optional<TokenCount> budget = std::nullopt;   // tighter than that of the options
};

RequestPlan plan_request(const Record& record, PlanOptions how);

// invalid_argument when the prompt alone is over the budget: no turn would fit.
Result<> check_prompt_fits(const Record& record, PlanOptions how);

// The half of what a request has of the record: what to try when a model takes less than all of it.
// nullopt when older turns cannot be left out, as there are none.
std::optional<TokenCount> half_of_history(const Record& record, PlanOptions how);

// `view` must outlive the request.
Request make_request(const ConversationOptions& options, RequestPlan& plan, RequestView& view);

// The last message that is a question; where it stands in the store or in memory.
Result<std::optional<HistoryPlace>> find_last_question(const HistorySlice& slice);

// How the record ends, for what can be continued.
struct RecordEnd {
  enum class Kind : std::uint8_t { nothing, question, calls, incomplete, answered };
  Kind kind = Kind::nothing;
  std::vector<Message> incomplete;  // the cut answers at the end, in order
};
Result<RecordEnd> find_end(const HistorySlice& slice);

}  // namespace reprise
