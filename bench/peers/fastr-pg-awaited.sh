title="fastr, PostgreSQL, awaited"; kind=ours_pg
workloads="db queries fortunes updates users5 slowdb slowhttp"
. $OURS/serve.sh
version() { ours_version; }
start() { export BENCH_DATABASE=postgresql DB_POOL=$ASYNC_POOL; serve controller awaited; }
