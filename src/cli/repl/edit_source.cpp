// The line editor, based on libedit.

#include <asm-generic/ioctls.h>
#include <histedit.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <stop_token>

#include "base/dynamic_library.h"
#include "base/utf8.h"
#include "cli/process/process.h"
#include "cli/repl/line_source.h"
#include "reprise/error.h"

namespace reprise::cli {
namespace {

constexpr int kHistoryMax = 500;
constexpr std::string_view kPasteOn = "\x1b[?2004h";
constexpr std::string_view kPasteOff = "\x1b[?2004l";
constexpr std::string_view kPasteEnd = "\x1b[201~";

// Bound to libedit's "end of line": pushed by our functions and after a signal to finish the line.
// It is Ctrl-^, which is rarely typed.
constexpr char kFinish = '\x1e';

// Bindings in addition to libedit's emacs mode.
struct Key {
  const char* keys;
  const char* function;
};
constexpr auto kKeys = std::to_array<Key>({
    {"^M", "reprise-enter"},
    {"^J", "reprise-enter"},
    {"^[^M", "reprise-new-line"},
    {"^[^J", "reprise-new-line"},
    {"\\e[200~", "reprise-paste"},
    {"^Z", "reprise-suspend"},
    {"\\036", "ed-newline"},
    {"^W", "ed-delete-prev-word"},
    {"^R", "em-inc-search-prev"},
    {"\\e[1~", "ed-move-to-beg"},
    {"\\e[4~", "ed-move-to-end"},
    {"\\e[H", "ed-move-to-beg"},
    {"\\e[F", "ed-move-to-end"},
    {"\\e[3~", "ed-delete-next-char"},
    {"\\e[1;5C", "em-next-word"},
    {"\\e[1;5D", "ed-prev-word"},
});

void write_to_terminal(std::string_view bytes) {
  // A failure to write is noticed at the next read.
  (void)!::write(STDERR_FILENO, bytes.data(), bytes.size());
}

// Loaded when an interactive REPL starts, so that other commands do not pay for it.
struct EditLibrary : LibraryFunctions {
  LazyFunction<decltype(&::el_init_fd)> init{*this, "el_init_fd"};
  LazyFunction<decltype(&::el_end)> end{*this, "el_end"};
  LazyFunction<decltype(&::el_set)> set{*this, "el_set"};
  LazyFunction<decltype(&::el_wset)> set_wide{*this, "el_wset"};
  LazyFunction<decltype(&::el_get)> get{*this, "el_get"};
  LazyFunction<decltype(&::el_gets)> gets{*this, "el_gets"};
  LazyFunction<decltype(&::el_line)> line{*this, "el_line"};
  LazyFunction<decltype(&::el_push)> push{*this, "el_push"};
  LazyFunction<decltype(&::el_resize)> resize{*this, "el_resize"};
  LazyFunction<decltype(&::el_insertstr)> insert{*this, "el_insertstr"};
  LazyFunction<decltype(&::el_deletestr)> erase{*this, "el_deletestr"};
  LazyFunction<decltype(&::history_init)> history_begin{*this, "history_init"};
  LazyFunction<decltype(&::history_end)> history_end{*this, "history_end"};
  LazyFunction<decltype(&::history)> history{*this, "history"};
};

// unsupported, naming the package, if it is not installed.
Result<const EditLibrary*> edit_library() {
  static const auto loaded = load_library<EditLibrary>("libedit (Debian's libedit2)", kEditFiles);
  return loaded;
}

class EditSource final : public LineSource {
 public:
  explicit EditSource(const EditLibrary& library) : edit_(library) {}
  EditSource(const EditSource&) = delete;
  EditSource& operator=(const EditSource&) = delete;
  EditSource(EditSource&&) = delete;
  EditSource& operator=(EditSource&&) = delete;
  ~EditSource() override {
    if (line_ != nullptr) {
      edit_.end(line_);
    }
    if (history_ != nullptr) {
      edit_.history_end(history_);
    }
  }

  Result<> open();
  Input read(std::string_view prompt, std::stop_token stop) override;
  void remember(std::string_view text) override;

 private:
  using Function = unsigned char (*)(EditLine*, int);

  void bind_keys();
  static EditSource& of(EditLine* line);
  static char* prompt_of(EditLine* line);
  static int read_character(EditLine* line, wchar_t* out);
  static unsigned char on_enter(EditLine* line, int key);
  static unsigned char on_new_line(EditLine* line, int key);
  static unsigned char on_paste(EditLine* line, int key);
  static unsigned char on_suspend(EditLine* line, int key);

  std::optional<char> next_byte();
  bool next_character(std::string& out);
  void follow_size();

  const EditLibrary& edit_;
  EditLine* line_ = nullptr;
  History* history_ = nullptr;
  std::string prompt_;
  std::string bytes_;  // read ahead; consumed up to taken_
  std::size_t taken_ = 0;
  const InputWait* wait_ = nullptr;  // during read()
  bool announced_ = false;           // bracketed paste mode is on
  bool stopped_ = false;             // the current line is discarded
  winsize size_{};
};

Result<> EditSource::open() {
  use_utf8_locale();
  history_ = edit_.history_begin();
  line_ = edit_.init("reprise", stdin, stderr, stderr, STDIN_FILENO, STDERR_FILENO, STDERR_FILENO);
  if (history_ == nullptr || line_ == nullptr) {
    return fail(Code::unsupported, "the line editor does not know this terminal");
  }
  HistEvent event{};
  edit_.history(history_, &event, H_SETSIZE, kHistoryMax);
  edit_.history(history_, &event, H_SETUNIQUE, 1);
  edit_.set(line_, EL_CLIENTDATA, this);
  edit_.set(line_, EL_PROMPT, &EditSource::prompt_of);
  edit_.set(line_, EL_HIST, edit_.history.function(), history_);
  edit_.set(line_, EL_SIGNAL, 0);
  edit_.set(line_, EL_GETCFN, &EditSource::read_character);
  bind_keys();
  ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size_);
  return {};
}

void EditSource::bind_keys() {
  // The wide variant keeps pointers to the literals; the other one makes copies that leak.
  const auto add = [this](const wchar_t* name, const wchar_t* help, Function function) {
    edit_.set_wide(line_, EL_ADDFN, name, help, function);
  };
  edit_.set(line_, EL_EDITOR, "emacs");
  add(L"reprise-enter", L"send, or continue on the next line", &EditSource::on_enter);
  add(L"reprise-new-line", L"continue on the next line", &EditSource::on_new_line);
  add(L"reprise-paste", L"insert what is pasted", &EditSource::on_paste);
  add(L"reprise-suspend", L"suspend; the shell resumes it with fg", &EditSource::on_suspend);
  for (const Key& key : kKeys) {
    edit_.set(line_, EL_BIND, key.keys, key.function, nullptr);
  }
  // Ctrl-Z is read as a key, so that the terminal is restored before the program stops.
  edit_.set(line_, EL_SETTY, "-d", "susp=", nullptr);
}

Input EditSource::read(std::string_view prompt, std::stop_token stop) {
  const InputWait wait(std::move(stop));
  wait_ = &wait;
  prompt_ = prompt;
  stopped_ = false;
  announced_ = false;
  int count = 0;
  const char* const text = edit_.gets(line_, &count);
  write_to_terminal(kPasteOff);
  if (stopped_) {
    bytes_.clear();
    taken_ = 0;
    return {Input::Kind::stopped, "", false};
  }
  if (text == nullptr || count <= 0) {
    write_to_terminal("\r\n");
    return {Input::Kind::end, "", false};
  }
  std::string_view typed(text, static_cast<std::size_t>(count));
  if (typed.ends_with('\n')) {
    typed.remove_suffix(1);
  }
  return {Input::Kind::text, utf8::sanitize(typed.substr(0, kInputBytesMax)),
          typed.size() > kInputBytesMax};
}

void EditSource::remember(std::string_view text) {
  // libedit's history entries are NUL-terminated.
  const std::string entry(text.substr(0, text.find('\0')));
  if (!entry.empty()) {
    HistEvent event{};
    edit_.history(history_, &event, H_ENTER, entry.c_str());
  }
}

EditSource& EditSource::of(EditLine* line) {
  void* data = nullptr;
  (*edit_library())->get(line, EL_CLIENTDATA, &data);  // loaded, as it calls us
  return *static_cast<EditSource*>(data);
}

char* EditSource::prompt_of(EditLine* line) {
  return of(line).prompt_.data();
}

// libedit's character source: returns 1 for a character, 0 at the end.
int EditSource::read_character(EditLine* line, wchar_t* out) {
  EditSource& self = of(line);
  // libedit has set up the terminal by now, so bracketed paste can be turned on.
  if (!std::exchange(self.announced_, true)) {
    write_to_terminal(kPasteOn);
  }
  std::string character;
  if (self.next_character(character)) {
    *out = static_cast<wchar_t>(utf8::decode(character).code_point);
    return 1;
  }
  *out = kFinish;
  return self.stopped_ ? 1 : 0;
}

unsigned char EditSource::on_enter(EditLine* line, int /*key*/) {
  const EditLibrary& edit = of(line).edit_;
  const LineInfo& info = *edit.line(line);
  const std::string_view text(info.buffer, static_cast<std::size_t>(info.lastchar - info.buffer));
  if (!needs_another_line(text)) {
    const std::array<char, 2> finish{kFinish, '\0'};
    edit.push(line, finish.data());
    return CC_NORM;
  }
  std::string joined(text);
  add_line(joined, "");
  if (joined.size() == text.size() && info.cursor == info.lastchar) {
    edit.erase(line, 1);  // remove the backslash
  }
  edit.insert(line, "\n");
  return CC_REFRESH;
}

unsigned char EditSource::on_new_line(EditLine* line, int /*key*/) {
  of(line).edit_.insert(line, "\n");
  return CC_REFRESH;
}

unsigned char EditSource::on_paste(EditLine* line, int /*key*/) {
  EditSource& self = of(line);
  std::string pasted;
  while (!pasted.ends_with(kPasteEnd)) {
    const std::optional<char> byte = self.next_byte();
    if (!byte) {
      break;
    }
    if (pasted.size() < kInputBytesMax + kPasteEnd.size()) {
      pasted += *byte;
    } else {
      // Too long: discards it and keeps looking for the end.
      pasted.erase(pasted.size() - kPasteEnd.size(), 1);
      pasted += *byte;
    }
  }
  if (pasted.ends_with(kPasteEnd)) {
    pasted.resize(pasted.size() - kPasteEnd.size());
  }
  const std::string text = clean_paste(pasted);
  return text.empty() || self.edit_.insert(line, text.c_str()) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
}

unsigned char EditSource::on_suspend(EditLine* line, int /*key*/) {
  const EditLibrary& edit = of(line).edit_;
  edit.set(line, EL_PREP_TERM, 0);
  write_to_terminal(kPasteOff);
  write_to_terminal("\r\n");
  (void)::raise(SIGTSTP);  // fails only for invalid signals
  edit.set(line, EL_PREP_TERM, 1);
  write_to_terminal(kPasteOn);
  return CC_REDISPLAY;
}

// nullopt at the end of input or on a stop request (stopped_).
std::optional<char> EditSource::next_byte() {
  while (taken_ == bytes_.size()) {
    follow_size();
    const Ready ready = wait_->wait(STDIN_FILENO);
    stopped_ = ready == Ready::stopped;
    if (ready != Ready::input) {
      return std::nullopt;
    }
    std::array<char, 4096> chunk{};
    const ssize_t count = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
      return std::nullopt;
    }
    bytes_.assign(chunk.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    taken_ = 0;
  }
  return bytes_[taken_++];
}

// Reads one character; invalid UTF-8 becomes U+FFFD.
bool EditSource::next_character(std::string& out) {
  const std::optional<char> first = next_byte();
  if (!first) {
    return false;
  }
  out = *first;
  while (utf8::incomplete_tail(out) == out.size()) {
    const std::optional<char> next = next_byte();
    if (!next) {
      break;
    }
    out += *next;
  }
  if (!utf8::is_valid(out)) {
    out = utf8::kReplacement;
  }
  return true;
}

void EditSource::follow_size() {
  winsize now{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &now) == 0 &&
      (now.ws_col != size_.ws_col || now.ws_row != size_.ws_row)) {
    size_ = now;
    edit_.resize(line_);
  }
}

}  // namespace

Result<std::unique_ptr<LineSource>> make_edit_source() {
  REPRISE_ASSIGN(const EditLibrary* const library, edit_library());
  auto source = std::make_unique<EditSource>(*library);
  REPRISE_TRY(source->open());
  return std::unique_ptr<LineSource>(std::move(source));
}

}  // namespace reprise::cli
