# What .ci/run and .ci/nightly share: sourced by them, from the project's folder.
set -uo pipefail
export CI=true NO_COLOR=1
unset FORCE_COLOR
exec </dev/null

work=$(mktemp -d) || exit 1
s3_tool=../shared/tools/s3-server.sh
trap '[ -d "$work/s3" ] && "$s3_tool" stop "$work/s3"; rm -rf "$work"' EXIT
failed=()

step() {
  local name=$1 start=$SECONDS status=0
  shift
  echo "== $name: $*"
  "$@" || status=$?
  echo "== $name: $([ "$status" -eq 0 ] && echo ok || echo "FAILED with status $status") after $((SECONDS - start)) s"
  [ "$status" -eq 0 ] || failed+=("$name")
  return "$status"
}

install() {
  local options=(--include=dev --include=optional --no-audit --no-fund)
  npm ci "${options[@]}" 2>&1 | tee "$work/install.log" && return 0
  # A lock file that lacks optional packages of other platforms is refused as a whole; see scripts/bootstrap.mjs.
  grep -q EUSAGE "$work/install.log" || return 1
  echo 'npm ci refuses package-lock.json as incomplete; installing with npm install --no-save'
  npm install --no-save "${options[@]}"
}

# tools program=package ...: what is missing of these programs, installed where that can be done. Suites that need one that is not
# there are left out and say so; that is no reason to stop here.
tools() {
  local missing=() pair
  for pair in "$@"; do
    PATH="$PATH:/usr/sbin" command -v "${pair%%=*}" >/dev/null || missing+=("${pair##*=}")
  done
  if [ "${#missing[@]}" -eq 0 ]; then
    echo 'all there'
  elif [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "not here: ${missing[*]}; installing them takes root and apt-get"
  else
    apt "${missing[@]}" || echo "could not be installed: ${missing[*]}"
  fi
}

apt() {
  local quiet=(env DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq -o Dpkg::Use-Pty=0)
  "${quiet[@]}" update && "${quiet[@]}" install --yes --no-install-recommends "$@"
}

# Known vulnerabilities of what an installation gets. A registry without advisories is no reason to stop.
audit() {
  npm audit --omit=dev --audit-level=high 2>&1 | tee "$work/audit.log" && return 0
  grep -q 'audit endpoint returned an error' "$work/audit.log" && echo 'not checked: this registry has no advisories'
}

# The libraries with which the tests of the Helm chart render its templates.
chart_engine() {
  [ -d /usr/share/gocode/src/github.com/Masterminds/sprig ] && { echo 'all there'; return 0; }
  [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || { echo 'not here: sprig for Go'; return 0; }
  apt golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev || echo 'could not be installed: sprig for Go'
}

# Node 24, the reference: first on PATH for the steps after this one. The npm registry has its binary for Linux.
node24() {
  local machine=x64
  [ "$(uname -m)" = aarch64 ] && machine=arm64
  if [ "$(node --print 'process.versions.node.split(".")[0]')" != 24 ]; then
    npm install --no-save --ignore-scripts --no-audit --no-fund --prefix "$work/node24" "node-linux-$machine@24" || return 1
    export PATH="$work/node24/node_modules/node-linux-$machine/bin:$PATH"
  fi
  node --version | tee /dev/stderr | grep -q '^v24'
}

# A real S3 server, where the tool that makes one is at hand; without it the suites that need one say so.
s3() {
  [ -x "$s3_tool" ] || { echo 'no tool for an S3 server'; return 0; }
  timeout 300 "$s3_tool" start 0 "$work/s3" >"$work/s3.env" || { echo 'no S3 server could be started'; return 0; }
  local name value
  while IFS='=' read -r name value; do
    case $name in S3_*) export "TEST_$name=$value" ;; esac
  done <"$work/s3.env"
  echo "an S3 server is at $TEST_S3_ENDPOINT"
}

# Files that could not even be loaded hold no failed test; each counts as one. A test gets a second try, because a busy machine can break a
# race in a test; each is named with its first error, and more than three fail the run.
count() {
  node -e '
    const { readFileSync } = require("node:fs");
    const report = JSON.parse(readFileSync(process.argv[1], "utf8"));
    const unread = report.testResults.filter(({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"));
    for (const { name } of unread) console.log(`could not run: ${name}`);
    const retried = report.testResults.flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0);
    for (const { fullName, failureMessages } of retried) console.log(`passed at the second try: ${fullName}\n${failureMessages[0]}`);
    const unreliable = retried.length > 3 ? retried.length : 0;
    if (report.numPendingTests > 0) console.log(`${report.numPendingTests} left out; each says why above`);
    console.log(`${report.numPassedTests - unreliable} passed, ${report.numFailedTests + unread.length + unreliable} failed`);
    process.exit(unreliable > 0 ? 1 : 0);
  ' "$1"
}

# verdict <status>: what failed, the count of the tests on the last line, and the exit status.
verdict() {
  local status=$1 name
  for name in "${failed[@]}"; do echo "failed: $name"; done
  if [ -f "$work/tests.json" ]; then
    count "$work/tests.json" || status=1
  else
    echo 'the tests left no report'
    [ "$status" -ne 0 ] || status=1
    echo '0 passed, 1 failed'
  fi
  if [ "$status" -eq 0 ] && [ "${#failed[@]}" -gt 0 ]; then status=1; fi
  exit "$status"
}

reporters=(--retry=1 --reporter=default --reporter=json "--outputFile.json=$work/tests.json")
echo "node $(node --version), npm $(npm --version), user $(id -un), $(nproc 2>/dev/null || echo '?') processors"
