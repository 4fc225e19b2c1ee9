# The programs of examples/, which know nothing of the library.
examples_scripts = %D%/numpy_pipeline.tap %D%/pingpong.tap %D%/pipeline_lm.tap
check_PROGRAMS += %D%/lm_exp %D%/lm_gradient
TESTS += $(examples_scripts) %D%/lm_exp %D%/lm_gradient
EXTRA_DIST += $(examples_scripts)

tests_examples_lm_exp_CPPFLAGS = $(AM_CPPFLAGS) $(OPENBLAS_CFLAGS)
tests_examples_lm_exp_CFLAGS = $(AM_CFLAGS) $(LM_CFLAGS) $(CHECK_CFLAGS)
tests_examples_lm_exp_LDADD = $(CHECK_LIBS) -lm
tests_examples_lm_gradient_SOURCES = %D%/lm_gradient.c $(lm_model_sources)
tests_examples_lm_gradient_CPPFLAGS = $(AM_CPPFLAGS) $(OPENBLAS_CFLAGS) -DLM_DOUBLE
tests_examples_lm_gradient_CFLAGS = $(AM_CFLAGS) $(LM_CFLAGS) $(CHECK_CFLAGS)
tests_examples_lm_gradient_LDADD = $(OPENBLAS_LIBS) $(CHECK_LIBS) -lm
