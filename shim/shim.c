#include "config.h"

#include "shim/shim.h"

struct shim shim;
