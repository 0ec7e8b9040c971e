# CMake, Ninja and ctest as ./dev uses them; sourced by ./dev.

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
  set_up
  configure_and_build default build "$@"
  exec 9>&-
}

# configure_and_build PRESET FOLDER TARGET...: quiet when all is well, everything that was said when not.
configure_and_build() {
  local preset=$1 folder=$2 log
  shift 2
  log=$folder/build.log
  mkdir -p "$folder"
  if [[ ! -f $folder/build.ninja ]]; then
    cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; die 1 "CMake to configure (output above, kept in $log)"; }
  fi
  local output=/dev/null
  [[ -t 2 ]] && output=/dev/stderr
  if ! ninja -C "$folder" -j "$(build_jobs)" "$@" 2>&1 | tee "$log" >"$output"; then
    if [[ $output == /dev/null ]]; then cat "$log" >&2; fi
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
