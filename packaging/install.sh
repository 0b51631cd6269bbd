#!/bin/sh
# Installs a released billhook: install.sh --repository OWNER/NAME [--version V] [--to DIRECTORY]
# [--dry-run]. The archive is checked against its SHA-256 sum.
set -eu

repository=
version=latest
to=/usr/local/bin
dry_run=false

fail() {
  echo "install.sh: $1" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    --repository | --version | --to)
      [ $# -gt 1 ] || fail "$1 needs a value"
      case $1 in
        --repository) repository=$2 ;;
        --version) version=${2#v} ;;
        --to) to=$2 ;;
      esac
      shift 2
      ;;
    --dry-run)
      dry_run=true
      shift
      ;;
    *) fail "unknown argument: $1" ;;
  esac
done
[ -n "$repository" ] || fail "--repository is missing"

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) target=x86_64-unknown-linux-musl ;;
  Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
  Darwin-x86_64) target=x86_64-apple-darwin ;;
  Darwin-arm64) target=aarch64-apple-darwin ;;
  *) fail "no binaries are released for $(uname -s) on $(uname -m)" ;;
esac

archive=billhook-$target.tar.gz
releases=https://github.com/$repository/releases
if [ "$version" = latest ]; then
  url=$releases/latest/download/$archive
else
  url=$releases/download/v$version/$archive
fi

if [ "$dry_run" = true ]; then
  echo "would install $url to $to"
  exit 0
fi

mkdir -p "$to"
to=$(cd "$to" && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
curl --fail --silent --show-error --location --output "$archive" "$url"
curl --fail --silent --show-error --location --output "$archive.sha256" "$url.sha256"
if command -v sha256sum >/dev/null; then
  sha256sum --check --quiet "$archive.sha256"
else
  shasum --algorithm 256 --check --quiet "$archive.sha256"
fi
tar -xzf "$archive"
cp billhook "$to/billhook"
chmod 755 "$to/billhook"
"$to/billhook" --version
