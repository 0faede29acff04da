#!/usr/bin/env bash
# Compares the Go packages for users with those of the last tag. The changelog must name what is incompatible, above the tag's section.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! tag=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null); then
  echo "apidiff is left out: there is no release yet, or its tag was not fetched"
  exit
fi
apidiff=(go run golang.org/x/exp/cmd/apidiff@v0.0.0-20261113113407-e3970619a1a4 -m)
packages=$(go list -m)/pkg
old=$(mktemp -d)
trap 'rm -r "$old"' EXIT
mkdir "$old/tree"
git archive "$tag" | tar -x -C "$old/tree"
(cd "$old/tree" && "${apidiff[@]}" -w "$old/api" "$packages")
"${apidiff[@]}" -incompatible "$old/api" "$packages" >"$old/changes"

sed "/^## \[${tag#v}\]/q" CHANGELOG.md >"$old/changelog"
code=0
while IFS= read -r change; do
  name=$(sed -E 's/^- ([^:,]*).*/\1/; s/.*[./]//' <<<"$change")
  if ! grep -qwF -e "$name" "$old/changelog"; then
    echo "incompatible with $tag, and not in CHANGELOG.md: ${change#- }" >&2
    code=1
  fi
done <"$old/changes"
exit $code
