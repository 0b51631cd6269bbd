#!/bin/sh
# Runs billhook for the GitHub Action: annotations, SARIF in a file if SARIF_FILE names one, and the
# answers of compat in the summary of the job. The arguments are those of the command.
set -eu

status=0
billhook "$@" --format github || status=$?
if [ -n "${SARIF_FILE:-}" ]; then
  # The exit status is that of the first run; an unusable input is reported there too.
  billhook "$@" --format sarif >"$SARIF_FILE" || true
fi
if [ "$1" = compat ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  billhook "$@" --format markdown >>"$GITHUB_STEP_SUMMARY" || true
fi
exit "$status"
