#!/bin/bash
# Copies the primary the first time, then follows it under the name that the primary waits for.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    install -d -o postgres -g postgres -m 0700 "$PGDATA"
    gosu postgres pg_basebackup --host=primary --username=pressroom --pgdata="$PGDATA" --wal-method=stream \
        --write-recovery-conf
    echo "primary_conninfo = 'host=primary user=pressroom password=$PGPASSWORD application_name=standby'" \
        >>"$PGDATA/postgresql.auto.conf"
fi
exec gosu postgres postgres
