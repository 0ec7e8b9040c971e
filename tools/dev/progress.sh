# How far a build is, for people who wait; sourced by build.sh.

progress_interval_s=${HONE_PROGRESS_S:-30} # seconds between two lines where nobody watches a terminal

# left_text ELAPSED_S DONE TOTAL: ", about 4 min left" at the pace so far; nothing while that would be a guess.
left_text() {
  local elapsed_s=$1 done=$2 total=$3 left_s
  [[ $elapsed_s -ge 5 && $done -ge 5 && $done -lt $total ]] || return 0
  left_s=$((elapsed_s * (total - done) / done))
  if [[ $left_s -ge 90 ]]; then
    echo ", about $(((left_s + 30) / 60)) min left"
  else
    echo ", about $(((left_s / 5 + 1) * 5)) s left"
  fi
}

# watch_build LOG: reads ninja's output. LOG keeps all of it. A terminal shows one line that is redrawn and what compilers say;
# elsewhere a line says every 30 seconds how far it is. Says nothing where ninja has nothing to do.
watch_build() {
  local log=$1 line part='' pending='' ended='' done=0 total=0 terminal='' drawn='' started=$SECONDS told=$SECONDS
  [[ -t 2 ]] && terminal=1
  : >"$log"
  while [[ -z $ended ]]; do
    if IFS= read -r -t 1 part; then
      line=$pending$part pending=''
      printf '%s\n' "$line" >>"$log"
    elif [[ $? -gt 128 ]]; then
      line='' pending+=$part # a second without a whole line
    else
      line=$pending$part ended=1
      [[ -z $line ]] || printf '%s\n' "$line" >>"$log"
    fi
    # Looking for new files is no step of the build, and happens each time.
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) && $line != *'Re-checking globbed'* && $line != *'Re-running CMake'* ]]; then
      done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
      if [[ -n $terminal ]]; then
        part="[$done/$total]$(left_text $((SECONDS - started)) "$done" "$total")  ${BASH_REMATCH[3]}"
        printf '\r\033[K%s' "${part:0:$(columns)}" >&2
        drawn=1
      fi
    elif [[ -n $terminal && -n $line && $line != '['* && $line != 'ninja: '* ]]; then
      [[ -z $drawn ]] || printf '\r\033[K' >&2
      printf '%s\n' "$line" >&2
      drawn=''
    fi
    if [[ -z $terminal && $total -gt 0 && $done -lt $total && $((SECONDS - told)) -ge $progress_interval_s ]]; then
      told=$SECONDS
      say "building: $done of $total ($((100 * done / total)) %)$(left_text $((SECONDS - started)) "$done" "$total")"
    fi
  done
  [[ -z $drawn ]] || printf '\r\033[K' >&2
}

# Columns of the terminal on standard error, less one, so that a full line does not wrap.
columns() {
  local size
  size=$(stty size <&2 2>/dev/null) || size='24 80'
  size=${size#* }
  [[ $size -gt 20 ]] || size=80
  echo $((size - 1))
}
