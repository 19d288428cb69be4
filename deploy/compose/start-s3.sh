#!/bin/sh
# Gives the store the one key that it takes, and starts it.
set -eu
umask 077
cat >/tmp/s3.json <<END
{"identities": [{"name": "pressroom", "credentials": [{"accessKey": "$MEDIA_KEY", "secretKey": "$MEDIA_SECRET"}],
"actions": ["Admin", "Read", "List", "Write"]}]}
END
exec weed server -dir=/data -s3 -s3.config=/tmp/s3.json -master.telemetry=false
