#!/bin/sh
# SPDX-License-Identifier: MIT
# Real output of every subcommand that prints JSON, against the schemas; and the exit codes of verify and gate.
# usage: reports.sh PROGRAM VALIDATE_PY SCHEMA_DIR
set -eu
program=$1 validate=$2 schemas=$3

fail() {
    echo "reports.sh: $*" >&2
    exit 1
}

# exits CODE COMMAND...: the command must exit with CODE
exits() {
    expected=$1
    shift
    code=0
    "$@" || code=$?
    [ "$code" -eq "$expected" ] || fail "exit $code instead of $expected: $*"
}

dir=$(mktemp -d /var/tmp/zsb-reports-XXXXXX)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

if ! "$program" run -- true; then
    [ "${ZSB_MUST_WORK:-}" != 1 ] || fail "this host must be able to confine"
    exit 77
fi

exits 0 "$program" probes --format json >probes.json
exits 0 "$program" probes show fs.write-outside --format json >probe.json
exits 0 "$program" policy show --mode workspace-write --deny /etc/shadow --format json >policy.json
exits 2 "$program" policy show --backend native --format json >policy-native.json
exits 2 "$program" policy show --deny /zsb-nowhere/name >policy-refused.txt
grep -q '/zsb-nowhere/name .* refused$' policy-refused.txt || fail "the refused step must not count as enforced"
exits 3 "$program" run --outcome outcome.json -- sh -c 'exit 3'
exits 125 "$program" run --outcome outcome-failed.json --workspace /nowhere -- true
exits 0 "$program" verify --probe 'fs.write-*' --probe net.tcp --mode read-only --mode workspace-write \
    --format json --output campaign.json
exits 2 "$program" verify --probe 'no.such'
exits 1 "$program" gate --format json --output gate.json
exits 0 "$program" gate --preview --format json >gate-preview.json
exits 0 "$program" gate --preview --output gate.txt

grep -q '"decision":	"refuse"' gate.json || fail "gate without --preview must refuse"
grep -q '"decision":	"grant"' gate-preview.json || fail "gate --preview must grant here"
grep -q 'decision  *grant (preview)' gate.txt || fail "the text report must end in the decision"

# In a user namespace without a mapping no file is owned by root, so no launcher can be trusted.
if unshare --user true 2>/dev/null; then
    exits 3 unshare --user "$program" gate --format json --output gate-unavailable.json
    exits 3 unshare --user "$program" verify --probe fs.write-outside --output none
    exits 3 unshare --user "$program" policy show --format json >policy-unavailable.json
    exits 125 unshare --user "$program" run --outcome outcome-unavailable.json -- true
    grep -q '"code":	"untrusted_launcher"' gate-unavailable.json || fail "the cause must be typed"
    [ ! -e none ] || fail "a campaign that did not run has no report"
fi

# A namespace of its own in which no further one can be made: the limit stands there, not on the host.
# Root only: to anybody else the launcher's owner is not mapped there, which is the case above.
if [ "$(id -u)" -eq 0 ] && unshare --user --map-root-user true 2>/dev/null; then
    no_more='echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    exits 125 unshare --user --map-root-user sh -c "$no_more" sh "$program" run --outcome outcome-nested.json -- true
    exits 3 unshare --user --map-root-user sh -c "$no_more" sh "$program" gate --format json --output gate-nested.json
    for file in outcome-nested.json gate-nested.json; do
        grep -q 'deployment_capability_unavailable' "$file" || fail "$file must name the cause"
        grep -q 'user_namespace' "$file" || fail "$file must name the capability"
    done
fi

# A launcher that confines nothing must be found out.
cat >open.json <<END
{"schema":"zuno-sandbox/launcher/v1","name":"open","argv":["{command}"],"modes":["read-only"],"network":"deny"}
END
exits 1 "$program" verify --launcher open.json --probe fs.write-outside --format json --output open-campaign.json
# One that runs nothing proves nothing.
cat >idle.json <<END
{"schema":"zuno-sandbox/launcher/v1","name":"idle","argv":["/bin/true","{command}"],"modes":["read-only"],"network":"deny"}
END
exits 4 "$program" verify --launcher idle.json --probe fs.write-outside --format json --output idle-campaign.json

for file in *.json; do
    case $file in open.json | idle.json) continue ;; esac
    set -- "$@" "$dir/$file"
done
shift 3
exec_code=0
/usr/bin/python3 "$validate" "$schemas" "$@" || exec_code=$?
exit "$exec_code"
