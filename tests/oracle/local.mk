# The independent decoder, and the program that gives it fresh frames.
check_PROGRAMS += %D%/fresh
%C%_fresh_LDADD = $(CODEC_LIBS)

TESTS += %D%/oracle.tap
EXTRA_DIST += %D%/oracle.tap %D%/oracle.py %D%/decoder.py %D%/tahx.py %D%/xxh3.py
