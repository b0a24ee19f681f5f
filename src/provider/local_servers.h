#pragma once

// Model servers on this machine, found on the ports they use when nobody chose another.

#include "reprise/provider.h"

namespace reprise::provider {

struct KnownPort {
  std::string_view name;
  std::uint16_t port;
};

// In the order of `ports`. All are asked at once; none takes longer than `timeout`.
std::vector<LocalServer> ask_local_ports(std::span<const KnownPort> ports,
                                         std::chrono::milliseconds timeout);

}  // namespace reprise::provider
