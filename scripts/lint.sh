#!/usr/bin/env bash
# Checks the Go code, and the statements in it and in SQL files, without a server.
set -euo pipefail
export GOGC=400 # more memory, a fifth less CPU time

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  printf 'gofmt -w is missing on:\n%s\n' "$unformatted" >&2
  exit 1
fi
for module in . bench examples/receive packaging/man tests/go/testserver/docker; do
  (cd "$module" && go vet ./... && go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...)
done
# Numbers must fit into 32 bits, and what only Unix has must be in files for Unix, tests included.
GOOS=windows GOARCH=386 go vet ./...
# The module that starts servers in Docker; nearly all of the time is its compilation.
(cd tests/go/testserver/docker && go test -count=1 ./...)

# With standard_conforming_strings off, a backslash in a plain literal is an escape. E'' or a bracket expression does not depend
# on the setting.
plain="^(?:[^'eE-]|-(?!-)|[eE](?!')|[eE]'(?:[^'\\\\]|\\\\.)*'|'[^'\\\\]*')*'[^'\\\\]*\\\\"
if grep -rnP -- "$plain" sql/functions sql/migrations/*.sql; then
  echo "a plain literal contains a backslash, see above" >&2
  exit 1
fi
# pkg/migrate is left out: it sets the search_path of its connections, which do not go through a pooler in transaction mode.
go run ./scripts/checkstatements cmd internal/{connection,health,inspect,rows,serve,statement,task} pkg/{gwotel,gwprom,gwui,shim,shimtest}

scripts/check-api.sh

# Known vulnerabilities in what the programs call, where the database of them can be had.
if curl --fail --silent --max-time 10 --output /dev/null https://vuln.go.dev/index/db.json; then
  go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...
else
  echo "govulncheck is left out: its database https://vuln.go.dev cannot be reached"
fi
