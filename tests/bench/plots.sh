#!/bin/sh
# plots.sh: how the library's cost grows, from the table that `make bench` prints: plots.sh <bench.csv> <picture.svg>. Run by
# `make bench-plots`. Times are those of one thread on the fastest kernel, but for the last panel.
set -eu
export LC_ALL=C

table=$1
picture=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
best=$(awk -F, 'NR == 2 { print $4 }' "$table")
[ -n "$best" ] || {
    echo "plots.sh: $table has no rows" >&2
    exit 1
}

# series <file> <letter of the size, or p> <pattern of names>: size and milliseconds, in the order of the sizes. p is 2 L d^2.
series() {
    awk -F, -v letter="$2" -v names="^($3)\$" -v best="$best" '
        $1 ~ names && $3 == 1 && $4 == best {
            split($2, parts, " ")
            for (i in parts) size[substr(parts[i], 1, 1)] = substr(parts[i], 2) + 0
            size["p"] = 2 * size["L"] * size["d"] * size["d"]
            print size[letter], 1000 * $5
        }' "$table" | sort -n >"$work/$1"
    [ -s "$work/$1" ] || {
        echo "plots.sh: $table has no rows $3" >&2
        exit 1
    }
}
series step_n n 'step_setting1|step_n[0-9]+'
series moments_n n 'step_moments_setting1|step_moments_n[0-9]+'
series softmax_n n 'gradient_softmax|gradient_softmax_n[0-9]+'
for letter in B d L; do
    series gradient_$letter $letter "gradient_setting1|gradient_${letter}[0-9]+"
    series hessian_$letter $letter "hessian_setting1|hessian_${letter}[0-9]+"
done
series hessian_p p 'hessian_setting1|hessian_[dL][0-9]+'
# One thread over two, row by row.
awk -F, -v best="$best" 'NR > 1 && $4 == best { if ($3 == 1) one[$1] = $5; else if ($3 == 2) print $1, one[$1] / $5 }' "$table" |
    grep -E '^(step_setting[123]|step_wide|step_softmax|gradient_wide|hessian_setting1|hessian_softmax|noise_setting1) ' |
    tr _ ' ' | awk '{ printf "\"%s %s\" %s\n", $1, $2, $3 }' >"$work/threads"

cat >"$work/script" <<EOF
set terminal svg size 1080,720 font "DejaVu Sans,12" background "white"
set output "$work/picture"
set multiplot layout 2,3
set key top left reverse Left samplen 2
set border 3
set tics nomirror
set logscale xy
set grid lc rgb "#dddddd"
set ylabel "milliseconds"
set xlabel "context tokens n"
set title "d = 5, L = 3, B = 1000"
set xtics (5, 10, 20, 40, 80, 160)
set xrange [4:200]
set yrange [0.05:2000]
plot "$work/step_n" w lp lw 2 pt 7 lc rgb "#000000" t "step, tokens", \
     "$work/moments_n" w lp lw 2 pt 7 lc rgb "#cc0000" t "step, moments drawn", \
     "$work/softmax_n" w lp lw 2 pt 7 lc rgb "#0055aa" t "gradient, softmax"
$(
    panel() { # letter, label, title, tics, ranges of x and y
        cat <<END
set xlabel "$2"
set title "$3"
set xtics ($4)
set xrange [$5]
set yrange [$6]
plot "$work/gradient_$1" w lp lw 2 pt 7 lc rgb "#000000" t "gradient", \
     "$work/hessian_$1" w lp lw 2 pt 7 lc rgb "#cc0000" t "Hessian"
END
    }
    panel B 'prompts B' 'd = 5, L = 3, n = 20' '250, 500, 1000, 2000, 4000' 200:5000 0.01:1000
    panel d 'covariates d' 'L = 3, n = 20, B = 1000' '2, 3, 5, 10, 20' 1.6:25 0.01:5000
    panel L 'layers L' 'd = 5, n = 20, B = 1000' '1, 2, 3, 4, 6, 8' 0.9:9 0.005:1000
)
set xlabel "parameters p = 2 L d^2"
set title "Hessian (p, p), B = 1000"
set xtics (20, 50, 100, 200, 400, 800)
set xrange [15:900]
set yrange [0.3:1000]
plot "$work/hessian_p" w p pt 7 lc rgb "#cc0000" t "n = 20"
unset logscale
set title "Two threads over one"
set ylabel "times as fast"
set xlabel "row of make bench"
set xtics rotate by -35 autofreq
set xrange [-0.7:8.7]
set yrange [0:2.1]
set style fill solid 0.6
set boxwidth 0.7
plot "$work/threads" using 0:2:xtic(1) w boxes lc rgb "#000000" notitle
unset multiplot
EOF
gnuplot "$work/script"
cp "$work/picture" "$picture.part"
mv "$picture.part" "$picture"
