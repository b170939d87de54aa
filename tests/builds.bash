# Loaded by the test files that make builds with options of their own: once is enough, whatever build is tested.

setup() {
    enter
    [ "$BIN" = "$ROOT/build" ] || not_for_this_build 'it makes builds of its own'
}
