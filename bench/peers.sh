#!/usr/bin/env bash
# Makes the peers of Ruby 3.3 (Falcon, Rage, Puma 6, Rails 7.2) ready, out of clones that are there already:
#   bench/peers.sh CHROOT CLONES
# CHROOT is a Debian trixie with ruby-dev and a compiler, CLONES holds a git repository OWNER+NAME/repo for each name
# below. Code goes to $PEERS (default: fastr-bench in the temporary folder) and is never committed.
set -euo pipefail
chroot=${1:?the folder of a Debian trixie} clones=${2:?the folder of the clones}
PEERS=${PEERS:-${TMPDIR:-/tmp}/fastr-bench}

socketry="falcon async async-http io-event async-container async-http-cache async-service async-utilization protocol-hpack
  protocol-http protocol-http1 protocol-http2 protocol-rack protocol-url async-pool io-endpoint io-stream console localhost
  traces metrics fiber-local string-format"
take() { # owner/name folder
  mkdir -p "$PEERS/$2"
  git --git-dir="$clones/${1/\//+}/repo" archive HEAD | tar x -C "$PEERS/$2"
}
for name in $socketry; do take "socketry/$name" "$name"; done
for name in samovar mapping fiber-annotation fiber-storage; do take "ioquatix/$name" "$name"; done
take rage-rb/rage rage
take rage-rb/iodine rage-iodine

mounts=()
trap 'for folder in "${mounts[@]}"; do umount "$folder"; done' EXIT
for folder in /proc /dev "$PEERS"; do
  mkdir -p "$chroot$folder"
  mountpoint -q "$chroot$folder" && continue
  mount --bind "$folder" "$chroot$folder"
  mounts=("$chroot$folder" "${mounts[@]}")
done
chroot "$chroot" apt-get install -y --no-install-recommends puma ruby-railties ruby-actionpack ruby-activerecord ruby-pg
chroot "$chroot" bash -e <<BUILD
cd "$PEERS/io-event/ext" && ruby extconf.rb && make && cp IO_Event.so ../lib/
cd "$PEERS/rage-iodine/ext/iodine" && ruby extconf.rb && make && mkdir -p ../../lib/iodine && cp iodine_ext.so ../../lib/iodine/
BUILD
