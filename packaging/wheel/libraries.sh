# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# How each library that the wheels contain is built: a function for each source package, which runs
# in a fresh copy of its source, and installs into $prefix. $cc and the like compile for $host.
#
# All are static, except jansson: values that one of our libraries makes are used by others, and
# the hash function of jansson differs in each copy of it. Its file and its functions have names of
# our own, since a process may contain another jansson, or json-c, which has a json_object_get, too.

build_jansson() {
    # for jansson itself, and for all that include its header
    awk '/json_|jansson_/ { print "#define", $1, $1 "_loaderx" }' src/jansson.def \
        >>src/jansson_config.h.in
    autoreconf --install
    # without --default-symver, which zig does not know
    autotools --disable-static --enable-shared ac_cv_have_decl___GLIBC__=no
    mv "$prefix"/lib/libjansson.so.4.*.* "$prefix/lib/libloaderx-jansson.so.4"
    rm -f "$prefix"/lib/libjansson.*
    "$patchelf" --set-soname libloaderx-jansson.so.4 "$prefix/lib/libloaderx-jansson.so.4"
    ln -s libloaderx-jansson.so.4 "$prefix/lib/libjansson.so"
}

build_zlib() {
    CHOST=$host CC=$cc AR=$ar RANLIB=$ranlib ./configure --static --prefix="$prefix"
    make -j"$jobs" libz.a
    make install
}

build_libdeflate() {
    make -j"$jobs" CC="$cc" AR="$ar" CFLAGS="$CFLAGS" libdeflate.a
    install -m 644 libdeflate.a "$prefix/lib/"
    install -m 644 libdeflate.h "$prefix/include/"
    sed "s|@PREFIX@|$prefix|; s|@LIBDIR@|$prefix/lib|; s|@INCDIR@|$prefix/include|" \
        libdeflate.pc.in >"$prefix/lib/pkgconfig/libdeflate.pc"
}

build_libzstd() {
    # without a file in assembler, which the variable says
    make -C lib -j"$jobs" CC="$cc" AR="$ar" ZSTD_LEGACY_SUPPORT=0 prefix="$prefix" \
        libzstd.a libzstd.pc
    make -C lib CC="$cc" AR="$ar" prefix="$prefix" install-static install-includes install-pc
}

build_openssl() {
    # Providers and engines would be files of their own. Certificates are found by curl.
    CC=$cc AR=$ar RANLIB=$ranlib ./Configure "linux-$arch" --prefix="$prefix" --libdir=lib \
        --openssldir=/etc/ssl no-shared no-module no-engine no-tests no-legacy no-ssl3 \
        no-dtls no-srp no-psk no-cms no-ts no-ocsp no-comp no-idea no-seed no-camellia no-aria \
        no-bf no-cast no-rc2 no-rc4 no-mdc2 no-whirlpool no-sm2 no-sm3 no-sm4 no-gost \
        no-ui-console "$CFLAGS"
    make -j"$jobs" build_libs
    make install_dev
}

build_curl() {
    autotools --disable-shared --with-openssl --without-ca-bundle --without-ca-path \
        --enable-http --disable-ftp --disable-file --disable-ldap --disable-rtsp --disable-dict \
        --disable-telnet --disable-tftp --disable-pop3 --disable-imap --disable-smb --disable-smtp \
        --disable-gopher --disable-mqtt --disable-manual --disable-cookies --disable-doh \
        --disable-alt-svc --disable-hsts --disable-unix-sockets --disable-ntlm --disable-tls-srp \
        --disable-netrc --enable-threaded-resolver --without-zlib --without-zstd --without-brotli \
        --without-libidn2 --without-libpsl --without-nghttp2 --without-librtmp --without-libssh2
}

build_libjpeg_turbo() {
    with_cmake -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF -DREQUIRE_SIMD=ON
}

build_libpng1_6() {
    autotools --disable-shared --disable-tests --disable-tools
}

build_libwebp() {
    autotools --disable-shared --disable-gl --disable-sdl --disable-png --disable-jpeg \
        --disable-tiff --disable-gif --disable-libwebpdemux --disable-libwebpmux
}

# licence_of PACKAGE: prints the names of the files that its licence consists of.
licence_of() {
    case $1 in
    libdeflate | curl) echo COPYING ;;
    libwebp) echo COPYING PATENTS ;;
    libjpeg-turbo) echo LICENSE.md README.ijg ;;
    openssl) echo LICENSE.txt ;;
    *) echo LICENSE ;;
    esac
}

# autotools OPTION... (The tools that made configure, which may be other versions than those here, are
# not called again.)
autotools() {
    ./configure --host="$host" --prefix="$prefix" --libdir="$prefix/lib" "$@" \
        CC="$cc" AR="$ar" RANLIB="$ranlib" CPPFLAGS="-I$prefix/include" LDFLAGS="-L$prefix/lib" \
        ACLOCAL=: AUTOCONF=: AUTOMAKE=: AUTOHEADER=:
    make -j"$jobs"
    make install
}

# with_cmake OPTION...
with_cmake() {
    "$cmake" -S . -B build -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
        -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$arch" \
        -DCMAKE_C_COMPILER="$tools/$arch/cc" -DCMAKE_ASM_COMPILER="$tools/$arch/cc" \
        -DCMAKE_AR="$ar" -DCMAKE_RANLIB="$ranlib" -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_LIBDIR="$prefix/lib" \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_C_FLAGS="$CFLAGS" "$@"
    "$cmake" --build build -j"$jobs"
    "$cmake" --install build
}
