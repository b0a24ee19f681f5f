#pragma once

// A model server that sends as much of its answer as it is told to, and then waits.

#include <vector>

#include "base/file.h"

namespace reprise::rel {

class HeldServer {
 public:
  HeldServer();

  // "http://127.0.0.1:PORT"
  std::string url() const;
  // Takes the next connection and its whole request; false when none comes in 20 s.
  bool take_request();
  // Sends, and returns when the other side has read all of it; false when it does not.
  bool send(std::string_view bytes) const;
  void hang_up() { peer_ = Fd(); }
  // Nobody can connect any more: who tries waits.
  void fill_queue();
  void empty_queue();

 private:
  bool is_read() const;

  Fd listener_;
  std::uint16_t port_ = 0;
  Fd peer_;
  std::vector<Fd> queue_;
};

// The text of an answer that is in the events which are whole in the first bytes of a response:
// its head, its chunks, its events, in any of the three protocols.
std::string text_in(std::string_view response);

}  // namespace reprise::rel
