#!/usr/bin/env bash
# package.sh [deb|archive]...: builds what is shipped into target/package, both where none is named.
#
#   deb       fleetload_VERSION_ARCH.deb: program, manual pages, completions, systemd units        needs cargo-deb
#   archive   fleetload-VERSION-ARCH-linux-musl.tar.gz: a static program with manual pages, completions, documentation
#             and licences; its bill of materials (SBOM) and checksums; the files of the container
#                                                               needs cargo-cyclonedx, musl-gcc and the target of rustup
#
# PROFILE=release builds them of a program that is compiled faster, to try them.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${PROFILE:-dist}
out=target/package
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
arch=$(uname -m)

need() { command -v "$1" >/dev/null || { echo "package.sh: $1 is missing: $2" >&2; exit 2; }; }

# Manual pages and completions, as the program at $1 writes them.
documents() {
    rm -rf "$out/documents"
    mkdir -p "$out/documents/man" "$out/documents/completions"
    "$1" man --out "$out/documents/man" >/dev/null
    gzip --best --no-name --force "$out"/documents/man/*.1
    for shell in bash zsh fish; do "$1" completions "$shell" >"$out/documents/completions/fleetload.$shell"; done
}

deb() {
    need cargo-deb "cargo install --locked cargo-deb"
    cargo build --locked --profile "$profile"
    documents "target/$profile/fleetload"
    cargo deb --locked --no-build --profile "$profile" --output "$out/"
}

archive() {
    need musl-gcc "install musl-tools"
    need cargo-cyclonedx "cargo install --locked cargo-cyclonedx"
    local target=$arch-unknown-linux-musl name=fleetload-$version-$arch-linux-musl
    rustup target add "$target"
    cargo build --locked --profile "$profile" --target "$target"
    local program=target/$target/$profile/fleetload
    documents "$program"
    rm -rf "${out:?}/$name" "$out/root"
    mkdir -p "$out/$name"
    cp "$program" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE fleetload.example.toml "$out/$name/"
    cp -r docs templates samples "$out/$name/"
    cp -r "$out/documents/man" "$out/documents/completions" "$out/$name/"
    # The same bytes from the same sources: sorted, without owners, with the time of the last commit.
    local changed
    changed=$(git log -1 --format=%ct)
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$changed" -C "$out" -c "$name" |
        gzip --best --no-name >"$out/$name.tar.gz"
    cargo cyclonedx --format json --target "$target" --override-filename sbom --quiet
    sed "s|path+file://$PWD|path+file:///fleetload|g" sbom.json >"$out/$name.cdx.json"
    rm sbom.json
    (cd "$out" && sha256sum "$name.tar.gz" "$name.cdx.json" >"$name.sha256")
    # What the container holds.
    install -D -m 755 "$program" "$out/root/usr/bin/fleetload"
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$out/root/etc/ssl/certs/ca-certificates.crt"
    install -d -m 777 "$out/root/work" "$out/root/tmp"
    echo "$out/$name.tar.gz"
}

[ $# -gt 0 ] || set -- deb archive
for what in "$@"; do
    case $what in
    deb | archive) ;;
    *) echo "package.sh: '$what' is neither deb nor archive" >&2; exit 2 ;;
    esac
done
mkdir -p "$out"
# Nothing that is shipped names the folders in which it was built.
home=${CARGO_HOME:-$HOME/.cargo}
CARGO_ENCODED_RUSTFLAGS=$(printf -- '--remap-path-prefix=%s=cargo\x1f--remap-path-prefix=%s=fleetload' "$home" "$PWD")
CFLAGS="${CFLAGS:-} -ffile-prefix-map=$home=cargo -ffile-prefix-map=$PWD=fleetload"
export CARGO_ENCODED_RUSTFLAGS CFLAGS
for what in "$@"; do "$what"; done
