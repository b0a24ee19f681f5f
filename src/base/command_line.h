#pragma once

// Words of command lines that are shown to be pasted, or written to a file. Whatever the text is,
// the command gets it as one argument, and nothing in it is run or expanded.

#include <initializer_list>
#include <string>
#include <string_view>

namespace reprise {

// For bash, zsh, fish and POSIX shells. Characters that a terminal does not show as they are
// become escapes.
std::string shell_word(std::string_view text);

// "reprise copy spill: 'sqlite:my notes.db'".
std::string shell_command(std::initializer_list<std::string_view> words);

// For ExecStart= of a systemd unit; not for its first word, the program.
std::string unit_word(std::string_view text);
// For the program of ExecStart=, and for Environment=, where variables are not expanded.
std::string unit_text(std::string_view text);

}  // namespace reprise
