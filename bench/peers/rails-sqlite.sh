title="Rails + ActiveRecord on puma t5, SQLite"; kind=framework
workloads="plaintext json sqlite5 sqlitejson"
version() { ruby -e 'require "rails"; puts "rails #{Rails.version}"'; }
start() { cd $OURS/apps/rails; exec puma -q -t5:5 -w0 -b tcp://127.0.0.1:$PORT config.ru; }
