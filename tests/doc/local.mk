TESTS += %D%/man.tap
EXTRA_DIST += %D%/man.tap
