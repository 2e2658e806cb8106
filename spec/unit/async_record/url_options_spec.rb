# frozen_string_literal: true

# What stands behind the question mark of a URL is understood alike on each kind of database.
RSpec.describe AsyncRecord::Database do
  {
    "sqlite:db/app.db" => "mode=ro", "postgres://u:s3cret@127.0.0.1:1/d" => "sslmode=disable",
    "mysql://u:s3cret@127.0.0.1:1/d" => "ssl-mode=disabled"
  }.each do |place, own|
    describe "with #{place[/\A\w+/]}" do
      def options(url, **given)
        described_class.new(url, **given).instance_variable_get(:@options)
      end

      it "takes the pool's options, in its own words and in Rails'" do
        url = "#{place}?size=3&#{own}&pool_timeout=0.5&max_lifetime=none&idle-timeout=60"
        expect(options(url)).to eq(size: 3, pool_timeout: 0.5, max_lifetime: nil, idle_timeout: 60.0)
        expect(options("#{place}?pool=7&checkout_timeout=2")).to eq(size: 7, pool_timeout: 2.0)
      end

      it "lets those that `connect` is given count more" do
        expect(options("#{place}?size=3&timeout=1", size: 4)).to eq(size: 4, timeout: 1.0)
      end

      it "gives the driver the rest, which it understands" do
        expect(described_class.new("#{place}?#{own}&pool=2").pool.stats[:limit]).to be_positive
      end

      it "refuses what nobody knows, with the nearest name, and shows no secret" do
        nearest = { "siez=3" => "size", "max_connections=3" => "size", "pool_timout=s3cret" => "pool_timeout" }
        nearest.each do |text, near|
          expect { described_class.new("#{place}?#{text}") }.to raise_error(AsyncRecord::ConfigurationError) { |error|
            expect(error.message).to match(/#{text[/\w+/]}=.*did you mean #{near}=/)
            expect(error.message).not_to include("s3c")
          }
        end
        expect { described_class.new("#{place}?zzzzzzz=1") }
          .to raise_error(AsyncRecord::ConfigurationError, /there are/)
      end

      it "refuses values that are no numbers" do
        expect { described_class.new("#{place}?pool=many") }
          .to raise_error(AsyncRecord::ConfigurationError, /pool= .* a number; it is not "many"/)
        expect { described_class.new("#{place}?max_lifetime=-1") }
          .to raise_error(AsyncRecord::ConfigurationError, /a number of seconds, or none/)
      end
    end
  end

  def known_names(kind)
    AsyncRecord.module_eval("UrlOptions", __FILE__, __LINE__).known(kind)
  end

  # The list of names here and the drivers' own must not drift apart.
  it "lets through only what the drivers know" do
    values = { "port" => "1", "hostaddr" => "127.0.0.1", "sslmode" => "disable", "ssl_mode" => "disabled",
               "mode" => "ro", "prepared_statements" => "true", "pgbouncer" => "true", "client_encoding" => "UTF8",
               "encoding" => "utf8", "charset" => "utf8mb4", "options" => "-c%20geqo=off",
               "channel_binding" => "disable" }
    places = { sqlite: "sqlite:x.db", postgresql: "postgres://127.0.0.1:1/d", mysql: "mysql://127.0.0.1:1/d" }
    places.each do |kind, place|
      known_names(kind).each do |name|
        expect { described_class.new("#{place}?#{name}=#{values.fetch(name, '1')}").pool }.not_to raise_error
      end
    end
  end
end
