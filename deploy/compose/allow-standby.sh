#!/bin/bash
# Lets the standby copy the database and follow it. Run once, by the image of PostgreSQL, when the database is made.
set -eu
echo "host replication pressroom samenet scram-sha-256" >>"$PGDATA/pg_hba.conf"
