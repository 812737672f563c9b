#compdef groma
# Completion of the command groma for zsh. The command itself says what may stand in place of the last
# word (groma completion -- WORDS); this script asks it and adds the names of files.

_groma() {
  local -a answer last closed open
  local line word meaning
  answer=("${(@f)$(${(Q)words[1]} completion -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" </dev/null 2>/dev/null)}")
  (( $#answer )) || return 1
  last=(${=answer[-1]})

  # A word that ends with `=` goes on without a space.
  for line in "${(@)answer[1,-2]}"; do
    word=${line%%$'\t'*}
    meaning=${line#*$'\t'}
    word=${word//\\/\\\\}
    word=${word//:/\\:}
    if [[ $word == *= ]]; then
      open+=("$word:$meaning")
    else
      closed+=("$word:$meaning")
    fi
  done
  local found=1
  (( $#closed )) && _describe -t values value closed && found=0
  (( $#open )) && _describe -t parameters parameter open -S '' && found=0

  case $last[1] in
    :files | :folders)
      (( last[2] )) && compset -p $last[2]
      if [[ $last[1] == :folders ]]; then
        _files -/ && found=0
      elif (( $#last > 2 )); then
        _files -g "*.(${(j:|:)last[3,-1]})(-.)" && found=0
      else
        _files && found=0
      fi
      ;;
    :program)
      shift $(( last[2] + 1 )) words
      (( CURRENT -= last[2] + 1 ))
      _normal && found=0
      ;;
  esac
  return found
}

if [[ $funcstack[1] == _groma ]]; then
  _groma "$@"
else
  compdef _groma groma
fi
