#!/bin/bash
# Trains a small language model over a slow link, first plain, then under tahmpi, and compares.
set -euo pipefail
build='' # set by prepare_build
# shellcheck source=tools/prepare.sh
. "$(dirname "$0")/../tools/prepare.sh"

usage() {
    cat <<'END'
Usage: examples/quickstart.sh [OPTION]...

Installs missing Debian packages (as root), builds tahmpi, and trains a language model by pipeline
parallelism (examples/pipeline_lm) twice over the same slow link between hosts made on this machine:
plain, and under tahmpi. Prints one table of both.

  --stages N      pipeline stages, one on each host [2]
  --rate RATE     speed of each host's link, such as 5mbit [5mbit]
  --steps N       training steps of each run [300]
  --policy FILE   what tahmpi is to do [examples/policies/published.ini]
  --help          this text

A stage on one processor core computes about a thousand times slower than on a GPU, so the link is
as much slower: the table shows the share of a step that the plain run spends communicating.
END
}

stages=2 rate=5mbit steps=300 policy=$prepare_source/examples/policies/published.ini
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h) usage; exit 0 ;;
    --stages | --rate | --steps | --policy) [ $# -ge 2 ] || prepare_fail "$1 needs a value" ;;
    *) prepare_fail "unknown option $1 (see examples/quickstart.sh --help)" ;;
    esac
    case $1 in
    --stages) stages=$2 ;;
    --rate) rate=$2 ;;
    --steps) steps=$2 ;;
    --policy) policy=$2 ;;
    esac
    shift 2
done
[[ $stages =~ ^([2-9]|[1-9][0-9])$ ]] || prepare_fail "--stages $stages: must be 2 to 99"
[[ $steps =~ ^[1-9][0-9]{0,5}$ ]] || prepare_fail "--steps $steps: must be 1 to 999999"
[ -r "$policy" ] || prepare_fail "--policy $policy: there is no such file to read"

running='' # the training that runs
stop() {
    trap - "$1"
    if [ -n "$running" ]; then
        kill -s TERM "$running" 2>/dev/null || :
        wait "$running" 2>/dev/null || :
    fi
    kill -s "$1" $$
}
trap 'stop INT' INT
trap 'stop TERM' TERM
trap 'stop HUP' HUP

# Whether there can be hosts with slow links; if not, why, and what follows.
choose_network() {
    slow=("$build/tools/slownet" --mpi mpich --hosts "$stages" --rate "$rate")
    if "${slow[@]}" --raw -- true 2>"$results/slownet.log"; then
        where="$stages hosts on this machine, links of $rate"
        return
    fi
    head -n 1 "$results/slownet.log" >&2
    # A rate that is none, say: not for want of a network.
    grep -q 'see slownet --help' "$results/slownet.log" && exit 1
    slow=()
    where="this machine alone, NO slow link"
    # Ranks of one machine are left alone, unless the policy says otherwise.
    { printf '[tahmpi]\nscope = all\n'; grep -v '^[[:space:]]*scope' "$policy"; } >"$results/policy.ini"
    policy=$results/policy.ini
    cat <<'END'
No slow link can be made, so both runs use this machine's memory: they show the bytes and the loss,
but communication costs next to nothing here, and NO SPEED-UP IS TO BE EXPECTED.
Start this as root to see it on a slow link.
END
}

# train NAME [VAR=VALUE]...: one training run with these variables; its summary goes to NAME.log.
train() {
    local name=$1 setting launch=() output progress
    shift
    for setting; do
        if [ ${#slow[@]} -gt 0 ]; then
            launch+=(-x "$setting")
        else
            launch+=(-genv "${setting%%=*}" "${setting#*=}")
        fi
    done
    if [ ${#slow[@]} -gt 0 ]; then
        launch=("${slow[@]}" "${launch[@]}" --)
    else
        launch=("$mpiexec" -n "$stages" "${launch[@]}")
    fi
    exec {output}> >(tee "$results/$name.log" | grep --line-buffered '^step ' | sed -u "s/^/  $name: /")
    progress=$!
    # In the background, because a signal for this script would have to wait for it otherwise.
    OPENBLAS_NUM_THREADS=1 env --default-signal=INT,QUIT "${launch[@]}" "$build/examples/pipeline_lm" \
        --layers "$stages" --micro-batch-size 1 --steps "$steps" --csv "$results/$name.csv" \
        --report-every $(((steps + 5) / 6)) </dev/null >&"$output" 2>&1 &
    running=$!
    exec {output}>&-
    if ! wait $running; then
        wait $progress || :
        prepare_fail "the $name run failed: $(tail -n 5 "$results/$name.log")"
    fi
    running=''
    wait $progress || :
}

print_table() {
    python3 - "$results" "$where" "$rate" <<'END'
import json, sys

folder, where, rate = sys.argv[1:]


def summary(name):
    lines = open(f"{folder}/{name}.log").read().split("==== summary ====")[1].splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


plain, tahmpi = summary("plain"), summary("tahmpi")
directions = [rule[way] for rule in json.load(open(f"{folder}/report.json"))["rules"] for way in ("up", "down")]
raw = sum(way["raw_bytes"] for way in directions)
tensor = raw + sum(way["tensor_bytes"] for way in directions)
wire = raw + sum(way["wire_bytes"] for way in directions)


def number(run, key):
    return float(run[key])


def row(name, before, after, change=""):
    print(f"  {name:<28}{before:>12}{after:>12}  {change}".rstrip())


ms = [1e3 * number(run, "step_seconds") for run in (plain, tahmpi)]
share = [100 * number(run, "comm_share") for run in (plain, tahmpi)]
tokens = [number(run, "tokens_per_second") for run in (plain, tahmpi)]
loss = [number(run, "loss_last_20") for run in (plain, tahmpi)]
print(f"\n{plain['steps']} steps, {plain['ranks']} stages, {where}")
row("", "plain", "tahmpi")
row("time of a step, ms", f"{ms[0]:.1f}", f"{ms[1]:.1f}", f"{ms[0] / ms[1]:.2f} times faster")
row("share communicating, %", f"{share[0]:.1f}", f"{share[1]:.1f}")
row("tokens a second", f"{tokens[0]:.0f}", f"{tokens[1]:.0f}")
row("tensors on the wire, MB", f"{tensor / 1e6:.2f}", f"{wire / 1e6:.2f}",
    f"{tensor / wire:.2f} times fewer bytes" if wire else "no message matched the policy")
row("loss, mean of last 20 steps", f"{loss[0]:.4f}", f"{loss[1]:.4f}", f"{100 * (loss[1] / loss[0] - 1):+.2f} %")
END
}

prepare_packages mpich
prepare_build mpich
results=$build/quickstart
mkdir -p "$results"
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec)
choose_network
echo "training on $where:"
train plain
rm -f "$results/report.json"
train tahmpi LD_PRELOAD="$build/.libs/libtahmpi.so" TAHMPI_POLICY="$policy" \
    TAHMPI_REPORT="$results/report.json"
print_table
echo "logs, losses by step and tahmpi's report: $results"
