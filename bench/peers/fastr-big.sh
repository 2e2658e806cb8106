title="fastr hosting the Rack app with big answers"; kind=ours
workloads="big300k big3m stream1000"
. $OURS/serve.sh
version() { ours_version; }
start() { cd $BIG_APPS/rack; export DB_POOL=1; exec fastr server -a 127.0.0.1 -p $PORT config.ru; }
