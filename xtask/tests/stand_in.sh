#!/bin/sh
# Plays whichever program it is called as for the tests of set-up. What it remembers lies in files beside it.
here=${0%/*}
name=${0##*/}
echo "$name $*" >>"$here/calls"
case "$name $1" in
"git --version") read -r version <"$here/git-version" && echo "git version $version" ;;
"id -u") read -r user <"$here/user" && echo "$user" ;;
"apt-get install") read -r version <"$here/git-in-store" && echo "$version" >"$here/git-version" ;;
npm\ --version | node\ --version) read -r version <"$here/$name-version" && echo "$version" ;;
"npm install")
    for package; do :; done
    while [ "$1" != --prefix ]; do shift; done
    while read -r known file; do
        [ "$known" = "$package" ] || continue
        /bin/mkdir -p "$2/node_modules/${file%/*}" && : >"$2/node_modules/$file"
        exit
    done <"$here/registry"
    echo "npm error code E404" >&2
    echo "npm error 404 no $package here" >&2
    exit 1
    ;;
"python3 -m")
    # An environment, with this script as its python.
    /bin/mkdir -p "$3/bin" && /bin/ln -s "$here/python3" "$3/bin/python"
    ;;
"python -m")
    [ -e "$here/../../../no-pypi" ] || exit 0
    echo "ERROR: no matching distribution" >&2
    exit 1
    ;;
esac
