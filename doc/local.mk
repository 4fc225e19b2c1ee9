EXTRA_DIST += %D%/architecture.md %D%/policy.md %D%/report.md %D%/measure.sh
EXTRA_DIST += %D%/speedup.svg %D%/speedup.csv %D%/speedup-runs.csv %D%/loss.svg %D%/loss.csv %D%/codec-performance.md
EXTRA_DIST += %D%/frame-format.md %D%/tahx-format.md
