#!/usr/bin/env bash
# docs/cli.md has a section for every verb, with every option its --help names, and no others.
#   cli_reference.sh SOURCE_ROOT BUILD_ROOT
set -uo pipefail
document=$1/docs/cli.md
export PATH=$2:$PATH
failed=0
fault() {
  echo "docs/cli.md: $*"
  failed=$((failed + 1))
}

section() { awk -v title="## $1" '$0 == title { on = 1; next } on && /^## / { exit } on' "$document"; }
options() { grep -oE -- '--[a-z][a-z-]*' | grep -v '^--help$' | sort -u; }

verbs=$(tare --help | awk '/^Subcommands:/ { on = 1; next } on && /^  [a-z]/ { print $1 } on && /^$/ { exit }')
[ -n "$verbs" ] || fault "no verbs in tare --help"
for verb in $verbs; do
  text=$(section "$verb")
  [ -n "$text" ] || { fault "no section ## $verb"; continue; }
  # Options stand at the start of a line of the help; what its examples use is there anyway.
  known=$(tare "$verb" --help | grep -E '^  -' | options)
  # A section shows options in its table; text may speak of those of other verbs.
  shown=$(grep -E '^\| `-' <<<"$text" | cut -d'|' -f2 | options)
  for option in $known; do grep -qxF -- "$option" <<<"$shown" || fault "$verb: $option is missing"; done
  for option in $shown; do grep -qxF -- "$option" <<<"$known" || fault "$verb has no $option"; done
done

# Exit codes: those of the help, each with a row.
for code in $(tare --help | tr '\n' ' ' | grep -oE 'Exit codes: .*' | grep -oE '[0-9]+'); do
  grep -qE "^\| $code \|" "$document" || fault "exit code $code is missing"
done
echo "verbs $(wc -w <<<"$verbs"), faults $failed"
[ "$failed" = 0 ]
