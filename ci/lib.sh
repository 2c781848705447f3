# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Shared by the scripts of ci/. Source it; it starts nothing by itself.

ZSB_ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck disable=SC2034 # used by the scripts that source this file
ZSB_JOBS=${ZSB_JOBS:-$(nproc)}

say() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
    say "$*"
    exit 2
}

# help_and_exit: prints the comment block at the top of the calling script.
help_and_exit() {
    awk 'NR > 2 && !/^#/ { exit } NR > 2 { sub(/^# ?/, ""); print }' "$0"
    exit 0
}

# packages_of SECTION...: the packages of these sections, one a line.
packages_of() {
    local section
    for section in "$@"; do
        awk -v section="$section" '$1 == section { print $2; found = 1 }
            END { if (!found) exit 1 }' "$ZSB_ROOT/ci/packages" ||
            die "ci/packages has no section $section"
    done
}

package_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "installing packages needs root or sudo: $*"
    fi
}

# need_packages SECTION...: installs what is missing; touches nothing when nothing is.
need_packages() {
    local package missing=() wanted
    if ! command -v dpkg-query >/dev/null; then
        say "not a Debian system: expecting the packages of ci/packages ($*) to be present"
        return 0
    fi
    wanted=$(packages_of "$@") || exit 2
    for package in $wanted; do
        package_installed "$package" || missing+=("$package")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    say "installing ${missing[*]}"
    as_root apt-get -q update >&2
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y --no-install-recommends install "${missing[@]}" >&2
}

# configure_and_build PRESET [BUILD_DIR [CMAKE_ARGUMENT...]]
configure_and_build() {
    local preset=$1 dir=${2:-$ZSB_ROOT/build/$1}
    shift
    [ $# -eq 0 ] || shift
    say "building preset $preset in $dir"
    cmake -S "$ZSB_ROOT" --preset "$preset" -B "$dir" "$@" >&2
    cmake --build "$dir" --parallel "$ZSB_JOBS" >&2
}

# run_suite NAME BUILD_DIR [WRAPPER...]: ctest under WRAPPER; a skipped or disabled test counts as a failure,
# because every test here is required. Appends "NAME: ..." to ZSB_SUMMARY and returns 1 on any failure.
ZSB_SUMMARY=()
run_suite() {
    local name=$1 dir=$2 junit status=0 counts
    shift 2
    junit=$dir/junit.xml
    rm -f -- "$junit"
    say "running the suite: $name"
    (cd -- "$dir" && "$@" env ZSB_MUST_WORK=1 ctest --no-tests=error --output-on-failure --timeout 600 \
        --parallel "$ZSB_JOBS" --output-junit "$junit") >&2 || status=$?
    counts=$(suite_counts "$junit") || status=1
    ZSB_SUMMARY+=("$name: $counts")
    [ "$status" -eq 0 ]
}

# suite_counts JUNIT: prints the counts; fails when anything did not pass.
suite_counts() {
    python3 - "$1" <<'PYTHON'
import sys, xml.etree.ElementTree as tree
try:
    suite = tree.parse(sys.argv[1]).getroot()
except (OSError, tree.ParseError) as error:
    print(f"no result ({error})")
    sys.exit(1)
count = {key: int(suite.get(key, "0")) for key in ("tests", "failures", "disabled", "skipped")}
bad = [case.get("name") for case in suite.iter("testcase") if case.get("status") != "run"]
print(f"{count['tests'] - len(bad)} passed, {count['failures']} failed, "
      f"{count['skipped'] + count['disabled']} skipped" + (f" ({', '.join(bad)})" if bad else ""))
sys.exit(1 if bad or count["tests"] == 0 else 0)
PYTHON
}

# user_copy DIR UID: a copy of the source tree in DIR/src that UID owns and can build, and DIR/home.
user_copy() {
    local dir=$1 uid=$2
    mkdir -p -- "$dir/src" "$dir/home"
    tar -C "$ZSB_ROOT" --exclude=./build --exclude=./out --exclude=./.git -cf - . | tar -C "$dir/src" -xf -
    chown -R -- "$uid:$uid" "$dir"
}

# as_user UID HOME COMMAND...: as an ordinary user that has no passwd entry, with a clean environment.
as_user() {
    local uid=$1 home=$2
    shift 2
    env -i PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 HOME="$home" USER="u$uid" ZSB_JOBS="$ZSB_JOBS" \
        setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"
}
