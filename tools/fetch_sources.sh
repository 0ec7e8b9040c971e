#!/usr/bin/env bash
# Brings the sources of tools/source_packages.txt into .deps/<name>: pinned by version, checked by SHA-256, unpacked once.
# Needs python3 with pip, tar and sha256sum. Does nothing, quickly, when everything is in place.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
deps=$root/.deps
mkdir -p "$deps"

fetch() {  # name version kind sha256
  local name=$1 version=$2 kind=$3 sha256=$4
  local target=$deps/$name
  if [ "$(cat "$target/.hone_sha256" 2>/dev/null || true)" = "$sha256" ]; then
    return 0
  fi
  local work
  work=$(mktemp -d "$deps/.fetch.XXXXXX")
  trap 'rm -rf "$work"' RETURN
  local format=(--only-binary :all:)
  if [ "$kind" = sdist ]; then format=(--no-binary :all:); fi
  echo "fetching $name $version"
  printf '%s==%s --hash=sha256:%s\n' "$name" "$version" "$sha256" >"$work/requirements.txt"
  local attempt
  for attempt in 1 2 3; do
    if python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes "${format[@]}" \
      --dest "$work/download" --requirement "$work/requirements.txt" >"$work/log" 2>&1; then
      break
    fi
    if [ "$attempt" = 3 ]; then
      echo "error: $name $version could not be fetched; pip said:" >&2
      tail -n 15 "$work/log" >&2
      return 1
    fi
    sleep $((attempt * 2))
  done
  local archive
  archive=$(find "$work/download" -type f | head -n 1)
  if ! echo "$sha256  $archive" | sha256sum --check --status; then
    echo "error: $archive does not have the SHA-256 that tools/source_packages.txt asks for" >&2
    return 1
  fi
  mkdir "$work/unpacked"
  if [ "$kind" = sdist ]; then
    tar -xzf "$archive" -C "$work/unpacked" --strip-components=1
  else
    python3 -m zipfile -e "$archive" "$work/unpacked"
  fi
  echo "$sha256" >"$work/unpacked/.hone_sha256"
  rm -rf "$target"
  mv "$work/unpacked" "$target"
}

while read -r name version kind sha256; do
  case $name in '' | '#'*) continue ;; esac
  fetch "$name" "$version" "$kind" "$sha256"
done <"$root/tools/source_packages.txt"
