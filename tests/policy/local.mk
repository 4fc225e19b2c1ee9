check_PROGRAMS += %D%/policy
TESTS += %D%/policy
%C%_policy_SOURCES = %D%/policy_tests.h %D%/policy_tests.c %D%/test_keys.c %D%/test_mistakes.c \
	%D%/test_text.c %D%/test_match.c %D%/test_documents.c
%C%_policy_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_policy_LDADD = $(POLICY_LIBS) $(CODEC_LIBS) $(CHECK_LIBS)
