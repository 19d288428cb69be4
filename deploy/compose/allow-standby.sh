#!/bin/bash
# Lets the standby copy the database and follow it, and has each COMMIT wait for it from the next start on. Run once, by
# the image of PostgreSQL, when the database is made.
set -eu
echo "host replication pressroom samenet scram-sha-256" >>"$PGDATA/pg_hba.conf"
echo "synchronous_standby_names = 'ANY 1 (standby)'" >>"$PGDATA/postgresql.conf"
