# frozen_string_literal: true

# The same answers by route blocks or by a controller, as BENCH_STYLE says; the rest exists once.
router.draw do |route|
  if ENV.fetch("BENCH_STYLE", "route") == "route"
    route.get("/plaintext") { render(:text, "Hello, World!") }
    route.get("/json") { render(:json, { message: "Hello, World!" }) }
  else
    route.get "/plaintext", to: "bench#plaintext"
    route.get "/json", to: "bench#json"
  end
  style = ENV.fetch("BENCH_USERS", "awaited")
  route.get "/users5", to: "users##{style == 'json' ? 'relation' : style}"
  route.get "/users.json", to: "users#relation"
  %w[db queries fortunes updates slowdb].each { |path| route.get "/#{path}", to: "world_#{style}##{path}" }
  route.get "/stream", to: "bench#chunks"
  route.get "/chunks", to: "bench#thousand_chunks"
  route.get "/filled/:size", to: "bench#filled"
  route.get "/slowhttp", to: "bench#slowhttp"
  route.post "/upload", to: "bench#upload"
end
