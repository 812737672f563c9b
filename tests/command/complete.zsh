# What an interactive zsh shows after LINE and the tab key: zsh complete.zsh FOLDER LINE TEXT. Stops when TEXT
# is shown, or after 20 s.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "autoload -U compinit; compinit -u -D; source <(groma completion zsh); cd ${(q)1}; echo RE''ADY"
local piece shown=
while zpty -r shell piece; do
  [[ $piece == *READY* ]] && break
done
zpty -w -n shell "$2"$'\t\t'
integer end=$(( SECONDS + 20 ))
while (( SECONDS < end )); do
  if zpty -r -t shell piece; then shown+=$piece; else sleep 0.05; fi
  [[ $shown == *$3* ]] && break
done
print -r -- "$shown"
zpty -d shell
