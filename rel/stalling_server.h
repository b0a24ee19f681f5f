#pragma once

// A model server that sends a given part of its answer, and then waits.

#include <vector>

#include "base/file.h"

namespace reprise::rel {

class StallingServer {
 public:
  StallingServer();

  // "http://127.0.0.1:PORT"
  std::string url() const;
  // Accepts the next connection and reads its request; false if there is none within 20 s.
  bool accept_request();
  // Sends, and returns when the other side has read everything; false if it does not.
  bool send(std::string_view bytes) const;
  void disconnect() { peer_ = Fd(); }
  // Further connection attempts block.
  void fill_queue();
  void empty_queue();

 private:
  bool is_read() const;

  Fd listener_;
  std::uint16_t port_ = 0;
  Fd peer_;
  std::vector<Fd> queue_;
};

// The text of the answer in the complete events of a truncated response with its head and chunks,
// in any of the three protocols.
std::string text_in(std::string_view response);

}  // namespace reprise::rel
