title="puma 2 workers, big answers"; kind=ruby3.1
workloads="big300k big3m stream1000"
. $BENCH/peers/puma-w2.sh
APPS=$BIG_APPS
