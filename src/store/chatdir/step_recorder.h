#pragma once

// Records a turn for the other programs of a chat directory: the request, its recipient, the
// stream, and the result, in the files of docs/formats/chatdir.md.
//
// Files are written during the turn: streamed text is on disk at most kStepPause plus one write
// later. A separate thread writes them, so that the stream never waits for the store.

#include <array>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

#include "reprise/capabilities.h"

namespace reprise::store::chatdir {

inline constexpr std::chrono::milliseconds kStepPause{36};

// Files of the newest step that are also in the chat's own folder.
inline constexpr std::string_view kModelFile = "model.json";
inline constexpr std::array<std::string_view, 5> kCopiedFiles = {
    "input.md", "prompt.md", kModelFile, "files.jsonl", "inputs.jsonl"};

// Moves a step out of the numbering, or, for step 0, the files that a new step replaces.
using ReplaceStep = std::function<Result<>(Step step)>;

// Begins to record a turn. Its step is the one that the original program takes and reads: one more
// than the number of earlier answers. Answers of the record may also be in later steps, of chats
// that lost messages; then the step is the one behind them. What is in the way and not in the
// record, an answer or a prompt without one, is never overwritten but handed to `replace_step`. A
// chat without messages goes on behind its steps; a prompt in its own folder is first saved as one.
// A turn that replaces an answer gets the number of that answer.
//
// The session is read from `messages`; both must outlive the recorder.
Result<std::unique_ptr<TurnRecorder>> record_step(Source& messages, Artefacts& artefacts,
                                                  const SessionId& id, const RecordedTurn& turn,
                                                  const ReplaceStep& replace_step);

class StepRecorder final : public TurnRecorder {
 public:
  // Writes what is known at the beginning of the turn at once. `next_model` is the new model.json
  // in the chat's own folder; "" if that does not change.
  StepRecorder(Artefacts& artefacts, SessionId session, Step step, const RecordedTurn& turn,
               std::string next_model = "");
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

  void begin(const RecordedTurn& turn, std::string next_model);
  void add(Step step, std::string_view name, std::string_view bytes);
  void add_part(std::string json);
  void run(const std::stop_token& stop);
  void write_pending();
  void write_files(const Files& files);
  void record_failure(const Result<>& result);

  Artefacts& artefacts_;
  const SessionId session_;
  const Step step_;
  Usage usage_;                               // of all requests of the step
  std::map<std::string, std::string> tools_;  // maps the id of a call to the tool's name
  Files results_;                             // the results, written at the end
  std::mutex mutex_;
  std::condition_variable_any wake_;
  Files files_;                   // guarded by mutex_: files to be written
  Files pending_;                 // guarded by mutex_: bytes to be appended to files
  std::optional<Error> failure_;  // guarded by mutex_
  std::jthread thread_;           // the last member, because it uses all others
};

}  // namespace reprise::store::chatdir
