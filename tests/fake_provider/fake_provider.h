#pragma once

// A model server for tests: supports openai-chat, openai-responses and anthropic on 127.0.0.1,
// checks every request as strictly as the real ones, and simulates faults on request (see
// README.md).

#include <memory>
#include <optional>
#include <vector>

#include "fake_provider/http.h"
#include "reprise/error.h"

namespace reprise::fake {

struct FakeOptions {
  std::uint16_t port = 0;             // 0: the kernel chooses
  std::string key;                    // "": any key, or none, is accepted
  std::optional<std::uint64_t> seed;  // ids and chances repeat with it; else they are unique
};

struct SeenRequest {
  std::int64_t number = 0;  // from 1
  std::string method;
  std::string path;
  Headers headers;
  std::string body;
  int status = 0;         // the response's status; 0 for no response
  bool whole = false;     // the response was sent completely
  std::string violation;  // "" if there was none
};

// Runs in its own threads until it is destroyed. Thread-safe.
class FakeProvider {
 public:
  static Result<std::unique_ptr<FakeProvider>> start(const FakeOptions& options = {});
  ~FakeProvider();
  FakeProvider(const FakeProvider&) = delete;
  FakeProvider& operator=(const FakeProvider&) = delete;

  std::string url() const;  // "http://127.0.0.1:PORT"
  std::uint16_t port() const;

  // Adds one line of a script; invalid_argument with the invalid word.
  Result<> add_rule(std::string_view line);

  std::int64_t request_count() const;
  std::vector<SeenRequest> requests() const;  // the last 100
  std::vector<std::string> violations() const;

  // Closes all connections and ends all threads. The requests can still be queried.
  void stop();

 private:
  class Impl;
  explicit FakeProvider(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reprise::fake
