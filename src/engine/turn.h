#pragma once

// One turn: requests and tool rounds until the model has answered. Record::begin() has been called
// before; the turn ends the running answer.

#include "engine/blobs.h"
#include "engine/lesson.h"
#include "engine/reply.h"
#include "engine/request_ladder.h"
#include "reprise/conversation.h"

namespace reprise {

class Record;
class TurnRecorder;
struct PlanOptions;
struct RequestPlan;

struct TurnStart {
  std::vector<Message> incomplete = {};  // interrupted answers that the first reply continues
  std::optional<Seq> replace_from = std::nullopt;  // the position of the first reply in the record
};

class Turn {
 public:
  // All references must outlive the turn. `recorder` is null if no program expects artefacts.
  Turn(Provider& provider, Record& record, const ConversationOptions& options,
       TurnObserver& observer, TurnRecorder* recorder);

  // An exception of a callback propagates after the answer so far has been stored as incomplete.
  Result<Outcome> run(TurnStart start, std::stop_token stop);

 private:
  int rounds_max() const;
  Result<Outcome> run_rounds();
  bool repeats_after_pause(Message& answer, int& pauses);
  void abandon();
  void announce(std::optional<StopReason> reason, const Message& answer);
  Result<> request_reply(Reply& reply);
  Result<> stream(RequestPlan plan, Reply& reply);
  const Lesson& lesson();
  void on_accepted(bool is_whole);
  void remember();
  bool climb(const Error& refusal, const PlanOptions& plan_options);
  bool make_shorter(const Refusal& refusal, const PlanOptions& plan_options,
                    const RequestSize& size);
  bool cut_history(const Refusal& refusal, const PlanOptions& plan_options,
                   const RequestSize& size);
  TokenCount known_limit(const RequestSize& size);
  bool stops_continuing(const Error& refusal);
  Error first_refusal(Error last) const;
  void on_event(const StreamEvent& event);
  Message finished(Reply& reply, bool interrupted);
  void make_countable(Message& answer) const;
  Message joined_with_incomplete(Message answer);
  const Message& add_answer(bool has_next_round);
  const Message& store_answer(bool has_next_round);
  void store_result(ToolResultBlock result);
  void run_calls(const std::vector<ToolUseBlock>& calls, bool refuse);
  Result<Outcome> end_without_reply(Error error);
  std::unexpected<Error> lost(Reply& reply);
  Outcome outcome(const Message& answer, std::optional<Error> error) const;

  Provider& provider_;
  Record& record_;
  const ConversationOptions& options_;
  TurnObserver& observer_;
  TurnRecorder* recorder_;
  std::stop_token stop_;
  TurnStart start_;
  bool by_response_id_ = true;
  bool rejects_response_ids_ = false;  // a request by response id was rejected
  std::optional<TokenCount> budget_;   // set after the model has rejected a longer request
  RequestLadder ladder_;
  bool has_form_ = false;                   // the ladder has begun
  std::optional<Lesson> lesson_;            // from earlier sessions
  std::optional<TokenCount> listed_limit_;  // in the server's list of models; 0: unknown
  std::optional<RequestStart> start_at_;    // of the last request, if it left out older turns
  SentParts sent_;                          // in the last request
  std::vector<Usage> recent_;               // of the newest answers
  std::optional<Refusal> refusal_;          // of the last request
  std::optional<Reply> reply_;              // of this round; empty after its message was made
  std::optional<Message> unstored_;         // the message made of it, until the record has it
  std::optional<Message> answer_;           // the last one
};

inline constexpr std::size_t kToolsAtOnce = 8;

// Called with each result as it arrives, in the thread that called run_tools().
using ToolResultSink = std::function<void(const ToolUseBlock& call, ToolResultBlock result)>;

// Every call gets one result, except those not started when the context's stop was requested.
// Returns when all started calls have ended: long-running tools should check the stop token.
void run_tools(const ConversationOptions& options, const ToolContext& context,
               const std::vector<ToolUseBlock>& calls, const ToolResultSink& sink,
               const BlobSink& on_blob = ignore_blob);

// The result of a rejected call.
ToolResultBlock error_result(const ToolUseBlock& call, std::string_view text);

}  // namespace reprise
