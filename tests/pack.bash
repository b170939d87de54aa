# Packs a folder, so that the bytes depend on nothing but its files and EPOCH. Sourced by tests/dist and tests/release.

pack() { # PARENT FOLDER EPOCH FILE
    tar -c --format=ustar --sort=name --mtime="@$3" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C "$1" "$2" |
        gzip -n >"$4"
}
