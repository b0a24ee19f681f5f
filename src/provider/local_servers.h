#pragma once

// Finds model servers on this machine by their default ports.

#include "reprise/provider.h"

namespace reprise::provider {

struct KnownPort {
  std::string_view name;
  std::uint16_t port;
};

// In the order of `ports`. All are queried concurrently, each for at most `timeout`.
std::vector<LocalServer> ask_local_ports(std::span<const KnownPort> ports,
                                         std::chrono::milliseconds timeout);

}  // namespace reprise::provider
