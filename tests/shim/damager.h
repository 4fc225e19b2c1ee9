/* Tags by which a test program asks damager.c for damage. */
#ifndef DAMAGER_H
#define DAMAGER_H

enum {
    DAMAGER_SPAN = 1000,
    DAMAGER_FLIP = 1 * DAMAGER_SPAN,
    DAMAGER_LAST = 2 * DAMAGER_SPAN,
    DAMAGER_SHORTER = 3 * DAMAGER_SPAN,
    DAMAGER_LONGER = 4 * DAMAGER_SPAN,
    DAMAGER_END = 5 * DAMAGER_SPAN,
};

#endif
