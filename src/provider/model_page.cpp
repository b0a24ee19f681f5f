// Fetches the list of a server's models.

#include "base/http.h"
#include "base/suggest.h"
#include "base/text.h"
#include "provider/http_provider.h"
#include "provider/key_mask.h"
#include "provider/model_list.h"
#include "provider/refusal.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

constexpr std::size_t kModelsBytesMax = 16 << 20;  // routers list hundreds, with long descriptions
constexpr std::size_t kNearModels = 3;

}  // namespace

Result<ModelPage> fetch_model_page(http::Transport& transport, const http::Request& sent,
                                   std::chrono::steady_clock::time_point deadline,
                                   const Recipient& recipient, const std::stop_token& stop) {
  ShortAnswer answer(kModelsBytesMax, deadline);
  REPRISE_TRY(transport.send(sent, answer, stop));
  const std::string host = http::host_of(recipient.base_url);
  if (answer.was_late()) {
    return fail(Code::timeout, cat(host, " took too long to list its models; try again later"));
  }
  const int status = answer.response().status;
  if (status == 404 || status == 405) {
    return fail(Code::unsupported, cat(host, " does not list its models (", status, ")"));
  }
  if (status != 200) {
    return std::unexpected(error_of_status(recipient, answer.response(), answer.body()));
  }
  auto page = parse_model_page(answer.body());
  if (!page) {
    return fail(Code::unsupported,
                cat(host, " did not return a list of models; check the base URL"));
  }
  for (ModelInfo& model : page->models) {
    model.id = masked(model.id, recipient.secrets);
    model.name = masked(model.name, recipient.secrets);
  }
  return *std::move(page);
}

Error with_suggestions(Error error, std::string_view model, const std::vector<ModelInfo>& offered) {
  std::vector<std::string_view> ids;
  ids.reserve(offered.size());
  for (const ModelInfo& one : offered) {
    ids.push_back(one.id);
  }
  std::string_view gap = ", such as ";
  for (const std::string_view id : nearest_few(model, ids, kNearModels)) {
    error.message += cat(std::exchange(gap, ", "), id);
  }
  return error;
}

}  // namespace reprise::provider
