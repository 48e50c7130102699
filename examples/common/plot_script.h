/* plot_script.h: a picture as commands of gnuplot. */
#ifndef EXAMPLES_PLOT_SCRIPT_H
#define EXAMPLES_PLOT_SCRIPT_H

#include "plot.h"
#include <stdio.h>

/* Writes commands that draw the picture into the files png and svg. Failures are left to ferror. */
void plot_script(FILE *script, const plot *picture, const char *png, const char *svg);

#endif
