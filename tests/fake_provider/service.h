#pragma once

// Answers one HTTP request: finds the protocol, checks the request, selects the behaviour, and
// sends.

#include <array>
#include <memory>
#include <mutex>

#include "fake_provider/answer.h"
#include "fake_provider/behaviour.h"
#include "fake_provider/fake_provider.h"
#include "fake_provider/http.h"
#include "fake_provider/json_value.h"
#include "fake_provider/protocol.h"
#include "fake_provider/record.h"
#include "reprise/error.h"

namespace reprise::fake {

// Thread-safe.
class Service {
 public:
  explicit Service(const FakeOptions& options);

  // Whether the connection can be used again.
  bool serve(Connection& connection, const HttpRequest& request);

  Result<> add_rule(std::string_view line);
  const Record& record() const { return record_; }

 private:
  struct Exchange {  // one request to a protocol
    Connection& connection;
    const HttpRequest& request;
    std::int64_t number;
    Protocol& protocol;
    Value body = {};
    Choice choice = {};
    Answer answer = {};
  };

  bool control(Connection& connection, const HttpRequest& request);
  bool conversation(Connection& connection, const HttpRequest& request, Protocol& protocol);
  Result<> check(Exchange& exchange);
  Result<Turn> understand(Exchange& exchange);
  Answer make_answer(const Exchange& exchange, const Turn& turn);
  bool refuse(const Exchange& exchange, const Error& error);
  bool send_problem(const Exchange& exchange, const Problem& problem);
  bool replay(const Exchange& exchange);
  bool answer_wrongly(const Exchange& exchange, bool& handled);
  bool answer_rightly(Exchange& exchange);
  bool send_plain(Exchange& exchange);
  Headers request_id(const Exchange& exchange) const;
  std::string_view key_of(const HttpRequest& request, const Protocol& protocol) const;

  std::string key_;
  std::uint64_t seed_;
  Record record_;
  std::mutex mutex_;  // guards the members below
  Script script_;
  std::array<std::unique_ptr<Protocol>, 3> protocols_;
  std::int64_t ids_ = 0;
};

}  // namespace reprise::fake
