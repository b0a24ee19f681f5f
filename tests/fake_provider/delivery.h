#pragma once

// Sends an answer's events, correctly or with the faults of a behaviour.

#include <functional>
#include <vector>

#include "fake_provider/behaviour.h"
#include "fake_provider/http.h"
#include "fake_provider/protocol.h"
#include "reprise/error.h"

namespace reprise::fake {

enum class Sent : std::uint8_t {
  whole,   // the connection can be used again
  closed,  // complete, but the connection must be closed
  cut,     // incomplete; the connection must be closed
};

struct Stream {
  Headers headers;  // beside the usual ones
  std::vector<SseEvent> events;
  SseEvent overload;                 // sent in mid-stream when the behaviour asks for it
  std::function<void()> before_end;  // called before the first of the events that end it
};

Result<Sent> deliver(Connection& connection, const Behaviour& behaviour, const Stream& stream);

// Sends an invalid stream.
Result<Sent> deliver_garbage(Connection& connection);

}  // namespace reprise::fake
