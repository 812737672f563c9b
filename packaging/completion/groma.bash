# Completion of the command groma for bash. The command itself says what may stand in place of the last
# word (groma completion -- WORDS); this script asks it and adds the names of files.

_groma() {
  local line=${COMP_LINE:0:COMP_POINT} words=() word i
  # bash divides words at `:` and `=` too. What no space divides belongs together, and the last word ends at
  # the cursor.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $line == [[:space:]]* ]] || ((i == 0)); then
      line=${line#"${line%%[![:space:]]*}"}
      words+=("")
    fi
    ((i < COMP_CWORD)) || word=$line
    words[-1]+=$word
    line=${line#"$word"}
  done

  # Quotes around a whole word are the shell's.
  for i in "${!words[@]}"; do
    word=${words[i]}
    if [[ $word == \'*\' || $word == \"*\" ]] && ((${#word} > 1)); then words[i]=${word:1:-1}; fi
  done

  local command=${words[0]/#\~/$HOME} answer=() last
  type -P -- "$command" >/dev/null || command=groma
  mapfile -t answer < <("$command" completion -- "${words[@]:1}" </dev/null 2>/dev/null)
  ((${#answer[@]})) || return
  read -r -a last <<<"${answer[-1]}"
  unset 'answer[-1]'

  # bash replaces only what stands behind the last `:` or `=`.
  local current=${words[-1]} before=
  if [[ $current == *[:=]* ]]; then before=${current%"${current##*[:=]}"}; fi
  COMPREPLY=()
  for word in "${answer[@]}"; do
    word=${word%%$'\t'*}
    word=${word#"$before"}
    if [[ $word == *[!A-Za-z0-9_./:=,@%+-]* ]]; then printf -v word %q "$word"; fi
    COMPREPLY+=("$word")
  done
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[:=] ]]; then compopt -o nospace 2>/dev/null; fi

  local path=${current:last[1]} name paths=()
  case ${last[0]} in
    :files | :folders)
      if [[ ${last[0]} == :folders ]]; then
        mapfile -t paths < <(compgen -d -- "$path")
      else
        mapfile -t paths < <(compgen -f -- "$path")
      fi
      for name in "${paths[@]}"; do
        if [[ ${#last[@]} -eq 2 || -d ${name/#\~/$HOME} || " ${last[*]:2} " == *" ${name##*.} "* ]]; then
          COMPREPLY+=("${name#"${before:last[1]}"}")
        fi
      done
      if ((${#paths[@]})); then compopt -o filenames 2>/dev/null; fi
      ;;
    :program)
      if ((${#words[@]} - 1 == last[1] + 1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      fi
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
      compopt -o filenames 2>/dev/null
      ;;
  esac
}

complete -F _groma groma
