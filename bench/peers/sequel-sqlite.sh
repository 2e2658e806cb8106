title="Rack + Sequel on puma t5, SQLite"; kind=ruby3.1
workloads="sqlite5 sqlitejson"
version() { ruby -rsequel -e 'puts "sequel #{Sequel.version}"'; }
start() { cd $OURS/apps/sequel; exec puma -q -t5:5 -w0 -b tcp://127.0.0.1:$PORT config.ru; }
