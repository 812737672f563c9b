# Completion of the command groma for fish. The command itself says what may stand in place of the last
# word (groma completion -- WORDS); this script asks it and adds the names of files.

function __groma_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l answer ($program completion -- $words "$current" </dev/null 2>/dev/null)
    test (count $answer) -gt 0; or return
    set -l last (string split ' ' -- $answer[-1])
    set -e answer[-1]
    if test (count $answer) -gt 0
        printf '%s\n' $answer
    end

    set -l start (math $last[2] + 1)
    set -l path (string sub -s $start -- "$current")
    set -l before (string sub -l $last[2] -- "$current")
    switch $last[1]
        case :files :folders
            for line in (complete -C "'' $path")
                set -l name (string split -f 1 \t -- $line)
                set -l ending (string split -r -m 1 -f 2 . -- $name)
                if string match -q '*/' -- $name
                    or begin
                        test $last[1] = :files
                        and test (count $last) -eq 2 -o "$ending" != '' -a (contains -- "$ending" $last[3..-1]; echo $status) = 0
                    end
                    echo $before$name
                end
            end
        case :program
            set -l rest $words[$start..-1]
            complete -C (string join ' ' -- (string escape -- $rest) "$current")
    end
end

complete -c groma -f -k -a '(__groma_complete)'
