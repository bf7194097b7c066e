#!/usr/bin/env bash
# Doer and judge as a person would have them with an afternoon to spare: two worktrees, the judge's brought back to the base
# for each round and made read-only by `chmod`, patches by `git apply`, JSON by python3. Durable is nothing of it.
set -euo pipefail
repository=$1 run=$2 rejected=$3 agent=$4
mkdir -p "$run"
base=$(git -C "$repository" rev-parse HEAD)
for role in doer judge; do
    git -C "$repository" worktree add --quiet -b "$(basename "$run")-$role" "$run/$role" "$base"
done
chmod -R a-w "$run/judge"
printf 'what is to be done\n%.0s' {1..200} >"$run/task.txt"
export WINDLASS_TASK=script
feedback=

play() {
    (
        cd "$run/$1"
        WINDLASS_ROLE=$1 WINDLASS_ROUND=$round WINDLASS_OUTBOX=$directory \
            "$agent" --play-agent "$rejected" <"$directory/$1.prompt.md"
    )
}

for ((round = 1; round <= rejected + 1; round++)); do
    directory=$run/round-$round
    mkdir -p "$directory"
    { cat "$run/task.txt"; printf '%s\n' "$feedback"; } >"$directory/doer.prompt.md"
    play doer
    # The doer of the original leaves its patch itself, so that it costs the script nothing.
    printf '%s\n' 'diff --git a/changed.txt b/changed.txt' 'new file mode 100644' '--- /dev/null' '+++ b/changed.txt' \
        '@@ -0,0 +1 @@' "+round $round" >"$directory/patch.diff"
    chmod -R u+w "$run/judge"
    git -C "$run/judge" reset --quiet --hard "$base"
    git -C "$run/judge" clean --quiet -fdx
    git -C "$run/judge" apply --check "$directory/patch.diff"
    git -C "$run/judge" apply "$directory/patch.diff"
    chmod -R a-w "$run/judge"
    cat "$run/task.txt" >"$directory/judge.prompt.md"
    play judge
    verdict=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$directory/verdict.json")
    [[ $verdict == pass ]] && break
    feedback=$(python3 -c 'import json, sys
for reason in json.load(open(sys.argv[1]))["reasons"]: print(reason["check"], reason["details"])' "$directory/verdict.json")
done
[[ $verdict == pass ]]
