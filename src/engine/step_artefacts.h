#pragma once

// What a turn leaves behind in a store whose programs look for it (StoreHolds::step_artefacts):
// what was asked, of whom, what streamed in, what came of it. Files as docs/formats/chatdir.md
// names them.
//
// It is written as it happens: what has streamed in is there at most kPartialPause and one write
// later. The writes are made by a thread of its own, so that the stream never waits for the store.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/provider.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise {

struct StepStart {
  Step step;
  std::vector<Block> question = {};  // empty when an answer goes on
  std::string provider = {};
  std::string model = {};
};

// The number of a turn: one more than there are answers before. A new answer never gets the number
// of a step that has one, nor of one before it: the record may have lost or given up that answer,
// and what is there is not written over. The same holds for a prompt that is not in the record; one
// that has no step, in a chat without any, is put into a step of its own first. One that replaces
// the answer at `replaces` gets its number.
Result<Step> choose_step(Store& store, Artefacts& artefacts, const SessionId& id,
                         std::optional<Seq> replaces);

class StepArtefacts {
 public:
  // The artefacts must outlive it. What is known when a turn begins is written at once.
  StepArtefacts(Artefacts& artefacts, SessionId session, const StepStart& start);
  ~StepArtefacts();
  StepArtefacts(const StepArtefacts&) = delete;
  StepArtefacts& operator=(const StepArtefacts&) = delete;

  void on(const StreamEvent& event);
  void on_answer(const Message& answer);
  void on_tool_result(const ToolResultBlock& result);
  void on_failure(const Error& error);

  // Writes the rest and ends the thread. The first failure, if there was one.
  std::optional<Error> finish();

 private:
  // By step and name.
  using Files = std::map<std::pair<Step, std::string>, std::string>;

  void begin(const StepStart& start);
  void add(Step step, std::string_view name, std::string_view bytes);
  void add_part(std::string json);
  void run(const std::stop_token& stop);
  void write_pending();
  void write_whole(const Files& files);
  void note(const Result<>& result);

  Artefacts& artefacts_;
  const SessionId session_;
  const Step step_;
  Usage usage_;                               // of all requests of the step
  std::map<std::string, std::string> tools_;  // by the id of a call, the tool's name
  Files results_;                             // what came of it, written when all is known
  std::mutex mutex_;
  std::condition_variable_any wake_;
  Files whole_;                   // guarded by mutex_: files to be written
  Files pending_;                 // guarded by mutex_: what is to be added to files
  std::optional<Error> failure_;  // guarded by mutex_
  std::jthread thread_;           // last: uses all the others
};

}  // namespace reprise
