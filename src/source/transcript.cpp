#include "source/transcript.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "source/branches.h"
#include "source/lines.h"
#include "source/words.h"
#include "store/usage_sum.h"

namespace reprise::source {
namespace {

constexpr std::string_view kDocumentSuffix = ".json";
constexpr std::int64_t kDocumentBytesMax = 64 << 20;

Transcript new_transcript(Located located) {
  Session session{.info = {.id = located.id, .state = SessionState::closed}};
  if (located.is_archived) {
    session.info.state = SessionState::archived;
  }
  Transcript transcript{.session = std::move(session)};
  transcript.parts = std::move(located.parts);
  transcript.is_child = located.is_child;
  transcript.given_title = std::move(located.title);
  transcript.session.info.working_dir = std::move(located.working_dir);
  return transcript;
}

// A file that is one JSON object on any number of lines, or the array of a checkpoint.
Result<> read_document(Indexer& indexer, const FilePart& part, std::size_t number,
                       ReadReport& report) {
  REPRISE_ASSIGN(const Fd fd, open_foreign(part.file));
  REPRISE_ASSIGN(const FileState state, state_of_file(part.file));
  if (state.bytes > kDocumentBytesMax) {
    add_damage(report,
               {part.file.native(), cat("larger than ", kDocumentBytesMax >> 20, " MiB"), ""});
    return {};
  }
  REPRISE_ASSIGN(std::string bytes,
                 read_range(fd.get(), 0, static_cast<std::size_t>(state.bytes), part.file));
  std::size_t begin = bytes.find_first_of("{[");
  std::int64_t at = static_cast<std::int64_t>(std::min(begin, bytes.size()));
  if (begin != std::string::npos && bytes[begin] == '[') {
    constexpr std::string_view kBefore = R"({"history":)";
    bytes = cat(kBefore, std::string_view(bytes).substr(begin), "}");
    at -= std::ssize(kBefore);
    begin = 0;
  }
  bytes.erase(0, std::min(begin, bytes.size()));
  if (json::Scanner all(bytes); !all.skip() || !all.end()) {
    std::string beginning = intact_beginning(bytes);
    if (beginning.empty()) {
      add_damage(report, {part.file.native(), "not one JSON object", bytes.substr(0, 10'000)});
      return {};
    }
    add_damage(report, {part.file.native(), std::string(kCutDocument), ""});
    bytes = std::move(beginning);
  }
  json::Scanner scanner(bytes);
  JsonTape tape;
  if (!tape.read(scanner)) {
    return fail(Code::corrupt, cat(part.file.native(), ": not one JSON object"));
  }
  indexer.take({tape.view(), at, 1}, number);
  return {};
}

constexpr std::int64_t kMoreBytes = 1 << 20;  // of the beginning
constexpr std::int64_t kNearPart = 4;         // a quarter of each piece is parsed completely

// How much to read of each file.
struct Extent {
  bool ends_only = false;
  std::int64_t last_bytes = kEndBytes;  // the size of the last piece
  bool needs_first_message = false;     // read more of the beginning to find it
  Records records = Records::released;
  bool is_enough = true;  // set: whether each last piece has a record with a time
};

// Where the records of a part go.
struct Target {
  Indexer& indexer;
  std::size_t part;
  Transcript& transcript;

  void take(const Record& record) const { indexer.take(record, part); }
};

// Reads the first and the last bytes. Far from the ends, parses only lines that add metadata.
Result<> read_both_ends(int fd, const FilePart& part, Extent& extent, const Target& target) {
  Transcript& into = target.transcript;
  into.is_whole = false;
  ReadReport cut;  // both pieces may cut a line
  const RecordSink take = [&](const Record& record) { target.take(record); };
  const std::int64_t near_begin = part.begin + kEndBytes / kNearPart;
  const std::int64_t near_end = part.end - extent.last_bytes / kNearPart;
  const auto adds = [&](const Line& line) {
    return line.at < near_begin || line.at >= near_end || target.indexer.adds_metadata(line.text);
  };
  const auto whole_adds = [&](const Line& line) { return is_not_cut(line) && adds(line); };
  REPRISE_TRY(
      for_each_record(fd, {part.file, part.begin, part.begin + kEndBytes}, adds, cut, take));
  if (extent.needs_first_message && into.first_message == 0) {
    const std::int64_t begin = part.begin + kEndBytes;
    const std::int64_t more_end = std::min(begin + kMoreBytes, part.end - extent.last_bytes);
    REPRISE_TRY(for_each_record(fd, {part.file, begin, more_end}, whole_adds, cut, take));
  }
  const std::uint64_t first_message = into.first_message;  // those at the end are not
  SessionInfo& info = into.session.info;
  const Time before = std::exchange(info.updated_at, Time{});
  REPRISE_TRY(for_each_record(fd, {part.file, part.end - extent.last_bytes, part.end}, whole_adds,
                              cut, take));
  if (info.updated_at == Time{} && !part.is_inherited) {
    extent.is_enough = false;
    REPRISE_ASSIGN(const FileState state, state_of_file(part.file));
    info.updated_at = state.changed_at;
  }
  info.updated_at = std::max(info.updated_at, before);
  into.first_message = first_message;
  return {};
}

Result<> read_part(const FilePart& part, Extent& extent, const Target& target) {
  Transcript& into = target.transcript;
  if (part.after_part) {
    into.tree.continue_from(
        into.tree.last_before(static_cast<std::uint16_t>(*part.after_part), part.after_byte));
  }
  const bool is_document = part.file.extension() == kDocumentSuffix;
  if (is_document || is_compressed(part.file)) {
    if (const auto state = state_of_file(part.file)) {  // else reading it says what is wrong
      into.states[target.part] = *state;
    }
  }
  if (is_document) {
    return read_document(target.indexer, part, target.part, into.report);
  }
  REPRISE_ASSIGN(const Fd fd, open_unpacked(part.file, into.report));
  const RecordSink take = [&](const Record& record) { target.take(record); };
  REPRISE_ASSIGN(const FileState state, state_of_open_file(fd.get(), part.file));
  if (!is_compressed(part.file)) {
    into.states[target.part] = state;
  }
  FilePart present = part;
  present.end = std::min(part.end, state.bytes);
  if (extent.records == Records::retained && present.end - part.begin <= kParsedBytesMax) {
    auto parsed = std::make_shared<ParsedPart>();
    REPRISE_TRY(parsed->read(fd.get(), present, into.report, take));
    into.parsed.resize(target.part + 1);
    into.parsed.back() = std::move(parsed);
    return {};
  }
  if (extent.ends_only) {
    if (present.end - part.begin > kEndBytes + extent.last_bytes) {
      return read_both_ends(fd.get(), present, extent, target);
    }
  }
  return for_each_record(fd.get(), present, {}, into.report, take);
}

// Marks the copies of another session's lines. They are the beginning of any branch with them.
void mark_copied(Transcript& transcript, const CopiedFrom& from) {
  for (std::uint32_t at = 0; at < transcript.tree.nodes().size(); ++at) {
    Node& node = transcript.tree.node(at);
    node.is_inherited = from.ids->contains(node.id);
  }
  transcript.fork_of = from.session;
}

// Sets the head, the fork origin and the usage, counting each request once, from the current
// branch.
void count_messages(Transcript& transcript) {
  const auto leaf = transcript.tree.leaf();
  if (!leaf) {
    return;
  }
  const Branch branch = transcript.tree.branch(*leaf);
  transcript.session.info.head = Seq{static_cast<std::int64_t>(branch.size())};
  if (transcript.fork_of) {
    std::int64_t inherited = 0;
    for (std::size_t i = 0; i < branch.size(); ++i) {
      inherited += transcript.tree.nodes()[branch.message(i).front()].is_inherited ? 1 : 0;
    }
    transcript.session.info.forked_from = ForkOrigin{*transcript.fork_of, Seq{inherited}};
  }
  std::map<std::string, const Usage*> by_request;  // the last one of each
  const auto count = [&](std::uint32_t number) {
    const Usage& usage = transcript.usages[number - 1];
    if (usage.request_id.empty()) {
      store::add_usage(transcript.session.usage, usage);
    } else {
      by_request[usage.request_id] = &usage;
    }
  };
  for (const std::uint32_t index : branch.nodes) {
    const Node& node = transcript.tree.nodes()[index];
    if (node.usage != 0 && !node.is_inherited) {
      count(node.usage);
    }
    const auto [first, last] = transcript.other_usages.equal_range(index);
    std::ranges::for_each(first, last, [&](const auto& other) { count(other.second); });
  }
  for (const auto& [id, usage] : by_request) {
    store::add_usage(transcript.session.usage, *usage);
  }
}

// The parent in the id "PARENT:agent-7", unless the transcript names one.
void note_parent(Transcript& transcript) {
  const std::string& id = transcript.session.info.id.str();
  const std::size_t separator = id.rfind(':');
  std::string parent = transcript.parent;
  if (parent.empty() && separator != std::string::npos) {
    parent = id.substr(0, separator);
  }
  if (transcript.is_child && !parent.empty()) {
    transcript.session.extra.push_back({"parent", RawJson::string(parent)});
  }
}

// Its parts are those of the session that it belongs to.
void complete_agent(Transcript& agent, const Transcript& of) {
  agent.parsed = of.parsed;
  agent.states = of.states;
  agent.is_whole = of.is_whole;
  if (agent.session.info.working_dir.empty()) {
    agent.session.info.working_dir = of.session.info.working_dir;
  }
  note_parent(agent);
  count_messages(agent);
}

// Without a title and a question: the first words of anyone.
void complete_title(const JsonlTool& tool, Transcript& transcript);

Result<Transcript> read_parts(const JsonlTool& tool, Located located, Extent& extent) {
  const std::optional<CopiedFrom> copied_from = located.copied_from;
  Transcript transcript = new_transcript(std::move(located));
  const std::unique_ptr<Indexer> indexer = tool.index(transcript);
  const std::vector<FilePart>& parts = transcript.parts;
  transcript.states.resize(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    REPRISE_TRY(read_part(parts[i], extent, {*indexer, i, transcript}));
  }
  indexer->finish();
  note_parent(transcript);
  if (copied_from) {
    mark_copied(transcript, *copied_from);
  }
  if (!transcript.given_title.empty()) {
    transcript.session.info.title = title_of(transcript.given_title);
  }
  count_messages(transcript);
  complete_title(tool, transcript);
  for (const auto& [name, agent] : transcript.agents) {
    complete_agent(*agent, transcript);
    complete_title(tool, *agent);
  }
  return transcript;
}

// Reads lines, buffered for mostly sequential access.
class PieceReader {
 public:
  explicit PieceReader(const Transcript& transcript)
      : transcript_(transcript), open_(transcript.parts.size()) {}

  // Valid until the next call.
  Result<std::string_view> read(const Node& node) {
    const auto bytes = static_cast<std::size_t>(node.bytes);
    const std::int64_t from = node.at - at_;
    if (node.file == file_ && from >= 0 &&
        static_cast<std::size_t>(from) + bytes <= buffer_.size()) {
      return std::string_view(buffer_).substr(static_cast<std::size_t>(from), bytes);
    }
    const std::filesystem::path& file = transcript_.parts[node.file].file;
    if (!open_[node.file].is_open()) {
      ReadReport known;  // damage was reported when it was indexed
      REPRISE_ASSIGN(open_[node.file], open_unpacked(file, known));
    }
    Result<std::size_t> bytes_read = 0U;
    buffer_.resize_and_overwrite(std::max(bytes, kWindowBytes), [&](char* data, std::size_t size) {
      bytes_read = read_at(open_[node.file].get(), {data, size}, node.at, file);
      return bytes_read.value_or(0);
    });
    REPRISE_ASSIGN(const std::size_t available, std::move(bytes_read));
    at_ = node.at;
    file_ = node.file;
    if (available < bytes) {
      return std::unexpected(mismatch(node.file));
    }
    return std::string_view(buffer_).substr(0, bytes);
  }

  // Why the bytes of a part are not those that were indexed.
  Error mismatch(std::size_t part) const {
    const std::filesystem::path& file = transcript_.parts[part].file;
    const auto state = state_of_file(file);
    const bool is_known = state && part < transcript_.states.size();
    return is_known && transcript_.states[part] == *state
               ? Error{Code::corrupt, "the line cannot be read again"}
               : Error{Code::conflict, cat(file.native(), " has changed while it was read")};
  }

 private:
  static constexpr std::size_t kWindowBytes = 256U << 10;
  const Transcript& transcript_;
  std::vector<Fd> open_;
  std::string buffer_;
  std::int64_t at_ = 0;
  std::size_t file_ = SIZE_MAX;
};

// Builds messages from their lines, holding the lines of one message at a time.
class MessageBuilder {
 public:
  MessageBuilder(const JsonlTool& tool, const Transcript& transcript)
      : tool_(tool), transcript_(transcript), reader_(transcript) {}

  Result<Message> build(std::span<const std::uint32_t> indexes) {
    texts_.resize(std::max(indexes.size(), kTextsMax));
    std::vector<Piece> pieces;
    pieces.reserve(indexes.size());
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      const Node& node = transcript_.tree.nodes()[indexes[i]];
      REPRISE_ASSIGN(const JsonView json, record_of(node, texts_[i]));
      pieces.push_back({node, json});
    }
    return tool_.message(transcript_, pieces);
  }

 private:
  using Text = std::pair<std::string, JsonTape>;

  // The record in memory, or else read and parsed into `text`.
  Result<JsonView> record_of(const Node& node, Text& text) {
    const std::size_t part = node.file;
    if (part < transcript_.parsed.size() && transcript_.parsed[part]) {
      if (const JsonView json = transcript_.parsed[part]->find(node.at, node.bytes)) {
        return json;
      }
    }
    auto& [line, tape] = text;
    REPRISE_ASSIGN(line, reader_.read(node));
    json::Scanner scanner(line);
    if (scanner.kind() != json::Kind::object || !tape.read(scanner) || !scanner.end()) {
      return std::unexpected(reader_.mismatch(part));
    }
    return tape.view();
  }

  static constexpr std::size_t kTextsMax = 4;
  const JsonlTool& tool_;
  const Transcript& transcript_;
  PieceReader reader_;
  std::deque<Text> texts_;  // addresses are stable
};

void complete_title(const JsonlTool& tool, Transcript& transcript) {
  MessageBuilder builder(tool, transcript);
  complete_title(transcript.session.info, transcript.tree,
                 [&builder](std::span<const std::uint32_t> nodes) { return builder.build(nodes); });
}

}  // namespace

std::vector<Located> locate_files(const std::filesystem::path& location, const FileLayout& layout,
                                  ReadReport& report) {
  std::vector<std::filesystem::path> files = {location};
  if (const auto kind = kind_of(location); !kind || *kind != FileKind::file) {
    const std::filesystem::path below = location / layout.folder;
    files = files_below(
        has_folder(below, report) ? below : location, layout.depth,
        [&](const std::filesystem::path& file) { return layout.is_session(file, location); },
        report);
  }
  std::vector<Located> sessions;
  sessions.reserve(files.size());
  for (std::filesystem::path& file : files) {
    const auto [name, is_child] = layout.name(file);
    Located& located = sessions.emplace_back(
        Located{.id = session_id_of(name), .parts = {}, .is_child = is_child});
    located.parts.push_back({.file = std::move(file)});
  }
  return sessions;
}

Result<Transcript> read_ends(const JsonlTool& tool, const Located& located) {
  for (Extent extent{.ends_only = true, .needs_first_message = tool.forks_by_copying()};;
       extent.last_bytes *= 2) {
    extent.is_enough = true;
    REPRISE_ASSIGN(Transcript transcript, read_parts(tool, located, extent));
    // The last line may be longer than the piece.
    if (extent.is_enough || std::cmp_greater(extent.last_bytes, kLineBytesMax)) {
      return transcript;
    }
  }
}

Result<Transcript> read_index(const JsonlTool& tool, Located located, Records records) {
  Extent extent{.records = records};
  return read_parts(tool, std::move(located), extent);
}

Time time_of_message(const JsonlTool& tool, const Transcript& transcript, std::uint32_t node) {
  const auto message = MessageBuilder(tool, transcript).build(std::span(&node, 1));
  return message ? message->created_at : Time{};
}

Result<ReadReport> deliver(const JsonlTool& tool, const Transcript& transcript,
                           const BranchMessages& branch, ReadRange range, const MessageSink& sink) {
  ReadReport report = transcript.report;
  MessageBuilder builder(tool, transcript);
  const auto count = static_cast<std::int64_t>(branch.size());
  const std::int64_t from = std::clamp<std::int64_t>(range.from.value, 0, count);
  const std::int64_t to = std::clamp<std::int64_t>(range.to.value, from, count);
  for (std::int64_t i = from; i < to; ++i) {
    const std::int64_t seq = range.newest_first ? to - 1 - (i - from) : i;
    const auto indexes = branch.message(static_cast<std::size_t>(seq));
    auto message = builder.build(indexes);
    if (!message) {
      const Node& node = transcript.tree.nodes()[indexes.front()];
      REPRISE_TRY(report_damage(report,
                                cat(transcript.parts[node.file].file.native(), ": byte ", node.at),
                                std::move(message).error()));
      continue;
    }
    message->seq = Seq{seq};
    mark_task(transcript.is_child, *message);
    mark_program_texts(*message);
    if (sink(*std::move(message)) == Flow::stop) {
      break;
    }
  }
  return report;
}

void note_time(SessionInfo& info, JsonView value) {
  if (const auto time = time_of(value)) {
    info.created_at = info.created_at == Time{} ? *time : std::min(info.created_at, *time);
    info.updated_at = std::max(info.updated_at, *time);
  }
}

Node node_at(const Record& record, std::size_t part, JsonView value) {
  Node node;
  node.at = record.at + (value.raw().data() - record.json.raw().data());
  node.bytes = static_cast<std::int32_t>(value.raw().size());
  node.file = static_cast<std::uint16_t>(part);
  return node;
}

Transcript* agent_of(Transcript& transcript, const std::string& name) {
  if (const auto known = transcript.agents.find(name); known != transcript.agents.end()) {
    return known->second.get();
  }
  const SessionInfo& info = transcript.session.info;
  auto id = SessionId::parse(cat(info.id.str(), kBranchSeparator, name));
  if (!id) {
    return nullptr;
  }
  auto agent = std::make_unique<Transcript>(
      Transcript{.session = {.info = {.id = *std::move(id), .state = info.state}}});
  agent->parts = transcript.parts;
  agent->is_child = true;
  agent->parent = info.id.str();
  agent->names = transcript.names;
  return transcript.agents.emplace(name, std::move(agent)).first->second.get();
}

std::uint32_t name_number(Transcript& transcript, std::string_view name) {
  if (name.empty()) {
    return 0;
  }
  Names& names = *transcript.names;
  if (const auto known = names.numbers.find(name); known != names.numbers.end()) {
    return known->second;
  }
  names.list.emplace_back(name);
  const auto number = static_cast<std::uint32_t>(names.list.size());
  names.numbers.emplace(name, number);
  return number;
}

std::string name_of(const Transcript& transcript, std::uint32_t number) {
  const std::vector<std::string>& list = transcript.names->list;
  return number == 0 || number > list.size() ? "" : list[number - 1];
}

}  // namespace reprise::source
