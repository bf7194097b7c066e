#!/bin/sh
# Speaks the Agent Client Protocol to AGENT, one message per line: opens a session in DIRECTORY, sends PROMPT, grants
# whatever is asked for, prints everything it is told, and closes the connection when the prompt has been answered.
#   acp_client.sh AGENT DIRECTORY PROMPT
set -eu
mkfifo to-agent from-agent
"$1" <to-agent >from-agent &
exec 3>to-agent 4<from-agent

send() { printf '{"jsonrpc":"2.0",%s}\n' "$1" >&3; }

# hear ID: reads up to the answer with this number, which is left in $line.
hear() {
    while read -r line <&4; do
        printf '%s\n' "$line"
        case $line in
        *'"method":"session/request_permission"'*)
            asked=${line#*'"id":'}
            # The first option is to allow it this once.
            option=${line#*'"optionId":"'}
            outcome='{"outcome":"selected","optionId":"'${option%%\"*}'"}'
            send '"id":'"${asked%%[,\}]*}"',"result":{"outcome":'"$outcome"'}'
            ;;
        *'"method":'*) ;;
        *'"id":'"$1"[,\}]*) return ;;
        esac
    done
    echo "the agent ended before it answered" >&2
    exit 1
}

send '"id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}'
hear 1
send '"id":2,"method":"session/new","params":{"cwd":"'"$2"'","mcpServers":[]}'
hear 2
session=${line#*'"sessionId":"'}
send '"id":3,"method":"session/prompt","params":{"sessionId":"'"${session%%\"*}"'","prompt":[{"type":"text","text":"'"$3"'"}]}'
hear 3
exec 3>&-
# Whatever it says until its end is of no interest, but it must not block on it.
while read -r line <&4; do :; done
wait
