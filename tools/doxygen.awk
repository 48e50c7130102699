# doxygen.awk: a public header as Doxygen wants it; docs/Doxyfile names it as the filter of its input.
#
# The headers' comments are plain ones. Here one above a declaration becomes /** and one behind it /**<, and what the house style
# leaves unsaid is said: a comment above several declarations is each one's; a field without a comment is told by the one before it;
# handles, options structs and destroy functions, which docs/conventions.md tells once for all, get a line.

# Signs that Doxygen would take for its own.
function plain(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/[<>#@%&]/, "\\\\&", text)
    gsub(/ \.\. /, " ..\\&nbsp;", text)     # no sentence ends here,
    if (match(text, /Since [0-9]\.[0-9]\. /)) # nor here
        text = substr(text, 1, RSTART - 1) "(" substr(text, RSTART, RLENGTH - 2) ") " substr(text, RSTART + RLENGTH)
    return text
}

function bare(text) { # the words of a comment's line
    sub(/^ *(\/\*\*?<?|\*)/, "", text)
    sub(/ *\*\/.*$/, "", text)
    return text
}

function line(text) { print "/** " text " */" }

# The comment of a declaration that has none, from its first line.
function unsaid(text, name) {
    if (text ~ /^typedef struct [a-z_]+ [a-z_]+;/) return line("Opaque: made by its create functions, released by its destroy function.")
    if (text ~ /^typedef struct [a-z_]+_options \{/) {
        name = $3
        return line("Options: begin with " name "_init(), which sets their size and defaults.")
    }
    if (text ~ /^typedef struct/) return line("A result: the caller sets struct_size first.")
    if (text ~ /^LINATTN_API void [a-z_]+_destroy\(/) return line("Gives the handle back; NULL is allowed.")
    if (text ~ /^LINATTN_API/ && adjacent) { printf "%s", shared; return }
    if (text ~ /^enum \{/) return line("Limits.")
    if (text ~ /^enum linattn_status/) return line("What a call returns.")
    if (text ~ /^enum/) return line("The values of an option or a field of this name.")
}

FNR == 1 {
    sub(/^\/\* [a-z]+\.h: /, "")
    print FILENAME ~ /linattn\.h$/ ? "/** @mainpage liblinattn" : "/** @file"
    print " * " plain($0)
    said = ""
    inside = !/\*\/$/
    next
}

inside { # a comment that began on an earlier line
    end = index($0, "*/")
    if (/^ \*   [a-z]/) sub(/^ \*   /, " * - ") # the list of the main page
    text = end ? plain(substr($0, 1, end - 1)) "*/" : plain($0)
    print text
    if (trailing) field = field " " bare(text)
    else said = said text "\n"
    if (end) { inside = 0; fresh = !trailing; trailing = 0 }
    next
}

/^\/\* ----/ { fresh = 0; next }

/^ *\/\* / { # a comment above something
    end = index($0, "*/")
    text = plain($0)
    sub(/\/\*/, "/**", text)
    print text
    said = text "\n"
    inside = !end
    fresh = 1
    trailing = 0
    next
}

/^$/ { adjacent = 0; fresh = 0; print; next }

{
    body = /^    /
    if (!body && /^(LINATTN_API|typedef|enum)/) {
        if (fresh) shared = said
        else unsaid($0)
        if (/\{$/) field = ""
    }
    # A field, a member: one line, with its comment behind it or not.
    start = index($0, "/* ")
    if (start) {
        comment = substr($0, start + 3)
        end = index(comment, "*/")
        field = plain(end ? substr(comment, 1, end - 1) : comment)
        print substr($0, 1, start - 1) "/**< " field (end ? "*/" : "")
        inside = trailing = !end
        if (/ struct_size;/) field = ""
    } else if (body && !fresh && /[;,]$|^    LINATTN_[A-Z0-9_]+( = .*)?$/ && !/\(.*\);$|^     /) {
        print $0 (/ struct_size;/ ? " /**< sizeof the struct */" : field == "" ? "" : " /**< " field " */")
    } else print
    adjacent = /;$/
    fresh = 0
}
