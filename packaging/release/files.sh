#!/usr/bin/env bash
# Writes what releases contain beside the programs to build/release: completions for shells, manual pages, and the dependencies with their
# licences.
set -euo pipefail
cd "$(dirname "$0")/../.."

out=build/release
rm -rf "$out"
mkdir -p "$out/completions"
(cd packaging/man && go run . "../../$out/man")
for program in gw-run gw-migrate; do
  go build -o "$out/$program" "./cmd/$program"
  for shell in bash zsh fish; do
    "$out/$program" completion "$shell" >"$out/completions/$program.$shell"
  done
  rm "$out/$program"
done

licenses() {
  go tool -modfile=packaging/release/go.mod go-licenses "$@" ./cmd/gw-run ./cmd/gw-migrate --ignore github.com/gwsql/gw \
    --logtostderr=false --stderrthreshold=ERROR
}
licenses report --template packaging/release/licenses.tpl >"$out/licenses.txt"
licenses save --force --save_path "$out/licenses"
mv "$out/licenses.txt" "$out/licenses/list.txt"
mkdir "$out/licenses/go"
cp "$(go env GOROOT)/LICENSE" "$out/licenses/go"
