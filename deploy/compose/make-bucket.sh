#!/bin/sh
# Makes the bucket as soon as the store takes it. To make one that is there is an error, so it is looked for first.
set -eu
until echo s3.bucket.list | weed shell -master=s3:9333 | grep -qw pressroom; do
    sleep 1
    echo "s3.bucket.create -name pressroom" | weed shell -master=s3:9333 || true
done
