# Fuzz targets. Here their main replays files; fuzz.sh links libFuzzer's in its place.
check_LTLIBRARIES += libreplay.la
libreplay_la_SOURCES = %D%/fuzz.h %D%/replay.c
FUZZ_MAIN = libreplay.la

check_PROGRAMS += %D%/decode %D%/roundtrip %D%/policy
%C%_decode_LDADD = $(FUZZ_MAIN) $(CODEC_LIBS)
%C%_roundtrip_LDADD = $(FUZZ_MAIN) $(CODEC_LIBS)
%C%_policy_LDADD = $(FUZZ_MAIN) $(POLICY_LIBS) $(CODEC_LIBS)
# Stated, as the option that stands for libFuzzer is not a file.
%C%_decode_DEPENDENCIES = libreplay.la libcodec.la
%C%_roundtrip_DEPENDENCIES = libreplay.la libcodec.la
%C%_policy_DEPENDENCIES = libreplay.la libpolicy.la libcodec.la

TESTS += %D%/replay.tap
EXTRA_DIST += %D%/replay.tap %D%/fuzz.sh
