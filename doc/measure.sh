#!/bin/bash
# Measures what tahmpi gains on links of several speeds, and draws it: the figures and the picture of
# the README. See --help.
set -euo pipefail
build='' # set by prepare_build
# shellcheck source=tools/prepare.sh
. "$(dirname "$0")/../tools/prepare.sh"

usage() {
    cat <<'END'
Usage: doc/measure.sh [OPTION]...

Trains a language model by pipeline parallelism (examples/pipeline_lm) on hosts made on this
machine, over links of several speeds, plain and under policies in turn, by `tahmpi ab`. Writes to
the output folder:

  speedup-runs.csv   one line a run
  speedup.csv        one line a link and policy: share of the plain step spent communicating,
                     speed-up of a step, fewer bytes, loss
  speedup.svg        speed-up against that share, from speedup.csv
  loss.svg           loss by step, from loss.csv

  --links RATES    [5mbit,10mbit,20mbit,50mbit,100mbit,none]; none: not shaped
  --runs K         runs of each, in turn [3]
  --steps N        training steps of a run [300]
  --policy FILE    may be repeated [examples/policies/published.ini]
  --output FOLDER  [doc, of the source tree]
  --build FOLDER   a finished build [one made in build/mpich]
  --quick          --links 20mbit,none --runs 1 --steps 12, to a folder under build/: to see it work
  --draw           only draw speedup.svg and loss.svg again
  --help           this text

Needs root for the hosts, gnuplot for the pictures, and a machine that does nothing else.
END
}

links=5mbit,10mbit,20mbit,50mbit,100mbit,none runs=3 steps=300 policies=() draw=no
output=$prepare_source/doc
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h) usage; exit 0 ;;
    --quick)
        links=20mbit,none runs=1 steps=12 output=$prepare_source/build/measure
        shift
        continue
        ;;
    --draw) draw=yes; shift; continue ;;
    --links | --runs | --steps | --policy | --output | --build)
        [ $# -ge 2 ] || prepare_fail "$1 needs a value" ;;
    *) prepare_fail "unknown option $1 (see doc/measure.sh --help)" ;;
    esac
    case $1 in
    --links) links=$2 ;;
    --runs) runs=$2 ;;
    --steps) steps=$2 ;;
    --policy) policies+=(--policy "$2") ;;
    --output) output=$2 ;;
    --build) build=$2 ;;
    esac
    shift 2
done
[[ $steps =~ ^[1-9][0-9]{0,5}$ ]] || prepare_fail "--steps $steps: must be 1 to 999999"
[ ${#policies[@]} -gt 0 ] || policies=(--policy "$prepare_source/examples/policies/published.ini")
command -v gnuplot >/dev/null || prepare_fail "gnuplot is missing: apt-get install gnuplot-nox"
mkdir -p "$output"

# summarise REPORT EVERY: one line a link and policy, and the loss curves of the first link, which
# have a value for every EVERY steps.
summarise() {
    python3 - "$1" "$output" "$2" <<'END'
import collections, csv, json, math, sys

report, folder, every = json.load(open(sys.argv[1])), sys.argv[2], int(sys.argv[3])
runs = collections.defaultdict(dict)
for sample in report["samples"]:
    if sample["succeeded"]:
        values = {name.lstrip("^").split(":")[0].split(" ")[0]: curve for name, curve in sample["metrics"].items()}
        runs[sample["link"], sample["variant"]][sample["run"]] = (sample, values)
links = list(dict.fromkeys(link for link, variant in runs))
variants = [v for v in dict.fromkeys(variant for link, variant in runs) if v != "plain"]


def last(run, name):
    return run[1][name][-1]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


with open(f"{folder}/speedup.csv", "w") as out:
    print("link,policy,plain_communicating_percent,speedup,speedup_least,speedup_most,"
          "fewer_bytes,plain_loss,loss", file=out)
    for link in links:
        plain = runs[link, "plain"]
        for variant in variants:
            mine = runs[link, variant]
            pairs = [(plain[n], mine[n]) for n in mine if n in plain]
            if not pairs:
                continue
            ratios = [last(p, "step_seconds") / last(m, "step_seconds") for p, m in pairs]
            sides = [rule for _, m in pairs for rule in m[0].get("rules", [])]
            raw = sum(s["raw_bytes"] for s in sides)
            wire = raw + sum(s["wire_bytes"] for s in sides)
            tensors = raw + sum(s["tensor_bytes"] for s in sides)
            row = [100 * mean(last(p, "comm_share") for p, _ in pairs),
                   math.exp(mean(math.log(r) for r in ratios)), min(ratios), max(ratios),
                   tensors / wire if wire else 1, mean(last(p, "loss_last_20") for p, _ in pairs),
                   mean(last(m, "loss_last_20") for _, m in pairs)]
            print(link, variant, *(f"{value:.4f}" for value in row), sep=",", file=out)
with open(f"{folder}/loss.csv", "w") as out:
    writer = csv.writer(out, lineterminator="\n")
    curves = {v: next(iter(runs[links[0], v].values()))[1]["step"] for v in ["plain"] + variants
              if runs[links[0], v]}
    writer.writerow(["step"] + list(curves))
    for i, values in enumerate(zip(*curves.values())):
        writer.writerow([(i + 1) * every] + list(values))
END
}

draw() {
    local policy policies columns
    policies=$(tail -n +2 "$output/speedup.csv" | cut -d , -f 2 | awk '!seen[$0]++' | tr '\n' ' ')
    policy=${policies%% *}
    columns=$(head -n 1 "$output/loss.csv" | awk -F , '{ print NF }')
    gnuplot <<END
set datafile separator ','
set terminal svg size 800,480 background '#ffffff' font ',14'
set border 3; set tics nomirror; set grid ytics lc rgb '#dddddd'
set key left top
set output '$output/speedup.svg'
set xlabel 'share of the plain step spent communicating, %'
set ylabel 'a step is so many times faster' noenhanced
set xrange [0:100]; set yrange [0:*]
stats '$output/speedup.csv' using (strcol(2) eq '$policy' && \$7 > 1 ? \$7 : NaN) nooutput
ratio = STATS_records > 0 ? STATS_mean : 1
limit(share) = 1 / (1 - share / 100 * (1 - 1 / ratio))
plot 1 with lines lc rgb '#999999' notitle, \\
    limit(x) with lines dt 2 lc rgb '#999999' title sprintf('%.2f times fewer bytes, if nothing overlapped', ratio), \\
    for [p in '${policies% }'] '$output/speedup.csv' \\
        using (strcol(2) eq p ? \$3 : NaN):4:5:6 every ::1 with yerrorbars pt 7 title p, \\
    '$output/speedup.csv' using (strcol(2) eq '$policy' ? \$3 : NaN):4:1 every ::1 \\
        with labels offset 0,-1.2 font ',11' notitle
set output '$output/loss.svg'
set key right top autotitle columnhead
set xlabel 'step'; set ylabel 'loss'
set xrange [*:*]; set yrange [*:*]
plot for [c = 2:$columns] '$output/loss.csv' using 1:c with lines lw 2
END
}

if [ $draw = no ]; then
    if [ -z "$build" ]; then
        prepare_packages mpich
        prepare_build mpich
    fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    every=$(((steps + 59) / 60))
    # One core a stage, as the stages share this machine.
    OPENBLAS_NUM_THREADS=1 "$build/tools/tahmpi" ab --link "$links" --ranks 2 --runs "$runs" \
        "${policies[@]}" --json "$work/ab.json" --csv "$output/speedup-runs.csv" \
        --metric '^step_seconds: ([0-9.e+-]+)' --metric '^comm_share: ([0-9.e+-]+)' \
        --metric '^loss_last_20: ([0-9.e+-]+)' --metric '^step +[0-9]+/[0-9]+ +loss ([0-9.e+-]+)' \
        -- "$build/examples/pipeline_lm" --steps "$steps" --report-every "$every"
    summarise "$work/ab.json" "$every"
fi
draw
echo "measure.sh: $output/speedup.csv, speedup-runs.csv, speedup.svg, loss.csv, loss.svg"
