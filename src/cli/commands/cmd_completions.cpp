// reprise completions: prints a completion script for a shell, which asks `reprise __complete`.

#include <string>

#include "cli/commands/command.h"

namespace reprise::cli {
namespace {

// Bash splits words at ':' and '='. The script joins them, and removes the part that bash already
// has from the candidates. What it returns is put into the line as it is, so it is quoted for its
// place: within the quotes of the word if it has any. Bash closes them, unless the last character
// is one. Only names of files are quoted by bash.
constexpr std::string_view kBash = R"bash(# bash completion for reprise
_reprise_quoted() {  # MARK TEXT: sets `value`
  local apostrophe="'" bang="\"'!'\"" last=
  value=$2
  case $1 in
    \')
      value=${value//"$apostrophe"/"$apostrophe\\$apostrophe$apostrophe"}
      [[ $2 == *\' ]] && value=${value%\'} ;;
    \")
      case $value in
        *!) last=! value=${value%?} ;;
        *\") last='"\"' value=${value%?} ;;
      esac
      value=${value//\\/\\\\}
      value=${value//\"/\\\"}
      value=${value//\$/\\\$}
      value=${value//\`/\\\`}
      value=${value//!/"$bang"}$last ;;
    *) printf -v value %q "$value" ;;
  esac
}
_reprise_unquoted() {  # WORD: sets `mark` and `value`
  local apostrophe="'" bang="\"'!'\""
  mark=
  value=$1
  case $value in
    \'*)
      mark=\'
      value=${value:1}
      value=${value//"$apostrophe\\$apostrophe$apostrophe"/"$apostrophe"} ;;
    \"*)
      mark=\"
      value=${value:1}
      value=${value//"$bang"/!}
      local character out=
      while [[ $value == *\\* ]]; do
        out+=${value%%\\*}
        value=${value#*\\}
        character=${value:0:1}
        [[ -n $character && $character == [\\\"\$\`] ]] || out+=\\
        out+=$character
        value=${value:1}
      done
      value=$out$value ;;
    *) value=${value//\\/} ;;
  esac
}
_reprise() {
  local word current prefix line mark value typed glue= names=
  local -a words=() lines=()
  for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ -n $glue || $word == [:=]* ]] && ((${#words[@]} > 1)); then
      words[${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    glue=
    [[ $word == *[:=] ]] && glue=1
  done
  current=${words[${#words[@]}-1]}
  local -a asked=()
  for word in "${words[@]:1:${#words[@]}-2}"; do asked+=("${word//[\'\"\\]/}"); done
  _reprise_unquoted "$current"
  typed=$value
  mapfile -t lines < <(reprise __complete -- "${asked[@]}" "$typed" 2>/dev/null)
  prefix=
  [[ -z $mark && $current == *[:=]* ]] && prefix=${current%"${current##*[:=]}"}
  COMPREPLY=()
  for line in "${lines[@]}"; do
    [[ $line == :files || $line == :folders ]] && names=1
  done
  for line in "${lines[@]}"; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "${typed#"$prefix"}"); continue ;;
      :folders) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "${typed#"$prefix"}"); continue ;;
    esac
    value=${line%%$'\t'*}
    [[ $value == "$typed"* ]] || continue
    [[ $value == *[:=] ]] && compopt -o nospace 2>/dev/null
    [[ -n $names ]] || _reprise_quoted "$mark" "$value"
    COMPREPLY+=("${value#"$prefix"}")
  done
}
complete -F _reprise reprise
)bash";

std::string_view zsh_completions() {
  return R"zsh(#compdef reprise
_reprise() {
  local line value
  local -a lines ready open
  lines=("${(@f)$(reprise __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    case $line in
      :files) compset -P '*[:=]'; _files; continue ;;
      :folders) compset -P '*[:=]'; _files -/; continue ;;
    esac
    value=${${${line%%$'\t'*}//\\/\\\\}//:/\\:}
    [[ $line == *$'\t'* ]] && value+=:${line#*$'\t'}
    if [[ ${line%%$'\t'*} == *[:=] ]]; then open+=("$value"); else ready+=("$value"); fi
  done
  (( $#ready )) && _describe -V reprise ready
  (( $#open )) && _describe -V reprise open -S ''
}
if [[ $funcstack[1] == _reprise ]]; then _reprise "$@"; else compdef _reprise reprise; fi
)zsh";
}

std::string_view fish_completions() {
  return R"fish(# fish completion for reprise
function __reprise_complete
    set -l token (commandline -ct)
    # Quotes may still be open.
    set -l word (string unescape -- "$token"; or string unescape -- "$token'"
        or string unescape -- "$token\""; or echo "$token")
    set -l words (commandline -opc) "$word"
    for line in (reprise __complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case ':files' ':folders'
                __fish_complete_path (string replace -r '.*[:=]' '' -- "$word")
            case '*'
                echo $line
        end
    end
end
complete -c reprise -f -k -a '(__reprise_complete)'
)fish";
}

class Completions final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {},
            .arguments = {{"SHELL", "bash, zsh or fish", &shell_, true, {"bash", "zsh", "fish"}}}};
  }

  Result<Exit> run(Context& context) override {
    if (shell_ == "bash") {
      context.console().out().write(kBash);
    } else if (shell_ == "zsh") {
      context.console().out().write(zsh_completions());
    } else {
      context.console().out().write(fish_completions());
    }
    return Exit::success;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completions() {
  return std::make_unique<Completions>();
}

}  // namespace reprise::cli
