#!/bin/sh
# SPDX-License-Identifier: MIT
# packaging/debian and packaging/rpm agree with the sources, and with each other: the symbols of the
# libraries, and which package takes which file. With $installed, the DESTDIR of an installation with
# $prefix, $docdir and $libdir, these are the installed files. packaging/build-deb and
# packaging/build-rpm, which take minutes, build the packages.
set -eu
debian=$top_srcdir/packaging/debian
spec=$top_srcdir/packaging/rpm/loaderx.spec
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# same WHAT FILE FILE: reports how the second file differs from the first.
same() {
    diff "$2" "$3" >"$work/difference" && return
    echo "$1:"
    sed -n 's/^</  lacks/p; s/^>/  has/p' "$work/difference"
    failed=1
}

# Lists NAME@NODE for the symbols of all libraries; the private ones of each library are one line.
awk '/^[A-Z_0-9]+ \{/ { node = $1; print node == "LOADERX_PRIVATE" ? node : node "@" node }
     /^\t[a-z]/ && node != "LOADERX_PRIVATE" { sub(";", ""); print $1 "@" node }' \
    "$top_srcdir"/lib/*/*.map | sort >"$work/maps"
sed -nE 's/^ (\(symver\))?([^ ]+) .*/\2/p' "$debian"/*.symbols | sort >"$work/symbols"
same 'the symbols in packaging/debian/*.symbols' "$work/maps" "$work/symbols"

# The installed files; without an installation, those that the sources name.
if [ -n "${installed:-}" ]; then
    (cd "$installed" && find ".$prefix" ! -type d) >"$work/files"
    sed -i "s|^\.$libdir/|libdir/|; s|^\.$docdir/|docdir/|; s|^\.$prefix/|usr/|" "$work/files"
else
    (
        cd "$top_srcdir"
        find include -name '*.h' -o -name '*.h.in' | sed 's|^|usr/|; s|\.in$||'
        sed -nE 's|^lib_LTLIBRARIES \+= (.*)\.la|libdir/\1.so\nlibdir/\1.so.0.0.0|p' \
            lib/*/Makemodule.am
        printf '%s\n' lib/*/*.pc.in | sed -E 's|.*/(.*)\.in|libdir/pkgconfig/\1|'
        printf '%s\n' doc/man/[157]/* | sed 's|^doc/man/|usr/share/man/man|'
        printf '%s\n' docdir/NEWS usr/bin/loaderx usr/share/man/man3/lx_loader_next.3 \
            usr/share/bash-completion/completions/loaderx \
            usr/share/fish/vendor_completions.d/loaderx.fish usr/share/zsh/site-functions/_loaderx
    ) >"$work/files"
fi

# Lists PACKAGE PATTERN for Debian, with the names of packages that RPM has.
for list in "$debian"/*.install "$debian/not-installed"; do
    sed "s| .*||; s|^|$(basename "$list" .install) |" "$list"
done | sed -E 's|^lib||; s|^([^ ]*)0 |\1-libs |; s|^([^ ]*-dev) |\1el |; s|^loaderx-tools |loaderx |
    s| usr/lib/\*/| libdir/|; s| usr/share/doc/libloaderx-doc$| docdir|' >"$work/debian"

# The same for RPM; a pattern with ! is of files that the package leaves to others.
awk '/^%files/ { package = $2 == "-n" ? $3 : "loaderx" ($2 == "" ? "" : "-" $2); next }
     /^%changelog/ { exit }
     package == "" || /^%(license|doc|if|endif)/ || /^$/ { next }
     $1 == "%exclude" { print package, "!" $2; next }
     { print package, $1 }' "$spec" |
    sed 's|/$||; s|%{_libdir}|libdir|; s|%{_includedir}|usr/include|; s|%{_bindir}|usr/bin|
        s|%{_mandir}|usr/share/man|; s|%{_docdir}/%{name}-doc|docdir|
        s|%{bash_completions_dir}|usr/share/bash-completion/completions|
        s|%{fish_completions_dir}|usr/share/fish/vendor_completions.d|
        s|%{zsh_completions_dir}|usr/share/zsh/site-functions|' >"$work/rpm"

# takers LIST: prints each file with the packages that take it.
takers() {
    awk 'NR == FNR { packages[NR] = $1; leaves[NR] = sub(/^!/, "", $2)
                     gsub(/[.+]/, "\\\\&", $2); gsub(/\*/, "[^/]*", $2)
                     patterns[NR] = "^" $2 "(/|$)"; next }
         { split("", left); split("", takers)
           for (i in patterns)
               if ($0 ~ patterns[i]) { takers[packages[i]]; if (leaves[i]) left[packages[i]] }
           line = $0 ":"
           for (package in takers) if (!(package in left)) line = line " " package
           print line }' "$1" "$work/files" | sort
}

takers "$work/debian" >"$work/by-debian"
awk 'NF != 2 { print "not exactly one package of packaging/debian takes " $0; failed = 1 }
     END { exit failed }' "$work/by-debian" || failed=1
# RPM has no static libraries, and loaderx.spec removes those of libtool.
takers "$work/rpm" | grep -v '\.l*a:' >"$work/by-rpm"
grep -v '\.l*a:' "$work/by-debian" >"$work/by-both"
same 'the packages of packaging/rpm/loaderx.spec' "$work/by-both" "$work/by-rpm"
exit $failed
