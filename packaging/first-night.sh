#!/usr/bin/env bash
# first-night.sh FILE.deb: installs the package into an empty root, and runs the first night and the weekly housekeeping from it
# by the command lines of its units, as the user of the service and with its credential, against a simulated service of its own.
# Needs root, dpkg and systemd's programs; nothing of the machine is changed.
set -euo pipefail
package=$(realpath "$1")
sheet=$(realpath "$(dirname "$0")/../samples/onboarding.xlsx")
root=$(mktemp -d)
served=
trap '[ -z "$served" ] || kill "$served"; rm -rf "$root"' EXIT
chmod 755 "$root"

mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info" "$root/etc" "$root/run"
touch "$root/var/lib/dpkg/status"
# The packages that it depends on are those of this machine.
dpkg --root="$root" --force-depends --force-script-chrootless --install "$package"
id=$(awk -F: '$1 == "fleetload" { print $3 }' "$root/etc/passwd")
state=$root/var/lib/fleetload

# A service, and the profile that an operator fills in for it.
"$root/usr/bin/fleetload" sandbox --listen 127.0.0.1:0 >"$root/run/served" &
served=$!
until address=$(grep -o 'http://[0-9.:]*' "$root/run/served" | head -1) && [ -n "$address" ]; do
    kill -0 "$served"
done
sed -i "s|https://provisioning.example|$address|; s|\"client-id\"|\"sandbox\"|; /^client_secret_command/a paths = \"assumed\"" \
    "$root/etc/fleetload/fleetload.toml"
install -d -o "$id" -m 500 "$root/run/credentials"
install -o "$id" -m 400 /dev/stdin "$root/run/credentials/client-secret" <<<sandbox
install -o "$id" -m 600 "$sheet" "$state/sheet.xlsx"

# A command as the service runs it.
as_service() {
    (cd "$state" && setpriv --reuid="$id" --regid="$id" --clear-groups env -i PATH=/usr/bin:/bin TZ=UTC \
        XDG_STATE_HOME="$state/state" CREDENTIALS_DIRECTORY="$root/run/credentials" \
        "$root/usr/bin/fleetload" --config "$root/etc/fleetload/fleetload.toml" "$@")
}

# The command lines of a unit, one after the other.
as_unit() {
    local line
    while read -r line; do
        line=${line#ExecStart=/usr/bin/fleetload }
        line=${line#--config /etc/fleetload/fleetload.toml }
        line=${line//%S\/fleetload/$state}
        # Words of a unit are separated by blanks.
        # shellcheck disable=SC2086
        as_service $line
    done < <(grep '^ExecStart=/usr/bin/fleetload ' "$root/usr/lib/systemd/system/$1")
}

as_service doctor
as_service import sheet.xlsx
as_unit fleetload.service
as_unit fleetload-housekeeping.service
as_service status --check
as_service backup --check "$state/fleetload.backup.db"
