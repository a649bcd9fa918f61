# SPDX-License-Identifier: MIT
# Fish completion for the loaderx command. Like that of bash, it parses the help of the command.

# __loaderx_section TITLE ARGUMENT...: prints the entries of a section of the help, as
# "NAME<tab>DESCRIPTION".
function __loaderx_section
    loaderx $argv[2..] --help 2>/dev/null |
        sed -nE "/^$argv[1]:/,/^\$/s/^  ([a-z-]+) +(.*)/\1\t\2/p"
end

# Prints the command of the line, if it is complete.
function __loaderx_command
    set -l words (commandline -opc)
    set -q words[2]; and echo $words[2]
end

# Prints a line "--name<tab>VALUE<tab>DESCRIPTION" for each option of the command.
function __loaderx_options
    loaderx (__loaderx_command) --help 2>/dev/null | sed -nE \
        '/^Options:/,/^$/s/^ +(-[a-zA-Z], )?(--[a-z-]+)( ([^ ]+))?( +(.*))?$/\2\t\4\t\6/p'
end

# Prints the name of the value that the last complete word, an option, takes.
function __loaderx_value
    set -l option (commandline -opc)[-1]
    __loaderx_options | while read -l -d \t name value description
        test "$name" = "$option"; and echo $value
    end
end

function __loaderx_complete
    set -l word (commandline -ct)
    if test -z (__loaderx_command)
        __loaderx_section Commands
        return
    end
    set -l value (__loaderx_value)
    switch "$value"
        case FILE
            __fish_complete_path $word
        case FOLDER
            __fish_complete_directories $word
        case ORDER
            __loaderx_section Orders (__loaderx_command)
        case '*=*'
        case '*|*'
            string split '|' $value
        case ''
            __loaderx_arguments $word
    end
end

# Completes a word that is not the value of an option.
function __loaderx_arguments
    if string match -q -- '-*' $argv[1]
        __loaderx_options | while read -l -d \t name value description
            printf '%s\t%s\n' $name $description
        end
        return
    end
    switch (__loaderx_command)
        case recordio
            if test (count (commandline -opc)) -eq 2
                __loaderx_section Actions recordio
            else
                __fish_complete_path $argv[1]
            end
        case pack
            __fish_complete_path $argv[1]
        case sample blend split
        case '*'
            __fish_complete_directories $argv[1]
    end
end

complete -c loaderx -f -a '(__loaderx_complete)'
