#include "support/print.h"

#include <ostream>

#include "reprise/store.h"

namespace reprise {
namespace {

constexpr std::size_t kShownMax = 4'000;

void print_beginning(std::string_view text, std::ostream& out) {
  out << text.substr(0, kShownMax);
  if (text.size() > kShownMax) {
    out << "… (" << text.size() << " bytes)";
  }
}

}  // namespace

void PrintTo(const SessionId& id, std::ostream* out) {
  *out << id.str();
}

void PrintTo(Seq seq, std::ostream* out) {
  *out << seq.value;
}

void PrintTo(const RawJson& json, std::ostream* out) {
  print_beginning(json.text(), *out);
}

void PrintTo(const Message& message, std::ostream* out) {
  print_beginning(message_to_json(message), *out);
}

void PrintTo(const Usage& usage, std::ostream* out) {
  print_beginning(usage_to_json(usage), *out);
}

void PrintTo(const Todo& todo, std::ostream* out) {
  print_beginning(todos_to_json({todo}), *out);
}

void PrintTo(const SessionInfo& info, std::ostream* out) {
  *out << info.id.str() << " title=\"" << info.title << "\" mode=" << info.mode
       << " state=" << to_string(info.state) << " provider=" << info.provider
       << " model=" << info.model << " dir=" << info.working_dir << " head=" << info.head.value
       << " created=" << format_time(info.created_at) << " updated=" << format_time(info.updated_at)
       << " closed=" << (info.closed_at ? format_time(*info.closed_at) : "-")
       << " forked_from=" << (info.forked_from ? info.forked_from->session.str() : "-");
  if (info.forked_from) {
    *out << '@' << info.forked_from->at.value;
  }
  *out << " answering=" << (info.answering ? std::to_string(info.answering->pid) : "-");
}

void PrintTo(const Session& session, std::ostream* out) {
  PrintTo(session.info, out);
  *out << " system=\"" << session.system_prompt << "\" config=" << session.config.text()
       << " usage=" << usage_to_json(session.usage) << " chain=";
  for (const ResponseLink& link : session.response_chain) {
    *out << link.provider << '/' << link.response_id << ' ';
  }
  *out << " prompts=";
  for (const std::string& prompt : session.prompt_history) {
    *out << '"' << prompt << "\" ";
  }
  *out << " extra=";
  for (const ExtraField& field : session.extra) {
    *out << field.name << ':' << field.value.text() << ' ';
  }
}

}  // namespace reprise
