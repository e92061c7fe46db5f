#!/bin/sh
set -e
# deb passes "remove", rpm 0; on an upgrade the service stays.
if [ "$1" = remove ] || [ "$1" = 0 ]; then
  if [ -d /run/systemd/system ]; then systemctl disable --now jackdaw.service; fi
fi
