#include "provider/http_provider.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <stop_token>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "provider/answer.h"
#include "provider/body_changes.h"
#include "provider/codec.h"
#include "provider/model_list.h"
#include "provider/refusal.h"
#include "provider/request_body.h"
#include "provider/retry.h"
#include "provider/secret_mask.h"
#include "reprise/environment.h"

namespace reprise::provider {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSimilarModelsTimeout{2'000};
constexpr int kBadRequest = 400;
constexpr int kLengthRequired = 411;

// What servers are known to require. Others are learned from refusals.
struct KnownServer {
  std::string_view host;
  RequestForm form;
};
constexpr KnownServer kKnownServers[] = {
    {"api.mistral.ai", {.answers_results = true}},
};

RequestForm known_form(std::string_view host) {
  const auto* const known = std::ranges::find(kKnownServers, host, &KnownServer::host);
  return known == std::end(kKnownServers) ? RequestForm() : known->form;
}

class NoMessages final : public RequestMessages {
 public:
  Result<std::optional<Message>> next() override { return std::optional<Message>(); }
  Result<> rewind() override { return {}; }
  std::int64_t bytes_estimate() const override { return 0; }
};

// A failed attempt: why, and whether and when to retry.
struct Failure {
  Error error;
  bool retry = false;
  bool immediate = false;  // without a pause, since what was rejected is different now
  std::optional<milliseconds> pause = std::nullopt;  // requested by the provider
  int status = 0;                                    // of a refusal, with its body
  std::string refusal = {};
};

class HttpProvider final : public Provider {
 public:
  HttpProvider(const ProviderKind& kind, std::unique_ptr<Codec> codec, ProviderOptions options,
               Dependencies dependencies)
      : kind_(kind),
        codec_(std::move(codec)),
        options_(std::move(options)),
        secrets_(secrets_of(options_)),
        dependencies_(std::move(dependencies)),
        host_(ascii_lower(http::host_of(options_.base_url))),
        is_default_host_(http::is_same_server(options_.base_url, kind.default_url)) {}

  std::string_view name() const override { return codec_->name(); }
  bool stores_responses() const override { return codec_->stores_responses(); }
  std::string_view host() const override { return host_; }
  RequestForm usual_form() const override { return known_form(host_); }
  bool continues_responses() const override { return codec_->continues_responses(); }

  Result<> stream(Request& request, const StreamSink& sink, std::stop_token stop) override {
    choose_caching(request);
    request.refusal.reset();
    BodyChanges changes = changes_for(request);
    for (int retry = 0;; ++retry) {
      const auto failure = attempt(request, changes, sink, stop);
      if (!failure) {
        return {};
      }
      if (failure->immediate) {
        --retry;
        continue;
      }
      if (auto adjustment = adjustment_for(request, changes, *failure)) {
        save_difference(request.model, changes, adjustment->changes);
        changes = changes_for(request);
        if (!adjustment->left_out.empty()) {
          sink(ParameterLeftOut{adjustment->left_out, failure->error});
        }
        --retry;  // each one removes something, so they are finite
        continue;
      }
      const milliseconds requested = failure->pause.value_or(milliseconds(0));
      const milliseconds pause =
          requested > milliseconds(0) ? requested : backoff(retry, dependencies_.entropy);
      if (!failure->retry || retry >= options_.retries_max || pause > kPauseMax) {
        request.refusal = refusal_for(request, changes, *failure);
        return std::unexpected(is_model_unknown(failure->status, failure->refusal)
                                   ? with_similar_models(failure->error, request.model, stop)
                                   : failure->error);
      }
      sink(Retrying{failure->error, pause, reason_to_retry(failure->status), retry + 2,
                    options_.retries_max + 1});
      if (!dependencies_.sleeper(pause, stop)) {
        return fail(Code::cancelled, "stopped");
      }
    }
  }

  Result<std::vector<ModelInfo>> models(milliseconds timeout, std::stop_token stop) override {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    std::vector<ModelInfo> all;
    std::string after;
    do {
      REPRISE_ASSIGN(ModelPage page, model_page(after, deadline, stop));
      after = page.models.empty() || page.next == after ? "" : std::move(page.next);
      std::ranges::move(page.models, std::back_inserter(all));
    } while (!after.empty() && all.size() < kModelsMax);
    return all;
  }

  Result<std::string> dry_run(Request& request) override {
    choose_caching(request);
    http::Request sent = http_request(request, options_.api_key.empty() ? "" : "***");
    REPRISE_ASSIGN(sent.body, render_body(*codec_, request, masked_extra(options_.extra),
                                          changes_for(request)));
    return format_request(sent, options_);
  }

 private:
  http::Request http_request(const Request& request, std::string_view api_key) const {
    return request_head(*codec_, options_, request, api_key);
  }

  // Other servers may not support it.
  void choose_caching(Request& request) const {
    if (!request.options.prompt_cache) {
      request.options.prompt_cache = is_default_host_;
    }
  }

  Endpoint recipient(const Request& request) const {
    return {.base_url = options_.base_url,
            .api_key = options_.api_key,
            .secrets = secrets_,
            .key_variable = std::string(kind_.key_variable),
            .key_advice = options_.key_advice,
            .continued = !request.previous_response_id.empty()};
  }

  // What this model has rejected before, and what the request's form leaves out.
  BodyChanges changes_for(const Request& request) {
    constexpr std::int64_t kShortAnswer = 1024;
    BodyChanges changes;
    {
      const std::scoped_lock lock(changes_mutex_);
      if (const auto found = changes_.find(request.model); found != changes_.end()) {
        changes = found->second;
      }
    }
    if (request.form.omits_parameters) {
      changes.left_out.merge(droppable(request, {}));
    }
    if (request.form.short_answers && has_default_limit(request)) {
      changes.max_tokens = std::min(changes.max_tokens.value_or(kShortAnswer), kShortAnswer);
    }
    return changes;
  }

  std::set<std::string, std::less<>> droppable(const Request& request,
                                               const BodyChanges& changes) const {
    const auto head = body_head(*codec_, request, options_.extra, changes);
    return head ? droppable_parameters(*head, given_parameters(*codec_, request))
                : std::set<std::string, std::less<>>();
  }

  // What a refusal has taught, without what only this request's form leaves out.
  void save_difference(const std::string& model, const BodyChanges& before,
                       const BodyChanges& after) {
    const std::scoped_lock lock(changes_mutex_);
    BodyChanges& saved = changes_[model];
    saved.is_limit_renamed = saved.is_limit_renamed || after.is_limit_renamed;
    if (after.max_tokens != before.max_tokens) {
      saved.max_tokens = after.max_tokens;
    }
    std::ranges::set_difference(after.left_out, before.left_out,
                                std::inserter(saved.left_out, saved.left_out.end()));
  }

  bool has_default_limit(const Request& request) const {
    return codec_->needs_max_tokens() && !request.max_tokens &&
           json::find_member(options_.extra.text(), "max_tokens").empty();
  }

  std::optional<RequestAdjustment> adjustment_for(const Request& request,
                                                  const BodyChanges& changes,
                                                  const Failure& failure) const {
    if (failure.status == 0) {
      return std::nullopt;
    }
    const auto head = body_head(*codec_, request, options_.extra, changes);
    if (!head) {
      return std::nullopt;  // nothing was sent
    }
    return adjust(changes, {*head, failure.status, failure.refusal, has_default_limit(request),
                            given_parameters(*codec_, request)});
  }

  // What the engine may change in a refused request.
  std::optional<Refusal> refusal_for(const Request& request, const BodyChanges& changes,
                                     const Failure& failure) const {
    const auto head = body_head(*codec_, request, options_.extra, changes);
    if (failure.status == 0 || failure.error.code == Code::expired || !head ||
        blames_given({.head = *head,
                      .status = failure.status,
                      .answer = failure.refusal,
                      .given = given_parameters(*codec_, request)})) {
      return std::nullopt;
    }
    auto refusal = refusal_of(failure.status, failure.refusal);
    if (refusal) {
      refusal->has_parameters = !droppable(request, changes).empty();
      refusal->hint.short_answers = has_default_limit(request);
    }
    return refusal;
  }

  // The page after the model `after`, "" for the first.
  Result<ModelPage> model_page(std::string_view after,
                               std::chrono::steady_clock::time_point deadline,
                               const std::stop_token& stop) {
    NoMessages no_messages;
    const Request plain{.stream = false, .messages = no_messages};
    http::Request sent = http_request(plain, options_.api_key);
    sent.method = "GET";
    std::erase_if(sent.headers,
                  [](const http::Header& header) { return header.name == "Content-Type"; });
    const std::string_view base = options_.base_url;
    sent.url = http::with_path(base, codec_->models_path(base.substr(0, base.find_first_of("?#"))));
    if (!after.empty()) {
      sent.url += cat(sent.url.find('?') == std::string::npos ? "?" : "&",
                      "after_id=", percent_encoded(after));
    }
    const auto remaining =
        std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    sent.idle_timeout = std::max(remaining, milliseconds(1));
    sent.connect_timeout = std::min(options_.connect_timeout, sent.idle_timeout);
    return fetch_model_page(*dependencies_.transport, sent, deadline, recipient(plain), stop);
  }

  // Adds models with similar names, if the provider responds quickly.
  Error with_similar_models(Error error, std::string_view model, const std::stop_token& stop) {
    const auto all = models(kSimilarModelsTimeout, stop);
    if (!all) {
      return error;  // keep the original one
    }
    return with_suggestions(std::move(error), model, *all);
  }

  // nullopt after a complete answer.
  std::optional<Failure> attempt(Request& request, const BodyChanges& changes,
                                 const StreamSink& sink, const std::stop_token& stop) {
    http::Request sent = http_request(request, options_.api_key);
    StreamedBody body(*codec_, request, options_.extra, changes);
    if (needs_length_ || request.messages.bytes_estimate() < kBufferedBodyBytes) {
      auto rendered = render_body(*codec_, request, options_.extra, changes);
      if (!rendered) {
        return Failure{.error = std::move(rendered).error()};
      }
      sent.body = *std::move(rendered);
    } else {
      if (auto rewound = body.rewind(); !rewound) {
        return Failure{.error = std::move(rewound).error()};
      }
      sent.source = &body;
    }
    MaskedSink masked(sink, secrets_);
    const StreamSink masked_sink = std::ref(masked);
    ReplyWriter out(masked_sink, options_.good_ends);
    const std::unique_ptr<ReplyReader> reader = codec_->reader(out);
    Answer answer(*reader, out, options_.answer_bytes_max);
    Result<> done = dependencies_.transport->send(sent, answer, stop);
    auto failure =
        failure_of(request, {out, *reader, answer, sent.source != nullptr}, std::move(done));
    masked.end();
    return failure;
  }

  struct Attempt {
    ReplyWriter& out;
    ReplyReader& reader;
    Answer& answer;
    bool was_streamed;  // the body, whose length was unknown
  };

  std::optional<Failure> failure_of(const Request& request, Attempt attempt, Result<> done) {
    auto& [out, reader, answer, was_streamed] = attempt;
    const http::ResponseHead& head = answer.response();
    if (head.status != 0 && answer.refused() && (done || done.error().code == Code::io)) {
      auto pause = retry_after(head.headers, dependencies_.clock.now());
      if (!pause) {
        pause = retry_delay(answer.body());
      }
      const bool needs_length = head.status == kLengthRequired && was_streamed;
      needs_length_ = needs_length_ || needs_length;
      return Failure{.error = error_of_status(recipient(request), head, answer.body(), pause),
                     .retry = worth_retrying(head.status, answer.body()),
                     .immediate = needs_length,
                     .pause = pause,
                     .status = head.status,
                     .refusal = answer.body()};
    }
    std::string reason;  // the server's, within the stream
    if (done) {
      done = answer.finish();
      if (!done) {
        reason = done.error().message;
        done = std::unexpected(mid_stream_error(recipient(request), done.error()));
      }
    }
    // Disconnected after the content was complete: nothing is missing.
    if (done || (reader.complete() && done.error().code == Code::io)) {
      reader.finish(http::find_header(head.headers, "x-request-id"));
      return std::nullopt;
    }
    out.end_open_blocks();
    Failure failure{.error = done.error(), .retry = !out.began() && worth_retrying(done.error())};
    if (const Code code = failure.error.code;
        !out.began() &&
        (code == Code::too_long || code == Code::unsupported || code == Code::invalid_argument)) {
      failure.status = kBadRequest;  // a refusal within a stream
      const std::string fault(answer.fault());
      failure.refusal = reason_in(fault).empty() ? std::move(reason) : fault;
    }
    return failure;
  }

  const ProviderKind& kind_;
  std::unique_ptr<Codec> codec_;
  ProviderOptions options_;
  Secrets secrets_;  // in the options
  Dependencies dependencies_;
  std::mutex changes_mutex_;
  std::map<std::string, BodyChanges> changes_;  // by model
  std::string host_;
  bool is_default_host_;                    // the base URL is the default one
  std::atomic<bool> needs_length_ = false;  // the server takes no bodies of unknown length
};

}  // namespace

Result<std::unique_ptr<Provider>> make_http_provider(std::unique_ptr<Codec> codec,
                                                     ProviderOptions options,
                                                     Dependencies dependencies) {
  const ProviderKind* const kind = find_provider_kind(codec->name());
  if (kind == nullptr) {
    return fail(Code::invalid_argument, cat("unknown provider ", codec->name()));
  }
  REPRISE_TRY(check_options(*kind, options));
  return std::make_unique<HttpProvider>(*kind, std::move(codec), std::move(options),
                                        std::move(dependencies));
}

}  // namespace reprise::provider
