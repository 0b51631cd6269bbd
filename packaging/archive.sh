#!/bin/sh
# Makes the archive of a release: archive.sh BINARY TARGET DIRECTORY. It holds the binary, the man
# pages, the completions and the licence; its SHA-256 sum lies beside it.
set -eu

[ $# -eq 3 ] || {
  echo "usage: archive.sh BINARY TARGET DIRECTORY" >&2
  exit 2
}
binary=$1
target=$2
to=$3

parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
cp "$binary" "$parts/billhook"
cp "$(dirname "$0")/../LICENSE" "$parts/LICENSE"
"$binary" man "$parts/man"
mkdir "$parts/completions"
for shell in bash zsh fish powershell elvish; do
  "$binary" completions "$shell" >"$parts/completions/billhook.$shell"
done
mkdir -p "$to"
archive=billhook-$target.tar.gz
tar -czf "$to/$archive" -C "$parts" billhook LICENSE man completions
cd "$to"
if command -v sha256sum >/dev/null; then
  sha256sum "$archive" >"$archive.sha256"
else
  shasum --algorithm 256 "$archive" >"$archive.sha256"
fi
