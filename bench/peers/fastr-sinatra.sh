title="fastr hosting Sinatra"; kind=ours
workloads="plaintext json post1m"
. $OURS/serve.sh
version() { ours_version; }
start() { cd $APPS/sinatra; export DB_POOL=1 APP_ENV=production; exec fastr server -a 127.0.0.1 -p $PORT config.ru; }
