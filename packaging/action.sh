#!/bin/sh
# Runs billhook for the GitHub Action: annotations, and SARIF in a file if SARIF_FILE names one. The
# arguments are those of the command.
set -eu

status=0
billhook "$@" --format github || status=$?
if [ -n "${SARIF_FILE:-}" ]; then
  # The exit status is that of the first run; an unusable input is reported there too.
  billhook "$@" --format sarif >"$SARIF_FILE" || true
fi
exit "$status"
