#include "plot_script.h"

#include <linattn/number.h>
#include <math.h>
#include <string.h>

/* Pixels. A panel's box begins with its labels and ends with the key below it. */
enum {
    HEIGHT = 680,
    ONE_WIDTH = 1000, /* of a picture with one panel */
    BOX_WIDTH = 740,  /* of a panel among several */
    LEFT = 130,
    RIGHT = 38,
    COLOUR_BAR = 160, /* more space on the right */
    TOP = 96,
    BOTTOM = 98, /* and a KEY_ROW for each row of the key */
    KEY_ROW = 23,
    KEY_SAMPLE = 75, /* beside a label */
    KEY_LETTER = 10
};

/* Where a panel goes, in shares of the picture. */
typedef struct place {
    double left, right, top, bottom;
    int inset;
} place;

static int width_of(const plot *picture) { return picture->count == 1 ? ONE_WIDTH : BOX_WIDTH * (int)picture->count; }

/* Letters of the longest label of a key, and how many labels there are. */
static size_t find_labels(const plot_panel *panel, size_t *count) {
    size_t longest = 0;
    *count = 0;
    for (size_t i = 0; i < panel->count; i++) {
        if (panel->series[i].label == NULL) continue;
        const size_t length = strlen(panel->series[i].label);
        longest = length > longest ? length : longest;
        ++*count;
    }
    return longest;
}

/* Pixels below the panels: as many rows as the fullest key needs, its columns being as wide as its longest label. */
static int space_below(const plot *picture) {
    size_t rows = 1;
    for (size_t i = 0; i < picture->count; i++) {
        const plot_panel *panel = &picture->panels[i];
        size_t count;
        const size_t column = KEY_SAMPLE + KEY_LETTER * find_labels(panel, &count);
        const size_t width =
            (size_t)width_of(picture) / picture->count - LEFT - RIGHT - (panel->shade_label != NULL ? COLOUR_BAR : 0);
        const size_t columns = column < width ? width / column : 1, needed = (count + columns - 1) / columns;
        rows = needed > rows ? needed : rows;
    }
    return BOTTOM + KEY_ROW * (int)rows;
}

/* Text in gnuplot's single quotes, where only the quote itself is special. */
static void quote(FILE *script, const char *text) {
    fputc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'') fputc('\'', script);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
    }
    fputc('\'', script);
}

static void command(FILE *script, const char *before, const char *text, const char *after) {
    fputs(before, script);
    quote(script, text);
    fputs(after, script);
}

/* gnuplot skips a point that is NaN. */
static void number(FILE *script, double value) {
    char text[LINATTN_NUMBER_SIZE];
    linattn_number_write(value, text);
    fprintf(script, " %s", isfinite(value) ? text : "NaN");
}

/* One data block a series: columns x, y, then low and high, or the bar's right edge, then the shade. */
static void write_data(FILE *script, const plot_series *series, size_t panel, size_t index) {
    fprintf(script, "$data%zu_%zu << END\n", panel, index);
    for (size_t i = 0; i < series->count; i++) {
        number(script, series->x[i]);
        number(script, series->y[i]);
        number(script, series->low != NULL ? series->low[i] : NAN);
        number(script, series->kind == PLOT_BARS ? series->x[i + 1] : series->high != NULL ? series->high[i] : NAN);
        number(script, series->shade != NULL ? series->shade[i] : NAN);
        fputc('\n', script);
    }
    fputs("END\n", script);
}

static void write_title(FILE *script, const plot_series *series) {
    if (series->label == NULL) {
        fputs(" notitle", script);
        return;
    }
    fputs(" title ", script);
    quote(script, series->label);
}

static void write_band(FILE *script, const plot_series *series, const char *data) {
    fprintf(script, "%s using 1:3:4 with filledcurves notitle fillcolor rgb '%s' fillstyle transparent solid 0.25 noborder", data,
            series->colour);
}

static void write_series(FILE *script, const plot_series *series, const char *data, int inset) {
    const double size = (series->size > 0 ? series->size : 1) * (inset ? 0.6 : 1);
    if (series->count == 0)
        fprintf(script, "NaN with lines linewidth 2.5 linecolor rgb '%s'", series->colour);
    else if (series->kind == PLOT_CURVE)
        fprintf(script, "%s using 1:2 with lines linewidth %g dashtype %d linecolor rgb '%s'", data, inset ? 1.5 : 2.5,
                series->dashed ? 2 : 1, series->colour);
    else if (series->kind == PLOT_BARS)
        fprintf(script, "%s using (0.5*($1+$4)):2:($4-$1) with boxes fillstyle solid 0.55 noborder linecolor rgb '%s'", data,
                series->colour);
    else if (series->shade != NULL)
        fprintf(script, "%s using 1:2:5 with points pointtype 7 pointsize %g linecolor palette", data, size);
    else if (series->low != NULL)
        fprintf(script, "%s using 1:2:3:4 with yerrorbars pointtype 7 pointsize %g linewidth 2.5 linecolor rgb '%s'", data, size,
                series->colour);
    else
        fprintf(script, "%s using 1:2 with points pointtype 7 pointsize %g linecolor rgb '%s'", data, size, series->colour);
    write_title(script, series);
}

static void write_plot_command(FILE *script, const plot_panel *panel, size_t index, int inset) {
    char data[64];
    const char *separator = "plot ";
    for (size_t i = 0; i < panel->count; i++) {
        const plot_series *series = &panel->series[i];
        if (series->kind != PLOT_CURVE || series->low == NULL || series->count == 0) continue;
        snprintf(data, sizeof data, "$data%zu_%zu", index, i);
        fputs(separator, script);
        write_band(script, series, data);
        separator = ", ";
    }
    for (size_t i = 0; i < panel->count; i++) {
        snprintf(data, sizeof data, "$data%zu_%zu", index, i);
        fputs(separator, script);
        write_series(script, &panel->series[i], data, inset);
        separator = ", ";
    }
    fputc('\n', script);
}

/* The range of the panel's positive numbers along x or y, low > high when there are none. */
static void find_extent(const plot_panel *panel, int along_x, double *low, double *high) {
    *low = INFINITY;
    *high = 0;
    for (size_t s = 0; s < panel->count; s++) {
        const plot_series *series = &panel->series[s];
        const double *columns[] = {along_x ? series->x : series->y, along_x ? NULL : series->low, along_x ? NULL : series->high};
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < series->count && columns[k] != NULL; i++)
                if (columns[k][i] > 0 && isfinite(columns[k][i])) {
                    *low = fmin(*low, columns[k][i]);
                    *high = fmax(*high, columns[k][i]);
                }
    }
    for (size_t i = 0; i < panel->guide_count && *low <= *high; i++)
        if (panel->guides[i].vertical == along_x && panel->guides[i].at > 0) {
            *low = fmin(*low, panel->guides[i].at);
            *high = fmax(*high, panel->guides[i].at);
        }
}

/* A logarithmic axis: powers of ten, or 1, 2, 5, 10, 20, ... where there would be few of those. */
static void write_log_axis(FILE *script, const plot_panel *panel, char axis) {
    double low, high;
    find_extent(panel, axis == 'x', &low, &high);
    fprintf(script, "set logscale %c\n", axis);
    if (low > high) return;
    const double margin = pow(high / low, 0.04) * 1.01;
    fprintf(script, "set %crange [%g:%g]\n", axis, low / margin, high * margin);
    if (high / low > 300) {
        fprintf(script, "set format %c '10^{%%L}'\n", axis);
        return;
    }
    fprintf(script, "set %ctics (", axis);
    const int first = (int)floor(log10(low / margin)), last = (int)ceil(log10(high * margin));
    for (int power = first; power <= last; power++)
        fprintf(script, "%s1e%d,2e%d,5e%d", power == first ? "" : ",", power, power, power);
    fputs(")\n", script);
}

/* 0 and powers of ten both ways; only those in range are drawn. */
static void write_signed_axis(FILE *script) {
    fputs("set nonlinear y via asinh(10*y) inverse 0.1*sinh(y)\nset ytics (0", script);
    for (int power = -1; power <= 12; power++) {
        if (power <= 2)
            fprintf(script, ", '-%g' -1e%d, '%g' 1e%d", pow(10, power), power, pow(10, power), power);
        else
            fprintf(script, ", '-10^{%d}' -1e%d, '10^{%d}' 1e%d", power, power, power, power);
    }
    fputs(")\n", script);
}

static void write_axes(FILE *script, const plot_panel *panel, int inset) {
    command(script, "set xlabel ", panel->x_label, inset ? " offset 0,0.8 noenhanced\n" : " noenhanced\n");
    command(script, "set ylabel ", panel->y_label, inset ? " offset 1.2,0 noenhanced\n" : " noenhanced\n");
    fprintf(
        script,
        "unset logscale\nunset nonlinear y\nset format '%%g'\nset xtics autofreq offset 0,%s\nset ytics autofreq\nset autoscale\n",
        inset ? "0.4" : "0");
    if (panel->log_x) write_log_axis(script, panel, 'x');
    if (panel->log_y) write_log_axis(script, panel, 'y');
    if (panel->signed_y) write_signed_axis(script);
    int whole = panel->categories == NULL; /* 1: curves and bars only, which may touch the sides */
    for (size_t i = 0; i < panel->count; i++)
        if (panel->series[i].kind == PLOT_DOTS) whole = 0;
    if (whole) fputs("set autoscale xfix\n", script);
    if (panel->y_low != 0 || panel->y_high != 0) {
        fputs("set yrange [", script);
        number(script, panel->y_low);
        fputs(" :", script);
        number(script, panel->y_high);
        fputs(" ]\n", script);
    }
    if (panel->categories == NULL) return;
    fprintf(script, "set xrange [-0.5:%zu.5]\nset xtics scale 0 (", panel->category_count - 1);
    for (size_t i = 0; i < panel->category_count; i++) {
        fputs(i == 0 ? "" : ", ", script);
        quote(script, panel->categories[i]);
        fprintf(script, " %zu", i);
    }
    fputs(") noenhanced\n", script);
}

static void write_guides(FILE *script, const plot_panel *panel) {
    fputs("unset arrow\n", script);
    for (size_t i = 0; i < panel->guide_count; i++) {
        const plot_guide *guide = &panel->guides[i];
        fputs("set arrow from ", script);
        fputs(guide->vertical ? "first" : "graph 0, first", script);
        number(script, guide->at);
        fputs(guide->vertical ? ", graph 0 to first" : " to graph 1, first", script);
        number(script, guide->at);
        fputs(guide->vertical ? ", graph 1" : "", script);
        fputs(" nohead back linewidth 1.5 linecolor rgb '#888888'\n", script);
    }
}

static void write_panel(FILE *script, const plot_panel *panel, size_t index, const place *at) {
    size_t labels;
    fprintf(script,
            "set lmargin at screen %.5f\nset rmargin at screen %.5f\nset tmargin at screen %.5f\nset bmargin at screen %.5f\n",
            at->left, at->right, at->top, at->bottom);
    write_axes(script, panel, at->inset);
    write_guides(script, panel);
    fputs("unset colorbox\n", script);
    if (panel->shade_label != NULL) {
        fputs("set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')\nset colorbox\n", script);
        command(script, "set cblabel ", panel->shade_label, " offset 1.5,0 noenhanced\n");
    }
    if (at->inset)
        fputs("unset key\nset border 15\nunset grid\nset tics scale 0.5 font ',11'\nset xlabel font ',12'\nset ylabel font ',12'\n",
              script);
    else
        fprintf(script,
                "set key bmargin center horizontal Left reverse samplen 2.5 width %d font ',14' noenhanced\nset border 3\n"
                "set grid ytics linetype 1 linewidth 0.5 linecolor rgb '#dddddd'\n",
                -(int)(find_labels(panel, &labels) / 6)); /* gnuplot thinks letters wider than they are */
    write_plot_command(script, panel, index, at->inset);
    fputs("unset label\n", script); /* title and caption are drawn with the first panel */
}

static void write_drawing(FILE *script, const plot *picture) {
    const double width = width_of(picture), box = width / (double)picture->count;
    place at = {.top = 1 - (double)TOP / HEIGHT, .bottom = (double)space_below(picture) / HEIGHT};
    fputs("set multiplot\nset tics nomirror out\n", script);
    command(script, "set label 1 ", picture->title, " at screen 0.5,0.95 center font ',19' noenhanced\n");
    command(script, "set label 2 ", picture->caption, " at screen 0.5,0.895 center font ',13' noenhanced\n");
    for (size_t i = 0; i < picture->count; i++) {
        const plot_panel *panel = &picture->panels[i];
        at.left = ((double)i * box + LEFT) / width;
        at.right = ((double)(i + 1) * box - RIGHT - (panel->shade_label != NULL ? COLOUR_BAR : 0)) / width;
        write_panel(script, panel, i, &at);
    }
    if (picture->inset != NULL) {
        const double wide = at.right - at.left, high = at.top - at.bottom;
        at = (place){at.right - 0.36 * wide, at.right - 0.02 * wide, at.top - 0.02 * high, at.top - 0.40 * high, 1};
        write_panel(script, picture->inset, picture->count, &at);
    }
    fputs("unset multiplot\nset output\nreset\n", script);
}

static void write_terminal(FILE *script, const plot *picture, const char *terminal, const char *path) {
    fprintf(script, "set terminal %s size %d,%d font 'sans,16' background rgb 'white'\n", terminal, width_of(picture), HEIGHT);
    command(script, "set output ", path, "\n");
    write_drawing(script, picture);
}

void plot_script(FILE *script, const plot *picture, const char *png, const char *svg) {
    fputs("set encoding utf8\n", script);
    for (size_t p = 0; p <= picture->count; p++) {
        const plot_panel *panel = p < picture->count ? &picture->panels[p] : picture->inset;
        for (size_t s = 0; panel != NULL && s < panel->count; s++) write_data(script, &panel->series[s], p, s);
    }
    write_terminal(script, picture, "pngcairo", png);
    write_terminal(script, picture, "svg", svg);
}
