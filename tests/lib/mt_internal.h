/* Between the files of the test helper. */
#ifndef MT_INTERNAL_H
#define MT_INTERNAL_H

/* Ends the program with exit code 99 and one line on standard error. */
void mt_die(const char *what) __attribute__((noreturn));

/* Notes buffers that were never freed. */
void mt_buffers_end(void);

#endif
