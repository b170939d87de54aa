# Fetches packages of Debian's suites by an apt configuration of its own, which leaves the machine's own alone. Sourced by
# tests/kernels and tests/arm64-root.

# Where this machine has its own packages from; MIRROR=URL is another place.
mirror() {
    [ -n "${MIRROR:-}" ] || MIRROR=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
        sed -n 's/^Debian //p' | head -n 1)
    [ -n "$MIRROR" ] || { echo "$0: apt's sources name no mirror of Debian; MIRROR=URL does" >&2; exit 1; }
    echo "$MIRROR"
}

# Runs an apt that knows one suite.
suite_apt() { # DIRECTORY ARCHITECTURE COMMAND...
    local dir=$1 arch=$2 command=$3
    shift 3
    "$command" -q -q -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State="$dir/state" -o Dir::State::status="$dir/status" -o Dir::Cache="$dir/cache" \
        -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User=root "$@"
}

# Makes its configuration and fetches its list of packages. What apt says goes to DIRECTORY/log.
suite_update() { # DIRECTORY ARCHITECTURE SUITE
    local from
    from=$(mirror) || return 1
    mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial"
    : >"$1/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $3 main" >"$1/sources.list"
    suite_apt "$1" "$2" apt-get update >"$1/log" 2>&1
}
