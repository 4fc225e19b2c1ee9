# libpolicy.la: policy text to rules; linked into the library, the tools and the tests.
noinst_LTLIBRARIES += libpolicy.la
libpolicy_la_SOURCES = %D%/policy.h %D%/rules.h %D%/parse.c %D%/rule.c %D%/keys.c %D%/values.c \
	%D%/suggest.c %D%/mistakes.c %D%/describe.c %D%/match.c
libpolicy_la_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS)
POLICY_LIBS = libpolicy.la $(INIH_STATIC)
