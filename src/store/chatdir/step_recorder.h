#pragma once

// What a turn leaves behind for the other programs of a chat directory: what was asked, of whom,
// what streamed in, what came of it. Files as docs/formats/chatdir.md names them.
//
// It is written as it happens: what has streamed in is there at most kStepPause and one write
// later. The writes are made by a thread of its own, so that the stream never waits for the store.

#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

#include "reprise/capabilities.h"

namespace reprise::store::chatdir {

inline constexpr std::chrono::milliseconds kStepPause{36};

// A turn begins. Its step has a number: one more than there are answers before. A new answer never
// gets the number of a step that has one, nor of one before it: the record may have lost or given
// up that answer, and what is there is not written over. The same holds for a prompt that is not in
// the record; one that has no step, in a chat without any, is put into a step of its own first. A
// turn that replaces an answer gets its number.
//
// The session is read from `messages`; both must outlive the recorder.
Result<std::unique_ptr<TurnRecorder>> record_step(Source& messages, Artefacts& artefacts,
                                                  const SessionId& id, const RecordedTurn& turn);

class StepRecorder final : public TurnRecorder {
 public:
  // What is known when a turn begins is written at once.
  StepRecorder(Artefacts& artefacts, SessionId session, Step step, const RecordedTurn& turn);
  ~StepRecorder() override;
  StepRecorder(const StepRecorder&) = delete;
  StepRecorder& operator=(const StepRecorder&) = delete;
  StepRecorder(StepRecorder&&) = delete;
  StepRecorder& operator=(StepRecorder&&) = delete;

  void on_text(std::string_view text) override;
  void on_thinking(std::string_view text) override;
  void on_raw(const RawJson& block) override;
  void on_usage(const Usage& usage) override;
  void on_answer(const Message& answer) override;
  void on_tool_result(const ToolResultBlock& result) override;
  void on_failure(const Error& error) override;
  std::optional<Error> finish() override;

 private:
  // By step and name.
  using Files = std::map<std::pair<Step, std::string>, std::string>;

  void begin(const RecordedTurn& turn);
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

}  // namespace reprise::store::chatdir
