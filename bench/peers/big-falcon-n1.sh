title="falcon, big answers"; kind=ruby3.3
workloads="big300k big3m stream1000"
. $BENCH/peers/falcon-n1.sh
APPS=$BIG_APPS
