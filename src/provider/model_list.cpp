#include "provider/model_list.h"

#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "provider/refusal.h"
#include "reprise/provider.h"

namespace reprise::provider {

std::optional<ModelPage> parse_model_page(std::string_view body) {
  if (!is_json_object(body) || !JsonView(body)["data"].is(json::Kind::array)) {
    return std::nullopt;
  }
  const JsonView list(body);
  ModelPage page;
  list["data"].each([&](JsonView model) {
    ModelInfo info{.id = one_line(model["id"].text(), ""),
                   .name = one_line(model["display_name"].text(), ""),
                   .ends_on = one_line(model["shutdown_date"].text(), "")};
    if (!info.id.empty() && page.models.size() < kModelsMax) {
      page.models.push_back(std::move(info));
    }
  });
  if (list["has_more"].raw() == "true") {
    page.next = list["last_id"].text();
  }
  return page;
}

http::Want ShortAnswer::head(const http::ResponseHead& head) {
  head_ = head;
  return http::Want::more;
}

http::Want ShortAnswer::data(std::string_view bytes) {
  late_ = std::chrono::steady_clock::now() > deadline_;
  body_ += bytes.substr(0, bytes_max_ - body_.size());
  return late_ || body_.size() == bytes_max_ ? http::Want::nothing : http::Want::more;
}

}  // namespace reprise::provider
