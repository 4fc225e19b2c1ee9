EXTRA_DIST += %D%/architecture.md %D%/policy.md %D%/report.md %D%/measure.sh
EXTRA_DIST += %D%/frame-format.md %D%/tahx-format.md
