# CMake, Ninja and ctest as ./dev uses them; sourced by ./dev.
source tools/dev/progress.sh

# CPU time of one source file, compiled and linked, in seconds; './dev bench build' measures it.
cpu_seconds_per_source=1

# announce TARGET...: before a first build, what will happen and how long it takes. `afterwards` says what follows.
announce() {
  local folders=(src kernels) sources jobs minutes
  [[ $* == hone ]] || folders+=(tests tools)
  sources=$(find "${folders[@]}" -name '*.cpp' | wc -l)
  jobs=$(build_jobs)
  minutes=$(((sources * cpu_seconds_per_source / jobs + 60) / 60))
  say "the first call installs what is missing and builds once, about $minutes min on $jobs $(
    [[ $jobs -eq 1 ]] && echo core || echo cores
  )${afterwards:+; then $afterwards}"
}

# ccache serves sources with a precompiled header only where these are no matter to it.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}

# prepare TARGET...: set-up and the default build. One at a time: a second caller waits for the first.
# HONE_SKIP_SETUP=1 takes build/ as it is, for machines that the program was carried to.
prepare() {
  if [[ ${HONE_SKIP_SETUP:-} == 1 ]]; then
    [[ -x build/hone ]] || die 3 "build/hone, as HONE_SKIP_SETUP=1 promises"
    return 0
  fi
  mkdir -p build
  exec 9>build/.lock
  flock -n 9 || { say "waiting for another ./dev to finish its build"; flock 9; }
  [[ -x build/hone ]] || announce "$@"
  set_up
  configure_and_build default build "$@"
  exec 9>&-
}

# configure_and_build PRESET FOLDER TARGET...: says how far it is; quiet where nothing is to do, and everything that compilers
# said where it fails.
configure_and_build() {
  local preset=$1 folder=$2 log
  shift 2
  log=$folder/build.log
  mkdir -p "$folder"
  if [[ ! -f $folder/build.ninja ]]; then
    say "configuring $folder"
    cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; die 1 "CMake to configure (output above, kept in $log)"; }
  fi
  if ! ninja -C "$folder" -j "$(build_jobs)" "$@" 2>&1 | watch_build "$log"; then
    [[ -t 2 ]] || grep -v '^\[[0-9]*/[0-9]*\]' "$log" >&2 || true
    die 1 "the sources to compile (output above, kept in $log)"
  fi
}

# The suite, two tests at a time at least; a run that executed no test is a failure.
run_ctest() {
  local folder=$1 jobs
  shift
  jobs=$(cores)
  [[ $jobs -lt 2 ]] && jobs=2
  ctest --test-dir "$folder" -j "$jobs" --output-on-failure --no-tests=error "$@"
}
