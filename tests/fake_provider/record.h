#pragma once

// The requests that the server has received. Thread-safe.

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "fake_provider/fake_provider.h"
#include "fake_provider/http.h"

namespace reprise::fake {

class Record {
 public:
  // Returns the number of the request.
  std::int64_t begin(const HttpRequest& request);
  void answered(std::int64_t number, int status, bool whole);
  void violated(std::int64_t number, std::string_view message);

  std::int64_t count() const;
  std::vector<SeenRequest> requests() const;
  std::vector<std::string> violations() const;

  std::string requests_json() const;
  std::string violations_json() const;

 private:
  SeenRequest* find(std::int64_t number);

  mutable std::mutex mutex_;
  std::int64_t count_ = 0;
  std::deque<SeenRequest> requests_;
  std::vector<std::string> violations_;
};

}  // namespace reprise::fake
