// The only file that includes CLI11, which is slow to compile. Catches its exceptions.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <variant>

#include "base/text.h"
#include "cli/process/arguments.h"

namespace reprise::cli {
namespace {

template <class Number>
bool assign_number(const std::string& text, const NumberRange& range, std::optional<Number>& out) {
  out = parse_number<Number>(text);
  return out && range.holds(static_cast<double>(*out));
}

struct Assign {
  const std::vector<std::string>& values;
  const NumberRange& range;

  bool operator()(bool* target) const {
    *target = true;
    return true;
  }
  bool operator()(std::string* target) const {
    *target = values.empty() ? "" : values.back();
    return true;
  }
  bool operator()(std::optional<std::string>* target) const {
    *target = values.empty() ? std::string() : values.back();
    return true;
  }
  bool operator()(std::optional<std::int64_t>* target) const {
    return assign_number(values.back(), range, *target);
  }
  bool operator()(std::optional<double>* target) const {
    return assign_number(values.back(), range, *target);
  }
  bool operator()(std::vector<std::string>* target) const {
    *target = values;
    return true;
  }
};

bool takes_many(const Target& target) {
  return std::holds_alternative<std::vector<std::string>*>(target);
}

std::string join(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) {
    out += out.empty() ? "" : ", ";
    out += word;
  }
  return out;
}

// The first invalid value. CLI11's own message is not shown.
struct Fault {
  std::string message;
};

// The target of a value and its constraints.
struct Slot {
  std::string_view name;
  const Target& target;
  const std::vector<std::string_view>& choices;
  NumberRange range;
};

bool accept(Fault& fault, const Slot& slot, const std::vector<std::string>& values) {
  const auto& choices = slot.choices;
  for (const std::string& value : values) {
    if (!choices.empty() && !value.empty() && std::ranges::find(choices, value) == choices.end()) {
      fault.message = cat(slot.name, " must be one of ", join(choices), ", not '", value, "'");
      return false;
    }
  }
  if (!std::visit(Assign{values, slot.range}, slot.target)) {
    const bool is_integer = std::holds_alternative<std::optional<std::int64_t>*>(slot.target);
    fault.message = cat(slot.name, " must be ",
                        number_words(is_integer ? NumberKind::whole : NumberKind::any, slot.range),
                        ", not '", values.empty() ? "" : values.back(), "'");
    return false;
  }
  return true;
}

std::string_view longest_name(std::string_view names) {
  return names.substr(names.rfind(',') == std::string_view::npos ? 0 : names.rfind(',') + 1);
}

// Prefix for words that CLI11 must take as they are: arguments that begin with a dash, and "[a,b]",
// which it would split.
constexpr char kLiteral = '\x1F';

std::vector<std::string> unmarked(std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word.size() > 1 && word[0] == kLiteral && (word[1] == '-' || word[1] == '[')) {
      word.erase(0, 1);
    }
  }
  return words;
}

void add_option(CLI::App& app, const OptionSpec& spec, Fault& fault) {
  if (std::holds_alternative<bool*>(spec.target)) {
    app.add_flag(std::string(spec.names), *std::get<bool*>(spec.target));
    return;
  }
  const auto callback = [&spec, &fault](const CLI::results_t& values) {
    return accept(fault, {longest_name(spec.names), spec.target, spec.choices, spec.range},
                  unmarked(values));
  };
  app.add_option(std::string(spec.names), callback)
      ->expected(spec.value_optional ? 0 : 1, 1)
      ->allow_extra_args(false)
      ->multi_option_policy(takes_many(spec.target) ? CLI::MultiOptionPolicy::TakeAll
                                                    : CLI::MultiOptionPolicy::TakeLast);
}

bool is_option(const ArgumentTable& table, std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  const bool has_number = word.size() > 2 && std::ranges::all_of(word.substr(2), is_ascii_digit);
  return std::ranges::any_of(table.options, [&](const OptionSpec& option) {
    return std::ranges::any_of(split(option.names, ','), [&](std::string_view known) {
      return known == name || (known.size() == 2 && has_number && word.starts_with(known));
    });
  });
}

// Marks "[a,b]", and words such as "-without", but not "-n5", if the command's argument accepts
// dashes.
std::vector<std::string> marked_words(const ArgumentTable& globals, const ArgumentTable& command,
                                      std::vector<std::string> words) {
  bool takes_dashes = !command.arguments.empty() && command.arguments.back().dashed;
  for (std::string& word : words) {
    takes_dashes = takes_dashes && word != "--";
    const bool is_dashed = takes_dashes && word.size() > 1 && word[0] == '-' && word[1] != '-' &&
                           !is_option(globals, word) && !is_option(command, word);
    if (is_dashed || (word.starts_with('[') && word.ends_with(']'))) {
      word.insert(word.begin(), kLiteral);
    }
  }
  return words;
}

void add_argument(CLI::App& app, const ArgumentSpec& spec, Fault& fault) {
  const auto callback = [&spec, &fault](const CLI::results_t& values) {
    return accept(fault, {spec.name, spec.target, spec.choices, {}}, unmarked(values));
  };
  auto* const option = app.add_option(std::string(spec.name), callback);
  option->required(spec.required);
  if (takes_many(spec.target)) {
    option->expected(spec.required ? 1 : 0, CLI::detail::expected_max_vector_size);
    option->allow_extra_args();
  }
}

// Long option names, as candidates for suggestions.
std::vector<std::string_view> long_names(const ArgumentTable& a, const ArgumentTable& b) {
  std::vector<std::string_view> names;
  for (const ArgumentTable* table : {&a, &b}) {
    for (const OptionSpec& option : table->options) {
      std::ranges::copy_if(split(option.names, ','), std::back_inserter(names),
                           [](std::string_view name) { return name.starts_with("--"); });
    }
  }
  return names;
}

// The words that were not parsed. CLI11 includes "--".
std::vector<std::string> unparsed_words(const CLI::App& app) {
  std::vector<std::string> words = unmarked(app.remaining());
  std::erase(words, "--");
  return words;
}

std::string unknown_word(const std::vector<std::string>& words,
                         const std::vector<std::string_view>& known) {
  const auto flag = std::ranges::find_if(
      words, [](const std::string& word) { return word.starts_with('-') && word != "-"; });
  if (flag == words.end()) {
    return cat("unexpected argument '", words.front(), "'");
  }
  const std::string name = flag->substr(0, flag->find('='));
  // A single letter is similar to every other one.
  const std::string_view suggestion = name.size() > 2 ? nearest(name, known) : "";
  return suggestion.empty() ? cat("unknown option '", name, "'")
                            : cat("unknown option '", name, "'; did you mean '", suggestion, "'?");
}

// CLI11 would accept "--all=yes" for a switch.
Result<> check_switches(const ArgumentTable& a, const ArgumentTable& b,
                        const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") {
      break;
    }
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    for (const ArgumentTable* table : {&a, &b}) {
      for (const OptionSpec& option : table->options) {
        if (option.value.empty() && name.size() < word.size() && name.starts_with("--") &&
            longest_name(option.names) == name) {
          return fail(Code::invalid_argument, cat(name, " takes no value"));
        }
      }
    }
  }
  return {};
}

std::string missing_value(const ArgumentTable& a, const ArgumentTable& b,
                          std::string_view third_party) {
  for (const ArgumentTable* table : {&a, &b}) {
    for (const OptionSpec& option : table->options) {
      const std::string_view name = longest_name(option.names);
      if (third_party.starts_with(name)) {
        return option.value.empty() ? cat(name, " takes no value")
                                    : cat(name, " needs a value: ", name, " ", option.value);
      }
    }
  }
  return "an option is missing its value";
}

}  // namespace

Result<> parse_arguments(const ArgumentTable& globals, const ArgumentTable& command,
                         const std::vector<std::string>& given) {
  REPRISE_TRY(check_switches(globals, command, given));
  const std::vector<std::string> words = marked_words(globals, command, given);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Fault fault;
  for (const ArgumentTable* table : {&globals, &command}) {
    for (const OptionSpec& spec : table->options) {
      add_option(app, spec, fault);
    }
    for (const ArgumentSpec& spec : table->arguments) {
      add_argument(app, spec, fault);
    }
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::RequiredError&) {
    for (const ArgumentSpec& spec : command.arguments) {
      if (spec.required && app.get_option(std::string(spec.name))->count() == 0) {
        return fail(Code::invalid_argument, cat("missing argument ", spec.name));
      }
    }
    return fail(Code::invalid_argument, "missing argument");
  } catch (const CLI::ArgumentMismatch& error) {
    return fail(Code::invalid_argument, missing_value(globals, command, error.what()));
  } catch (const CLI::Error& error) {
    return fail(Code::invalid_argument, fault.message.empty()
                                            ? missing_value(globals, command, error.what())
                                            : fault.message);
  }
  if (const auto words_left = unparsed_words(app); !words_left.empty()) {
    return fail(Code::invalid_argument, unknown_word(words_left, long_names(globals, command)));
  }
  return {};
}

}  // namespace reprise::cli
