title="puma 5 threads, big answers"; kind=ruby3.1
workloads="big300k big3m stream1000"
. $BENCH/peers/puma-t5.sh
APPS=$BIG_APPS
