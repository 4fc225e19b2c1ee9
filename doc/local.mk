EXTRA_DIST += %D%/policy.md
EXTRA_DIST += %D%/frame-format.md
