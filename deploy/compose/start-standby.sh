#!/bin/bash
# Copies the primary the first time, then follows it under the name that the primary waits for.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    # Put in its place when it is whole: a copy that was cut off begins anew.
    copy="$PGDATA.copy"
    rm -rf "$copy"
    install -d -o postgres -g postgres -m 0700 "$copy"
    gosu postgres pg_basebackup --host=primary --username=pressroom --pgdata="$copy" --wal-method=stream \
        --checkpoint=fast --write-recovery-conf
    echo "primary_conninfo = 'host=primary user=pressroom password=$PGPASSWORD application_name=standby'" \
        >>"$copy/postgresql.auto.conf"
    rm -rf "$PGDATA"
    mv "$copy" "$PGDATA"
fi
exec gosu postgres postgres
