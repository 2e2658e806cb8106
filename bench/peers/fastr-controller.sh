title="fastr, controller with a filter, callback"; kind=ours
workloads="plaintext json sqlite5"
. $OURS/serve.sh
version() { ours_version; }
start() { serve controller callback; }
