#!/bin/sh
set -e
systemd-sysusers jackdaw.conf
# An upgrade restarts a running service; a new installation is started by its administrator.
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart jackdaw.service
fi
