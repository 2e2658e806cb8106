title="fastr hosting the plain Rack app"; kind=ours
workloads="plaintext json stream static1m post1m idle"
. $OURS/serve.sh
version() { ours_version; }
start() { cd $APPS/rack; export DB_POOL=1; exec fastr server -a 127.0.0.1 -p $PORT config.ru; }
