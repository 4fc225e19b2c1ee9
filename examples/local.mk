# Ordinary MPI programs that know nothing of tahmpi. Users build them like any other program of
# theirs; here they come with the tree and are not installed.
EXTRA_DIST += %D%/quickstart.sh %D%/numpy_pipeline.py
noinst_PROGRAMS += examples/pingpong examples/pipeline_lm

examples_pingpong_SOURCES = %D%/pingpong.c %D%/lm_random.h %D%/lm_random.c
examples_pingpong_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
examples_pingpong_LDADD = $(MPI_LIBS) -lm

# The model without its messages, which the gradient check compiles in double.
lm_model_sources = \
	%D%/lm_real.h %D%/lm_random.h %D%/lm_random.c %D%/lm_layers.h %D%/lm_layers.c \
	%D%/lm_stage.h %D%/lm_stage.c %D%/lm_parameters.h %D%/lm_parameters.c %D%/lm_memory.c

examples_pipeline_lm_SOURCES = %D%/pipeline_lm.c $(lm_model_sources) \
	%D%/lm_adam.h %D%/lm_adam.c %D%/lm_data.h %D%/lm_data.c \
	%D%/lm_options.h %D%/lm_options.c %D%/lm_pipeline.h %D%/lm_pipeline.c \
	%D%/lm_report.h %D%/lm_report.c
examples_pipeline_lm_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS) $(OPENBLAS_CFLAGS)
examples_pipeline_lm_CFLAGS = $(AM_CFLAGS) $(LM_CFLAGS)
examples_pipeline_lm_LDADD = $(MPI_LIBS) $(OPENBLAS_LIBS) -lm

# The loops marked "omp simd" become vector code at any -O; neither errno nor
# floating-point traps are looked at, and no value changes.
LM_CFLAGS = -fopenmp-simd -fno-math-errno -fno-trapping-math
