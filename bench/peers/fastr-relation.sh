title="fastr, render json: relation"; kind=ours
workloads="sqlitejson"
. $OURS/serve.sh
version() { ours_version; }
start() { serve controller awaited; }
