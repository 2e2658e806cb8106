title="fastr, route blocks, awaited rows"; kind=ours
workloads="plaintext json sqlite5 stream static1m post1m idle big300k big3m stream1000"
. $OURS/serve.sh
version() { ours_version; }
start() { serve route awaited; }
