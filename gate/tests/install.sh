#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs below a directory that the build was not configured for; the program must find its tools there, and
# pkg-config the library, with which the example of docs/library.md is built and run.
# usage: install.sh CMAKE BUILD_DIR EXAMPLE_C CC [CFLAG]...
set -eu
cmake=$1 build=$2 example=$3
shift 3 # what is left compiles

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

dir=$(mktemp -d /var/tmp/zsb-install-XXXXXX)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
prefix=$dir/prefix
DESTDIR='' "$cmake" --install "$build" --prefix "$prefix" >"$dir/log" || fail "cannot install: $(cat "$dir/log")"

# Nothing may have gone elsewhere: every path that the installation names is below the prefix.
sed -n 's/^-- \(Installing\|Up-to-date\): //p' "$dir/log" >"$dir/files"
[ -s "$dir/files" ] || fail "nothing was installed"
while IFS= read -r file; do
    case $file in "$prefix"/*) ;; *) fail "$file is not below the prefix" ;; esac
done <"$dir/files"

# Found where it was moved to as well, and through a link: nothing remembers the first place.
mv "$prefix" "$dir/moved"
prefix=$dir/moved
mkdir "$dir/workspace" "$dir/bin"
ln -s "$prefix/bin/zuno-sandbox" "$dir/bin/zuno-sandbox"
cd "$dir/workspace"

"$prefix/bin/zuno-sandbox" probes list | grep -q '^ *net\.tcp' || fail "probes list does not list"
if ! "$dir/bin/zuno-sandbox" run -- true; then
    [ "${ZSB_MUST_WORK:-}" != 1 ] || fail "this host must be able to confine"
    exit 77
fi
"$prefix/bin/zuno-sandbox" verify --probe net.tcp --mode read-only >"$dir/report" ||
    fail "verify: $(cat "$dir/report")"
# It was that tree's helper: without it there is none, unless one is installed where the build expects it.
mv "$prefix/libexec" "$prefix/gone"
code=0
"$prefix/bin/zuno-sandbox" run -- true 2>"$dir/message" || code=$?
[ "$code" -eq 125 ] || [ -e /usr/local/libexec/zuno-sandbox/zuno-sandbox-helper ] ||
    fail "exit $code without the tools: $(cat "$dir/message")"
mv "$prefix/gone" "$prefix/libexec"

file=$(find "$prefix" -name zuno-sandbox.pc)
flags=$(PKG_CONFIG_PATH=${file%/*} pkg-config --variable=includedir zuno-sandbox)
[ -e "$flags/zuno/sandbox.h" ] || fail "zuno-sandbox.pc: no headers in $flags"
flags=$(PKG_CONFIG_PATH=${file%/*} pkg-config --variable=libdir zuno-sandbox)
[ -e "$flags/libzuno-sandbox.so" ] || fail "zuno-sandbox.pc: no library in $flags"

# As docs/library.md says. Only the helper has to be named, because this is not where the build was configured for.
export PKG_CONFIG_PATH="${file%/*}" LD_LIBRARY_PATH="$flags"
# shellcheck disable=SC2046 # words on purpose
"$@" -std=c17 -pedantic -Wall -Wextra -Werror -o "$dir/example" "$example" \
    $(pkg-config --cflags --libs zuno-sandbox) || fail "the example does not compile"
echo text >"$dir/workspace/a file of the example"
"$dir/example" "$dir/workspace" "$prefix/libexec/zuno-sandbox/zuno-sandbox-helper" >"$dir/report" ||
    fail "the example: exit $?"
grep -q 'a file of the example$' "$dir/report" || fail "the example printed: $(cat "$dir/report")"
code=0
"$dir/example" "$dir/nowhere" 2>"$dir/message" || code=$?
[ "$code" -eq 125 ] || fail "the example: exit $code for a workspace that does not exist"
grep -q '^invalid_path (stage policy): ' "$dir/message" || fail "the example said: $(cat "$dir/message")"
