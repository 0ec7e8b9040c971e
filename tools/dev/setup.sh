# Installs the packages of tools/setup/debian-packages.txt that are missing; sourced by ./dev.
# A stamp keyed by the list, the scripts and the state of dpkg makes the second run a single comparison.

package_list=tools/setup/debian-packages.txt

# Names of the packages that every command needs, and those of the groups given.
wanted_packages() {
  awk -v groups=" $* " '!/^#/ && NF { if (NF == 1 || index(groups, " " $2 " ")) print $1 }' "$package_list"
}

missing_packages() {
  local wanted installed
  wanted=$(wanted_packages "$@" | sort -u)
  # Virtual packages and unknown names are simply not listed by dpkg-query.
  # shellcheck disable=SC2086
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | awk '$1 == "installed" { print $2 }' | sort -u)
  comm -23 <(echo "$wanted") <(echo "$installed")
}

# Everything the outcome of set-up depends on, as one word.
setup_key() {
  {
    cat "$package_list" tools/dev/setup.sh
    cat tools/*.sh tools/*.txt 2>/dev/null || true
    stat -c '%Y:%s' /var/lib/dpkg/status 2>/dev/null || true
    echo "$*"
  } | cksum | tr ' ' '-'
}

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die 3 "root or sudo to install packages; ask an administrator for: apt-get install --no-install-recommends $missing"
  fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -qq -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 \
    -o DPkg::Lock::Timeout=300 "$@"
}

install_packages() {
  missing=$*
  say "installing $# $([[ $# -eq 1 ]] && echo package || echo packages): $missing"
  # A stale or absent index is the usual case on fresh machines. Where the update fails, what is already known may do.
  apt_get update || say "the package index could not be updated; trying with the one that is here"
  # shellcheck disable=SC2086
  apt_get --no-install-recommends install $missing >/dev/null ||
    die 3 "these packages of the distribution: $missing (on Ubuntu they need the universe component; what apt said is above)"
}

# set_up [GROUP...]: packages, then the sources that come from other registries.
set_up() {
  local key stamp
  key=$(setup_key "$@")
  stamp=.deps/setup-${*:-all}
  stamp=${stamp// /-}
  [[ -f $stamp && $(<"$stamp") == "$key" ]] && return 0
  if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    local missing
    missing=$(missing_packages "$@" | tr '\n' ' ')
    # shellcheck disable=SC2086
    [[ -z ${missing// /} ]] || install_packages $missing
  else
    say "no apt here: $package_list names what is needed"
  fi
  mkdir -p .deps
  if [[ -f tools/fetch_sources.sh ]]; then bash tools/fetch_sources.sh; fi
  setup_key "$@" >"$stamp"
}

# libFuzzer and the sanitizers of clang are packaged by version: the one that the default clang needs.
install_clang_runtime() {
  local major resource
  major=$(clang --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p' | head -1)
  resource=$(clang -print-resource-dir)
  compgen -G "$resource/lib/linux/libclang_rt.fuzzer-*.a" >/dev/null && return 0
  compgen -G "$resource/lib/*/libclang_rt.fuzzer*.a" >/dev/null && return 0
  install_packages "libclang-rt-$major-dev"
}
