# Sourced by our peer files. serve STYLE USERS [server options]: our bench app in the foreground.
export PATH="$OURS/../exe:$PATH" RUBYLIB="$OURS/../lib" FASTR_ENV=production
ours_version() { ruby -rfastr/version -e 'puts "fastr #{Fastr::VERSION}, ruby #{RUBY_VERSION}"'; }
serve() {
  export BENCH_STYLE=$1 BENCH_USERS=$2
  shift 2
  cd "$OURS/app"
  mkdir -p public/static                       # served from our own public folder, as applications do
  ln -f "$STATIC_DIR/static/1m.bin" public/static/ 2>/dev/null || cp "$STATIC_DIR/static/1m.bin" public/static/
  exec fastr server -a 127.0.0.1 -p "$PORT" "$@" config.ru
}
