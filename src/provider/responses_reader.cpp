// Reads responses of OpenAI's Responses API.

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/json_view.h"
#include "base/text.h"
#include "provider/codec.h"
#include "provider/refusal.h"
#include "provider/request_parts.h"

namespace reprise::provider {
namespace openai_responses {
namespace {

// What is read of a call; anything else is kept for the server that sent it. The item's own id is a
// reference to its reasoning, which may be left out.
constexpr std::string_view kCallMembers[] = {"type", "id",        "call_id",
                                             "name", "arguments", "status"};
constexpr std::int64_t kItemBytes = 64;  // the number of an item in a set

Usage usage_of(JsonView json) {
  Usage usage;
  usage.input.value = token_count(json["input_tokens"]);
  usage.output.value = token_count(json["output_tokens"]);
  usage.reasoning.value = token_count(json["output_tokens_details"]["reasoning_tokens"]);
  usage.cached.value = token_count(json["input_tokens_details"]["cached_tokens"]);
  read_cost(json, usage);
  return usage;
}

// Every item arrives three times: in pieces, complete when it is done, and in the final response.
// Servers omit some of these; duplicates are ignored.
class ResponsesReader final : public ReplyReader {
 public:
  explicit ResponsesReader(ReplyWriter& out) : out_(out) {}

  Result<> event(std::string_view name, std::string_view data) override {
    if (data == "[DONE]") {
      return {};  // not part of this protocol, but some gateways send it
    }
    const JsonView json(data);
    REPRISE_ASSIGN(const std::string type, type_of_event(name, data));
    if (type == "response.created" && std::exchange(created_, true)) {
      return second_answer();
    }
    if (type == "response.created" || type == "response.in_progress") {
      begin(json["response"]);
    } else if (type == "response.completed" || type == "response.incomplete" ||
               type == "response.failed") {
      return end(json["response"], type == "response.incomplete" ? "incomplete" : "");
    } else if (type == "response.output_item.added") {
      return add_item(json["output_index"].count(), json["item"]);
    } else {
      read_piece(type, json);
    }
    return {};
  }

  Result<> whole(std::string_view json) override {
    const JsonView response(json);
    begin(response);
    return end(response, "");
  }

  bool complete() const override { return done_; }
  bool done() const override { return done_; }
  std::int64_t bytes_buffered() const override {
    return kItemBytes *
               static_cast<std::int64_t>(streamed_.size() + finished_.size() + added_.size()) +
           static_cast<std::int64_t>(annotations_.size()) + added_bytes_;
  }

  void finish(std::string_view request_id) override {
    out_.end_blocks();
    if (!annotations_.empty()) {
      out_.text_members(cat(R"({"annotations":[)", annotations_, "]}"));
    }
    if (usage_) {
      usage_->request_id =
          out_.response_id().empty() ? request_id_of("", request_id) : out_.response_id();
      out_.usage(*usage_);
    }
    const StopReason why = reason();
    const bool has_word =
        why == StopReason::other || (why == StopReason::refused && !incomplete_.empty());
    out_.ended(why, has_word ? std::string_view(incomplete_) : std::string_view());
  }

 private:
  void begin(JsonView response) { out_.started(response["id"].text(), response["model"].text()); }

  StopReason reason() const {
    if (incomplete_ == "max_output_tokens" || incomplete_ == "max_tokens") {
      return StopReason::max_tokens;
    }
    if (incomplete_ == "content_filter" || refused_) {
      return StopReason::refused;
    }
    if (!incomplete_.empty()) {
      return StopReason::other;
    }
    return out_.used_tools() ? StopReason::tool_use : StopReason::end;
  }

  void read_piece(std::string_view type, JsonView json) {
    const std::int64_t index = json["output_index"].count();
    const std::string_view delta = json["delta"].raw();
    if (type == "response.output_text.delta") {
      streamed_.insert(index);
      out_.text(delta);
    } else if (type == "response.refusal.delta") {
      streamed_.insert(index);
      refused_ = true;
      out_.text(delta);
    } else if (type == "response.reasoning_summary_text.delta" ||
               type == "response.reasoning_text.delta") {
      streamed_.insert(index);
      out_.thinking(delta);
    } else if (type == "response.reasoning_summary_part.added") {
      separate_summary(json);
    } else if (type == "response.function_call_arguments.delta") {
      streamed_.insert(index);
      out_.tool_input(index, delta);
    } else if (type == "response.output_item.done") {
      read_item(index, json["item"]);
    }
  }

  // A summary has several parts, each with a heading: separate them by a blank line.
  void separate_summary(JsonView json) {
    if (json["summary_index"].count() > 0) {
      out_.thinking(R"("\n\n")");
    }
  }

  // Another call in the place of an earlier one belongs to another answer.
  Result<> add_item(std::int64_t index, JsonView item) {
    if (const std::string id = item["call_id"].text(); !id.empty()) {
      const auto [entry, is_new] = added_.try_emplace(index, id);
      if (!is_new && entry->second != id) {
        return second_answer();
      }
      added_bytes_ += is_new ? std::ssize(id) : 0;
    }
    begin_item(index, item);
    return {};
  }

  void begin_item(std::int64_t index, JsonView item) {
    if (item["type"].text() == "function_call") {
      out_.tool(index, item["call_id"].text(), item["name"].text());
    }
  }

  // An item that is done, or is in the final response.
  void read_item(std::int64_t index, JsonView item) {
    if (!finished_.insert(index).second) {
      return;
    }
    const std::string type = item["type"].text();
    const bool in_pieces = streamed_.contains(index);
    if (type == "message") {
      if (!in_pieces) {
        read_content(item["content"]);
      }
      item["content"].each([this](JsonView part) {
        part["annotations"].each([this](JsonView source) {
          annotations_ += cat(annotations_.empty() ? "" : ",", source.raw());
        });
      });
    } else if (type == "function_call") {
      begin_item(index, item);
      if (const std::string members = unknown_members(item, kCallMembers); !members.empty()) {
        out_.tool_members(index, members);
      }
      if (!in_pieces) {
        out_.tool_input(index, item["arguments"].raw());
      }
      out_.tool_end(index);
    } else if (type == "reasoning") {
      if (!in_pieces) {
        read_summary(item);
      }
      // Open models show the reasoning itself, and expect it back with tool results. Without either
      // it is only a reference that the provider may have dropped.
      if (!item["encrypted_content"].text().empty() || has_elements(item["content"])) {
        out_.raw_block(item.raw());
      }
    } else if (!type.empty()) {
      out_.raw_block(item.raw());
    }
  }

  void read_content(JsonView content) {
    content.each([this](JsonView part) {
      out_.text(part["text"].raw());
      if (const JsonView refusal = part["refusal"]; refusal) {
        refused_ = true;
        out_.text(refusal.raw());
      }
    });
  }

  void read_summary(JsonView item) {
    bool first = true;
    const auto add = [&](JsonView part) {
      if (!first) {
        out_.thinking(R"("\n\n")");
      }
      first = false;
      out_.thinking(part["text"].raw());
    };
    item["summary"].each(add);
    if (first) {
      item["content"].each(add);  // open models show the reasoning itself
    }
  }

  // `event` is the status that the event's name tells.
  Result<> end(JsonView response, std::string_view event) {
    if (const JsonView error = response["error"]; error) {
      return std::unexpected(error_of_object(error));
    }
    std::string status = response["status"].text();
    if (status.empty()) {
      status = event;
    }
    if (status == "failed" || status == "cancelled") {
      return fail(Code::io, "the response has failed");
    }
    begin(response);
    std::int64_t index = 0;
    response["output"].each([&](JsonView item) { read_item(index++, item); });
    if (const JsonView usage = response["usage"]; usage) {
      usage_ = usage_of(usage);
    }
    // Some servers send no status.
    if (status != "completed" && !status.empty()) {
      incomplete_ = response["incomplete_details"]["reason"].text();
      if (incomplete_.empty()) {
        incomplete_ = status;
      }
    }
    done_ = !response["id"].raw().empty() || response["output"];
    return {};
  }

  ReplyWriter& out_;
  std::set<std::int64_t> streamed_;  // items that arrived in pieces
  std::set<std::int64_t> finished_;  // items that are done
  std::optional<Usage> usage_;
  std::string annotations_;  // of all texts
  std::string incomplete_;
  std::map<std::int64_t, std::string> added_;  // calls that have begun: their ids
  std::int64_t added_bytes_ = 0;
  bool created_ = false;
  bool refused_ = false;
  bool done_ = false;
};

}  // namespace
}  // namespace openai_responses

std::unique_ptr<ReplyReader> make_responses_reader(ReplyWriter& out) {
  return std::make_unique<openai_responses::ResponsesReader>(out);
}

}  // namespace reprise::provider
