#include "reprise/environment.h"

#include <sys/random.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "base/encode.h"
#include "base/variable.h"

namespace reprise {
namespace {

class SystemClock final : public Clock {
 public:
  Time now() override {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  }
};

class SystemEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::getrandom(bytes.data(), bytes.size(), 0);
      if (count > 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(count));
      }
    }
  }
};

// RFC 9562, sections 5.4 and 5.7: 48 bits of randomness or milliseconds, version, 12 random bits,
// variant, 62 random bits.
std::string make_uuid(Clock& clock, Entropy& entropy, UuidVersion version) {
  std::array<std::uint8_t, 16> bytes{};
  entropy.fill(bytes);
  if (version == UuidVersion::v7) {
    const auto millis = static_cast<std::uint64_t>(
        std::chrono::floor<std::chrono::milliseconds>(clock.now()).time_since_epoch().count());
    for (std::size_t i = 0; i < 6; ++i) {
      bytes.at(i) = static_cast<std::uint8_t>(millis >> (40U - 8U * i));
    }
  }
  const auto number = static_cast<unsigned>(version);
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0FU) | (number << 4U));
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3FU) | 0x80U);
  std::string text = hex_encode(std::string(bytes.begin(), bytes.end()));
  for (const std::size_t dash : {20U, 16U, 12U, 8U}) {
    text.insert(dash, 1, '-');
  }
  return text;
}

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

Entropy& system_entropy() {
  static SystemEntropy entropy;
  return entropy;
}

SessionId make_session_id(Clock& clock, Entropy& entropy, UuidVersion version) {
  return *SessionId::parse(make_uuid(clock, entropy, version));
}

OperationId make_operation_id(Clock& clock, Entropy& entropy) {
  return *OperationId::parse(make_uuid(clock, entropy, UuidVersion::v7));
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody calls setenv
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace reprise
