# Reads the library's JSON report.

# report_frames FILE: number of frames that all ranks sent; nothing if there is no report.
report_frames() {
    [ -e "$1" ] || return 0
    python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
print(sum(rule[side]["messages"] for rule in report["rules"] for side in ("up", "down")))' "$1"
}
