# libpolicy.la: policy text to rules; linked into the library, the tools and the tests.
noinst_HEADERS += %D%/policy.h
