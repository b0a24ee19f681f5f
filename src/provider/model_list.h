#pragma once

// The list of a server's models, {"data":[{"id":…}]} in all protocols, and the model servers on
// this machine, found by their default ports.

#include "base/http.h"
#include "provider/refusal.h"
#include "reprise/provider.h"

namespace reprise::provider {

inline constexpr std::size_t kModelsMax = 10'000;

// One page of the list. `next`: the id after which to continue, "" at the end.
struct ModelPage {
  std::vector<ModelInfo> models;
  std::string next;
};

// nullopt if it is not such a list.
std::optional<ModelPage> parse_model_page(std::string_view body);

// Receives a short response completely, limited in bytes and by a deadline.
class BoundedResponse final : public http::Receiver {
 public:
  BoundedResponse(std::size_t bytes_max, std::chrono::steady_clock::time_point deadline)
      : bytes_max_(bytes_max), deadline_(deadline) {}
  http::ReceiveAction head(const http::ResponseHead& head) override;
  http::ReceiveAction data(std::string_view bytes) override;

  const http::ResponseHead& response() const { return head_; }
  const std::string& body() const { return body_; }
  bool was_late() const { return is_late_; }

 private:
  std::size_t bytes_max_;
  std::chrono::steady_clock::time_point deadline_;
  http::ResponseHead head_;
  std::string body_;
  bool is_late_ = false;
};

// timeout when the page has not arrived by the deadline, unsupported by a server without a list.
Result<ModelPage> fetch_model_page(http::Transport& transport, const http::Request& sent,
                                   std::chrono::steady_clock::time_point deadline,
                                   const Endpoint& recipient, const std::stop_token& stop);

// Adds models with similar names to the error.
Error with_suggestions(Error error, std::string_view model, const std::vector<ModelInfo>& offered);

struct KnownPort {
  std::string_view name;
  std::uint16_t port;
};

// In the order of `ports`. All are queried concurrently, each for at most `timeout`.
std::vector<LocalServer> probe_local_ports(std::span<const KnownPort> ports,
                                           std::chrono::milliseconds timeout);

}  // namespace reprise::provider
