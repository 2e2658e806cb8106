title="fastr, PostgreSQL, json"; kind=ours_pg
workloads="db queries fortunes updates slowdb usersjson users5rows"
. $OURS/serve.sh
version() { ours_version; }
start() { export BENCH_DATABASE=postgresql DB_POOL=$ASYNC_POOL; serve controller json; }
