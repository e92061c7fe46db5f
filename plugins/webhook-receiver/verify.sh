#!/bin/sh
# Whether Jackdaw sent these bytes within the last five minutes: exit status 0 if it did, 1 if not.
#
#   WEBHOOK_SECRET=whsec_... ./verify.sh "$SIGNATURE" <body
#
# SIGNATURE is the header X-Service-Signature; standard input is the unchanged body. An optional second argument is the
# time in seconds since 1970. Use this for experiments only: while openssl runs, other users of the machine can see the
# secret in the process list, and the comparison does not take constant time.
set -eu

signature=$1
now=${2:-$(date +%s)}
: "${WEBHOOK_SECRET:?must be whsec_...}"

time=$(printf '%s' "$signature" | sed -n 's/^t=\([1-9][0-9]\{0,11\}\),.*/\1/p')
case $time in '' | *[!0-9]*) exit 1 ;; esac
age=$((now - time))
if [ "$age" -gt 300 ] || [ "$age" -lt -300 ]; then exit 1; fi

expected=$({ printf '%s.' "$time" && cat; } | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d ' ' -f 1)
# It is empty if openssl failed; never accept that as a signature.
if [ "${#expected}" -ne 64 ]; then
  echo 'verify.sh: openssl made no signature' >&2
  exit 2
fi
case ",$signature," in *",v1=$expected,"*) exit 0 ;; esac
exit 1
