title="itsi 5 threads, big answers"; kind=ruby3.1
workloads="big300k big3m stream1000"
. $BENCH/peers/itsi-t5.sh
APPS=$BIG_APPS
