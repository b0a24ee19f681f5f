#include "cli/commands/store_status.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "reprise/capabilities.h"
#include "reprise/server_status.h"
#include "reprise/sessions.h"

namespace reprise::cli {
namespace {

struct RunningAnswer {
  std::string tenant;
  SessionInfo session;
  Owner owner;
};

struct StoreStatus {
  std::vector<std::string> steps;    // of an outstanding migration
  std::vector<std::string> tenants;  // all that the role sees
  std::vector<RunningAnswer> answers;
  std::vector<UnindexedMessages> unindexed;
  std::vector<StoreBlocker> blockers;
  std::optional<Error> failure;  // nothing below the blockers could be read: they may be why
};

Result<> add_answers(Store& store, const std::string& tenant, StoreStatus& status) {
  SessionQuery query;
  query.states = {SessionState::active, SessionState::closed, SessionState::archived};
  query.answering_only = true;
  query.limit = largest_page(store);
  do {
    REPRISE_ASSIGN(SessionPage page, store.list(query));
    for (SessionInfo& info : page.sessions) {
      if (const auto owner = info.answering) {
        status.answers.push_back({tenant, std::move(info), *owner});
      }
    }
    query.after = page.next;
  } while (!query.after.empty());
  return {};
}

Result<> read_tables(Context& context, const StoreOpener::Target& target, bool all_tenants,
                     StoreStatus& status) {
  const auto add_step = [&](std::string_view step) { status.steps.emplace_back(step); };
  REPRISE_TRY(migrate_store(target.url, target.options, {.dry_run = true, .on_step = add_step}));
  REPRISE_ASSIGN(Store* const store, context.stores().open(Access::read));
  Tenants& tenants = *store->capabilities().tenants;
  REPRISE_ASSIGN(status.tenants, tenants.names());
  const auto shown = all_tenants ? status.tenants : std::vector<std::string>();
  REPRISE_ASSIGN(status.unindexed, count_unindexed(target.url, shown, target.options));
  for (const UnindexedMessages& counted_tenant : status.unindexed) {
    REPRISE_ASSIGN(const auto tenant, tenants.of(counted_tenant.tenant));
    REPRISE_TRY(add_answers(*tenant, counted_tenant.tenant, status));
  }
  return {};
}

// The locks first: if one is in the way, the rest cannot be read.
Result<StoreStatus> read_status(Context& context, bool all_tenants) {
  REPRISE_ASSIGN(const StoreOpener::Target target, context.stores().target());
  StoreStatus status;
  REPRISE_ASSIGN(status.blockers, find_blockers(target.url, target.options));
  if (auto read = read_tables(context, target, all_tenants, status); !read) {
    status.failure = std::move(read).error();
  }
  return status;
}

std::string_view lease_words(OwnerState state) {
  switch (state) {
    case OwnerState::alive:
      return "alive";
    case OwnerState::silent:
      return "silent";
    case OwnerState::gone:
      return "gone";
  }
  return "";
}

std::int64_t seconds_since(Time then, Time now) {
  return std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::seconds>(now - then).count());
}

void write_blockers(json::ObjectWriter& object, std::string& out, const StoreStatus& status) {
  object.key("blockers");
  json::ArrayWriter blockers(out);
  for (const StoreBlocker& blocker : status.blockers) {
    blockers.item();
    json::ObjectWriter(out)
        .field("pid", blocker.pid)
        .field("program", blocker.program)
        .field("role", blocker.role)
        .field("table", blocker.table)
        .field("seconds", blocker.seconds)
        .field("waiting", blocker.waiting)
        .close();
  }
  blockers.close();
}

std::string document(const StoreStatus& status) {
  std::string out;
  json::ObjectWriter object(out);
  if (status.failure) {  // nothing else was read
    for (const std::string_view name : {"tenants", "outstanding", "answers", "unindexed"}) {
      object.null(name);
    }
    write_blockers(object, out, status);
    object.close();
    return out;
  }
  object.raw("tenants", json::array_of(status.tenants));
  object.raw("outstanding", json::array_of(status.steps));
  object.key("answers");
  json::ArrayWriter answers(out);
  for (const RunningAnswer& answer : status.answers) {
    answers.item();
    json::ObjectWriter(out)
        .field("tenant", answer.tenant)
        .field("id", answer.session.id.str())
        .field("title", answer.session.title)
        .field("host", answer.owner.host.substr(0, answer.owner.host.find('/')))
        .field("pid", answer.owner.pid)
        .field("renewed_at", format_time(answer.owner.lease.renewed_at))
        .field("owner", lease_words(state_of(answer.owner)))
        .close();
  }
  answers.close();
  object.key("unindexed");
  json::ObjectWriter unindexed(out);
  for (const UnindexedMessages& tenant : status.unindexed) {
    tenant.messages ? unindexed.field(tenant.tenant, *tenant.messages)
                    : unindexed.null(tenant.tenant);
  }
  unindexed.close();
  write_blockers(object, out, status);
  object.close();
  return out;
}

class StatusText {
 public:
  void row(std::string_view name, std::string_view value) {
    constexpr std::size_t kNameWidth = 12;
    out_ += cat(name, std::string(name.size() < kNameWidth ? kNameWidth - name.size() : 1, ' '),
                terminal_line(value), "\n");
  }
  const std::string& text() const { return out_; }

 private:
  std::string out_;
};

std::string unindexed_words(Context& context, std::optional<std::int64_t> messages) {
  if (!messages) {
    return "the server does not index words for this role";
  }
  return *messages == 0 ? "nothing"
                        : cat("about ", counted(*messages, "message"), "; `",
                              context.config().program(), " store index` indexes them");
}

std::string text_of(Context& context, const StoreStatus& status) {
  StatusText out;
  if (status.blockers.empty()) {
    out.row("locks", "none in the way");
  }
  for (const StoreBlocker& blocker : status.blockers) {
    out.row(&blocker == &status.blockers.front() ? "locks" : "",
            cat("process ", blocker.pid, " (",
                blocker.program.empty() ? "" : cat(blocker.program, ", "), "role ", blocker.role,
                ") uses ", blocker.table,
                blocker.seconds > 0 ? cat(", in a transaction of ", blocker.seconds, " s") : "",
                blocker.waiting > 0 ? cat("; waiting for it: ", blocker.waiting) : ""));
  }
  if (status.failure) {
    return out.text();
  }
  out.row("tenants", std::to_string(status.tenants.size()));
  out.row("tables", status.steps.empty()
                        ? "up to date"
                        : cat(counted(std::ssize(status.steps), "change"),
                              " outstanding; their owner runs: ", context.config().program(),
                              " store migrate"));
  for (const std::string& step : status.steps) {
    out.row("", step);
  }
  out.row("answers", cat(status.answers.size(), " running"));
  for (const RunningAnswer& answer : status.answers) {
    const std::string host = answer.owner.host.substr(0, answer.owner.host.find('/'));
    out.row("",
            cat(answer.tenant, ": ", session_name(answer.session), " by process ", answer.owner.pid,
                " on ", host, ", ", lease_words(state_of(answer.owner)), ", lease renewed ",
                seconds_since(answer.owner.lease.renewed_at, context.clock().now()), " s ago"));
  }
  for (const UnindexedMessages& tenant : status.unindexed) {
    out.row(&tenant == &status.unindexed.front() ? "unindexed" : "",
            cat(tenant.tenant, ": ", unindexed_words(context, tenant.messages)));
  }
  return out.text();
}

}  // namespace

Result<Exit> show_store_status(Context& context, bool all_tenants) {
  REPRISE_ASSIGN(const StoreStatus status, read_status(context, all_tenants));
  if (context.globals().json && status.failure && status.blockers.empty()) {
    return std::unexpected(*status.failure);
  }
  if (context.globals().json) {
    context.console().print_json(document(status));
  } else {
    context.console().out().write(text_of(context, status));
  }
  return status.failure ? Result<Exit>(std::unexpected(*status.failure)) : Exit::success;
}

}  // namespace reprise::cli
