# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the scripts of this folder: TAP, daemons by pid, waiting for a condition.

n_case=0
pids=()
work=${TMPDIR:-/tmp}
# scale N LEAST: N times ULNET_SCALE, at least LEAST
scale() { awk -v n="$1" -v s="${ULNET_SCALE:-1}" -v l="$2" 'BEGIN { v = int(n * s); print v < l ? l : v }'; }

ok() { n_case=$((n_case + 1)); echo "ok $n_case - $1"; }
not_ok() { n_case=$((n_case + 1)); echo "not ok $n_case - $1"; shift; [ $# -gt 0 ] && printf '# %s\n' "$@"; return 0; }
# check NAME COMMAND...: the case passes when the command does
check() {
	local name=$1
	shift
	# no subshell: the command may start daemons and set variables
	if "$@" > "$work/said" 2>&1; then
		ok "$name"
	else
		not_ok "$name" "$* said:" "$(head -c 2000 "$work/said" | tr '\n' '|')"
	fi
}
skip() { n_case=$((n_case + 1)); echo "ok $n_case - $1 # SKIP $2"; }
done_testing() { echo "1..$n_case"; }

# wait_for SECONDS COMMAND...: until it succeeds
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" > /dev/null 2>&1; do
		[ "$SECONDS" -ge "$end" ] && return 1
		sleep 0.05
	done
}

# port: one that nobody listens on at 127.0.0.2
free_port() {
	python3 - << 'EOF'
import random, socket
for _ in range(200):
    p = random.randint(10000, 30000)
    ok = True
    for a in ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"):
        s = socket.socket()
        try:
            s.bind((a, p))
        except OSError:
            ok = False
        s.close()
    if ok:
        print(p)
        break
EOF
}

# config NAME NID PORT [extra lines]
config() {
	cat > "$work/$1.yaml" << EOF
selftest: true
net:
  - net type: tcp
    local NI(s):
      - nid: $2
        lnd tunables: {port: $3, conns_per_peer: 1}
${4:-}
EOF
}

# start NAME [PREFIX...]: ulnetd with $work/NAME.yaml; its pid in pid_NAME
start() {
	local name=$1
	shift
	"$@" ulnetd --config "$work/$name.yaml" --name "$name" --foreground > /dev/null 2>> "$work/$name.log" &
	printf -v "pid_$name" %s "$!"
	pids+=("$!")
	wait_for 20 test -S "$ULNET_RUNDIR/$name.sock"
}
# stop NAME SIGNAL
stop() {
	local v="pid_$1"
	[ -n "${!v:-}" ] || return 1
	kill "-$2" "${!v}" 2> /dev/null
	wait "${!v}" 2> /dev/null
}
cleanup() {
	for p in "${pids[@]}"; do kill -TERM "$p" 2> /dev/null; done
	for p in "${pids[@]}"; do wait "$p" 2> /dev/null; done
	rm -f "$ULNET_RUNDIR"/*.sock
}
