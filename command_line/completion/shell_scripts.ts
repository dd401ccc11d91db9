/**
 * Scripts that a shell sources. Each script asks `scanstream __complete` for the words: a line with the kind, then a line for each
 * word, with its description after a tab. So they know every command, and what an update brings.
 */
export const shellScripts = {
  bash: `# bash completion for scanstream. In ~/.bashrc: source <(scanstream completion bash)
_scanstream() {
  local rest=\${COMP_LINE:0:COMP_POINT} blanks word typed kind value i
  local -a words=()
  # bash splits words at = and : too: what has no blank between it is one word.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    blanks=\${rest%%[![:blank:]]*}
    rest=\${rest#"$blanks"}
    if ((i == COMP_CWORD)); then word=$rest; else word=\${COMP_WORDS[i]}; fi
    rest=\${rest#"$word"}
    if [[ -n $blanks || $i -eq 0 ]]; then words+=("$word"); else words[\${#words[@]}-1]+=$word; fi
  done
  typed=\${words[\${#words[@]}-1]}
  # Of that word bash replaces only what stands behind the last of these.
  local kept=""
  if [[ $typed == *[=:]* ]]; then kept=\${typed%"\${typed##*[=:]}"}; fi
  COMPREPLY=()
  {
    read -r kind
    while IFS=$'\\t' read -r value _; do COMPREPLY+=("\${value#"$kept"}"); done
  } < <("\${words[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)
  case $kind in
    files) compopt -o default ;;
    directories) compopt -o dirnames ;;
    list) compopt -o nospace ;;
  esac
}
complete -F _scanstream scanstream
`,
  zsh: `#compdef scanstream
# zsh completion for scanstream. In ~/.zshrc, after compinit: source <(scanstream completion zsh)
_scanstream() {
  local -a lines offered
  local line kind value
  lines=("\${(@f)$("\${words[1]}" __complete -- "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  kind=\${lines[1]}
  for line in "\${(@)lines[2,-1]}"; do
    value=\${line%%$'\\t'*}
    offered+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
  done
  case $kind in
    files) compset -P '--*='; _files ;;
    directories) compset -P '--*='; _files -/ ;;
    list) _describe -t values value offered -S '' ;;
    words) _describe -t values value offered ;;
  esac
}
if [[ "\${funcstack[1]}" == _scanstream ]]; then _scanstream "$@"; else compdef _scanstream scanstream; fi
`,
  fish: `# fish completion for scanstream. scanstream completion fish > ~/.config/fish/completions/scanstream.fish
function __scanstream_complete
    set -l current (commandline -ct)
    set -l words (commandline -opc)
    set -l lines ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
    set -l before (string match -r -- '^--[^=]*=' "$current")
    set -l path (string replace -r -- '^--[^=]*=' '' "$current")
    switch "$lines[1]"
        case files
            printf "$before%s\\n" (__fish_complete_path "$path")
        case directories
            printf "$before%s\\n" (__fish_complete_directories "$path")
        case '*'
            printf '%s\\n' $lines[2..-1]
    end
end
complete -c scanstream -e
complete -c scanstream -f -a '(__scanstream_complete)'
`,
} as const;
