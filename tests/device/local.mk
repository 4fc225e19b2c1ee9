# Device memory, by a stand-in for the driver and one for an MPI that knows such memory.
TESTS += %D%/device.tap
EXTRA_DIST += %D%/device.tap
check_PROGRAMS += %D%/device
tests_device_device_SOURCES = %D%/device.c %D%/driver.h
tests_device_device_CPPFLAGS = $(MT_CPPFLAGS)
tests_device_device_LDADD = $(MT_LIBS) -ldl

check_LTLIBRARIES += libdevice_driver.la libdevice_aware.la
libdevice_driver_la_SOURCES = %D%/driver.c %D%/driver.h
libdevice_driver_la_CFLAGS = $(PRELOADED_CFLAGS)
libdevice_driver_la_LDFLAGS = $(PRELOADED_LDFLAGS) -Wl,-soname,libcuda.so.1
libdevice_aware_la_SOURCES = %D%/aware.c
libdevice_aware_la_CPPFLAGS = $(MT_CPPFLAGS)
libdevice_aware_la_CFLAGS = $(PRELOADED_CFLAGS)
libdevice_aware_la_LDFLAGS = $(PRELOADED_LDFLAGS)
