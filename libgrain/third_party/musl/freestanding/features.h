/* Grain's, not musl's: see math.h. */
#include "math.h"
