# Policies to start from; installed next to the library.
policiesdir = $(pkgdatadir)/policies
dist_policies_DATA = %D%/published.ini %D%/published-token.ini %D%/lossless.ini %D%/direction.ini \
	%D%/numpy_pipeline.ini %D%/tahx.ini
