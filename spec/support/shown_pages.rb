# frozen_string_literal: true

module Support
  # An application as `fastr new` makes it, with pages to look at in a browser: a form, a streamed page, mistakes.
  module ShownPages
    FILES = {
      "app/config/routes.rb" => <<~RUBY,
        router.draw do
          root to: "home#index"
          get "/guests/new", to: "guests#fresh"
          post "/guests", to: "guests#create"
          get "/guests/:name", to: "guests#show", as: :guest
          get "/parts", to: "parts#index"
          get "/next", to: "parts#next_part"
          get "/raise", to: "mistakes#raise_it"
          get "/missing", to: "mistakes#missing"
        end
      RUBY
      "app/controllers/guests_controller.rb" => <<~RUBY,
        class GuestsController < ApplicationController
          def fresh
            render template: "guests/fresh"
          end

          def create
            redirect_to guest_path(params[:name])
          end

          def show
            @name = params[:name]
            render template: "guests/show"
          end
        end
      RUBY
      "app/controllers/parts_controller.rb" => <<~RUBY,
        class PartsController < ApplicationController
          STEPS = Thread::Queue.new

          def index
            stream(content_type: "text/html; charset=utf-8") do |out|
              out << "<!doctype html><title>parts</title><p>part 1</p>"
              STEPS.pop
              out << "<p>part 2</p>"
            end
          end

          def next_part
            STEPS << true
            "ok"
          end
        end
      RUBY
      "app/controllers/mistakes_controller.rb" => <<~RUBY,
        class MistakesController < ApplicationController
          def raise_it
            raise ArgumentError, "no such thing: \#{params[:thing]}"
          end

          def missing
            render template: "mistakes/missing"
          end
        end
      RUBY
      "app/views/guests/fresh.html.erb" => <<~HTML,
        <form method="post" action="/guests">
          <label>Name <input name="name"></label>
          <button>Sign</button>
        </form>
        <script src="/app.js"></script>
      HTML
      "app/views/guests/show.html.erb" => "<h1>Welcome, <%= @name %></h1>\n",
      "public/app.js" => "document.documentElement.dataset.script = 'ran';\n"
    }.freeze
    # What an attacker would like to run.
    SCRIPT = %q(<script>window.owned = 1</script><img src="/x" onerror="window.owned = 1">'">)
    private_constant :FILES

    # @return [String] the folder of such an application
    def shown_application(root)
      Fastr.const_get(:Generator, false).new(out: StringIO.new, root: root).application("guestbook")
      FILES.each { |path, text| write_page("#{root}/guestbook/#{path}", text) }
      "#{root}/guestbook"
    end

    # A folder served by `fastr server` in a process of its own.
    Served = Struct.new(:url, :port, :pid)

    # @return [Served] once it answers
    def serve_folder(folder, environment, env: {})
      port = free_port
      command = [RbConfig.ruby, File.expand_path("../../exe/fastr", __dir__), "server", "-p", port.to_s]
      env = { "RUBYLIB" => Processes::LIBRARY, "FASTR_ENV" => environment, "BINDING" => "127.0.0.1" }.merge(env)
      pid = Process.spawn(env, *command, chdir: folder, out: File::NULL, err: File::NULL, pgroup: true)
      served = Served.new("http://127.0.0.1:#{port}", port, pid)
      eventually(within: 60) { answers?(port) }
      served
    rescue RuntimeError
      end_process(pid)
      raise
    end

    private

    def write_page(path, text)
      FileUtils.mkdir_p(File.dirname(path))
      File.write(path, text)
    end
  end
end
