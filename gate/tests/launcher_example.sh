#!/bin/sh
# SPDX-License-Identifier: MIT
# The example of docs/launcher-file.md is valid, is accepted, and does what the page says.
# usage: launcher_example.sh PROGRAM VALIDATE_PY SCHEMA_DIR PAGE
set -eu
program=$1 validate=$2 schemas=$3 page=$4

fail() {
    echo "launcher_example.sh: $*" >&2
    exit 1
}

dir=$(mktemp -d /var/tmp/zsb-launcher-XXXXXX)
trap 'rm -rf "$dir"' EXIT
awk '/<!-- example:end/ { on = 0 } on && !/^```/ { print } /<!-- example:begin/ { on = 1 }' "$page" >"$dir/bwrap.json"
[ -s "$dir/bwrap.json" ] || fail "the page has no example"

code=0
/usr/bin/python3 "$validate" "$schemas" "$dir/bwrap.json" || code=$?
[ "$code" -eq 0 ] || exit "$code"

# Exit 2 would be a refused file, 0 to 4 without a report no trial at all.
cd "$dir"
if ! bwrap --unshare-all --ro-bind / / --proc /proc true 2>message; then
    [ "${ZSB_MUST_WORK:-}" != 1 ] || fail "this host must be able to confine: $(cat message)"
    exit 77
fi
"$program" verify --launcher bwrap.json --probe 'fs.write-*' --probe fs.deny-read --probe net.tcp >report ||
    fail "exit $?: $(cat report)"
[ "$(grep -c '^  [a-z].* held$' report)" -eq 4 ] || fail "four probes must hold: $(cat report)"
code=0
"$program" verify --launcher bwrap.json --probe net.unix-pathname >report || code=$?
[ "$code" -eq 1 ] || fail "exit $code for a socket that bubblewrap does not stop: $(cat report)"

# A launcher that closes descriptor 3 is told from one that does not.
sed 's/"bwrap", /"\/bin\/sh", "-c", "exec 3>\&-; exec \\"$@\\"", "sh", &/' bwrap.json >closing.json
"$program" verify --launcher closing.json --probe net.tcp >report || fail "without descriptor 3: $(cat report)"
grep -q '^1 of them reported on standard output' report || fail "the report hides that: $(cat report)"
