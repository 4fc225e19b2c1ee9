EXTRA_DIST += %D%/policy.md
