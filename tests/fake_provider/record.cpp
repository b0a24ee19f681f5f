#include "fake_provider/record.h"

#include <algorithm>
#include <cstddef>
#include <mutex>

#include "base/json_write.h"
#include "base/text.h"
#include "fake_provider/fake_provider.h"
#include "fake_provider/http.h"

namespace reprise::fake {
namespace {

constexpr std::size_t kRequestsMax = 100;

}  // namespace

SeenRequest* Record::find(std::int64_t number) {
  const auto found = std::ranges::find(requests_, number, &SeenRequest::number);
  return found == requests_.end() ? nullptr : &*found;
}

std::int64_t Record::begin(const HttpRequest& request) {
  const std::scoped_lock lock(mutex_);
  SeenRequest& seen = requests_.emplace_back();
  seen.number = ++count_;
  seen.method = request.method;
  seen.path = request.path;
  seen.headers = request.headers;
  seen.body = request.body;
  if (requests_.size() > kRequestsMax) {
    requests_.pop_front();
  }
  return count_;
}

void Record::answered(std::int64_t number, int status, bool whole) {
  const std::scoped_lock lock(mutex_);
  if (SeenRequest* seen = find(number); seen != nullptr) {
    seen->status = status;
    seen->whole = whole;
  }
}

void Record::violated(std::int64_t number, std::string_view message) {
  const std::scoped_lock lock(mutex_);
  if (SeenRequest* seen = find(number); seen != nullptr) {
    seen->violation = message;
  }
  violations_.push_back(cat("request ", number, ": ", message));
}

std::int64_t Record::count() const {
  const std::scoped_lock lock(mutex_);
  return count_;
}

std::vector<SeenRequest> Record::requests() const {
  const std::scoped_lock lock(mutex_);
  return {requests_.begin(), requests_.end()};
}

std::vector<std::string> Record::violations() const {
  const std::scoped_lock lock(mutex_);
  return violations_;
}

std::string Record::requests_json() const {
  const std::scoped_lock lock(mutex_);
  std::string list;
  json::ArrayWriter array(list);
  for (const SeenRequest& seen : requests_) {
    array.item();
    json::ObjectWriter object(list);
    object.field("number", seen.number)
        .field("method", seen.method)
        .field("path", seen.path)
        .field("status", seen.status)
        .field("whole", seen.whole)
        .field("violation", seen.violation)
        .field("body", seen.body);
    object.key("headers");
    json::ObjectWriter headers(list);
    for (const auto& [name, value] : seen.headers) {
      headers.field(name, value);
    }
    headers.close();
    object.close();
  }
  array.close();
  std::string out;
  json::ObjectWriter object(out);
  object.field("count", count_).raw("requests", list).close();
  return out;
}

std::string Record::violations_json() const {
  const std::scoped_lock lock(mutex_);
  std::string list;
  json::ArrayWriter array(list);
  for (const std::string& violation : violations_) {
    array.item();
    json::append_string(list, violation);
  }
  array.close();
  std::string out;
  json::ObjectWriter object(out);
  object.field("count", static_cast<std::int64_t>(violations_.size()))
      .raw("violations", list)
      .close();
  return out;
}

}  // namespace reprise::fake
