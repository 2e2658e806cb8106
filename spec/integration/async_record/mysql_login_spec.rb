# frozen_string_literal: true

# How a program gets into MySQL itself, and what differs there from MariaDB. Runs where `:mysql` is a MySQL
# (rake spec:mysql).
unless Support::Servers.mariadb?
  RSpec.describe AsyncRecord, "on MySQL itself", limit: 60 do
    each_database(:mysql) do
      def user(name, password: Support::Servers::Recipe::PASSWORD, options: "")
        open_database("#{server.url('fastr', user: name, password: password)}?#{options}", size: 2)
      end

      def session(database)
        database.query("select user() as name, @@version as version").first
      end

      def encrypted?(database)
        !database.query("show status like 'Ssl_cipher'").first["Value"].empty?
      end

      # The server forgets who proved the password before: the next one has to do it in full.
      def forget_logins
        server.sql("flush privileges")
      end

      it "is not a MariaDB" do
        expect(session(database)["version"]).to match(/\A(?:[89]|\d\d)\.\d+\.\d+/)
        expect(database.server_version).not_to match(/mariadb/i)
      end

      it "lets a caching_sha2_password user in over TLS, for the first time and again" do
        forget_logins
        2.times do
          database = user("sha2", options: "ssl-mode=required")
          expect([session(database)["name"], encrypted?(database)]).to match([/\Asha2@/, true])
        end
      end

      it "lets a caching_sha2_password user in without TLS, by the server's key and again from its memory" do
        forget_logins
        2.times do
          database = user("sha2", options: "ssl-mode=disabled")
          expect([session(database)["name"], encrypted?(database)]).to match([/\Asha2@/, false])
        end
      end

      it "refuses a wrong password, with TLS and without, and says so" do
        %w[required disabled].each do |mode|
          forget_logins
          expect { session(user("sha2", password: "wrong", options: "ssl-mode=#{mode}")) }
            .to raise_error(AsyncRecord::AuthenticationFailed, /check user and password/)
        end
      end

      it "lets users in without a password, by certificate, and over TLS only" do
        expect(session(database)["name"]).to match(/\Afastr@/)
        expect(session(user("secure"))["name"]).to match(/\Asecure@/)
        expect { session(user("secure", options: "ssl-mode=disabled")) }
          .to raise_error(AsyncRecord::AuthenticationFailed)
        tls = server.recipe.certificates
        files = "ssl-mode=verify_identity&ssl-ca=#{tls}/ca.pem&ssl-cert=#{tls}/client.pem&ssl-key=#{tls}/client.key"
        expect(session(user("certified", password: nil, options: files))["name"]).to match(/\Acertified@/)
      end

      it "keeps documents as JSON, whose driver says so" do
        database.execute("create table notes (id #{column(:id)}, meta json)")
        model("Note", database).create!(meta: { "a" => [1, "ä"] })
        expect(database.query("select meta from notes").first["meta"]).to eq("a" => [1, "ä"])
        expect(Note.first.meta).to eq("a" => [1, "ä"])
        expect(JSON.parse(Note.all.to_json)).to match([include("meta" => { "a" => [1, "ä"] })])
      end

      it "reads generated, invisible and unsigned columns, and its own collation" do
        database.execute("create table things (id #{column(:id)}, price decimal(10,2), " \
                         "twice decimal(11,2) as (price * 2), kept decimal(11,2) as (price * 3) stored, " \
                         "secret int invisible default 7, big bigint unsigned)")
        model("Thing", database)
        thing = Thing.create!(price: 2, big: (2**64) - 1)
        expect(Thing.find(thing.id)).to have_attributes(twice: 4, kept: 6, big: (2**64) - 1)
        database.execute("create table words (word varchar(20))")
        database.execute("insert into words values ('ÄRGER'), ('🦊')")
        expect(database.query("select word from words where word = ?", "arger")).to eq([{ "word" => "ÄRGER" }])
        expect(database.query("select word from words where word = ?", "🦊")).to eq([{ "word" => "🦊" }])
      end

      it "has no RETURNING, and says what to do" do
        database.execute("create table notes (id #{column(:id)}, body text)")
        model("Note", database)
        expect([Note.create!(body: "a").id, Note.create!(body: "b").id]).to eq([1, 2])
        expect do
          Note.insert_all!([{ body: "c" }], returning: :id)
        end.to raise_error(AsyncRecord::NotSupported, /RETURNING/)
      end

      it "names what a check, a key and a reference are called" do
        database.execute("create table parents (id int primary key)")
        database.execute("create table children (id int primary key, parent_id int, age int, " \
                         "name varchar(9) not null, constraint adult check (age > 17), " \
                         "constraint mum foreign key (parent_id) references parents (id), unique key by_name (name))")
        insert = ->(text) { database.execute("insert into children (id, parent_id, age, name) values #{text}") }
        insert.call("(1, null, 18, 'a')")
        { "(2, null, 3, 'b')" => [AsyncRecord::CheckViolation, "adult"],
          "(2, 9, 18, 'b')" => [AsyncRecord::ForeignKeyViolation, "mum"],
          "(2, null, 18, 'a')" => [AsyncRecord::UniqueViolation, "children.by_name"],
          "(2, null, 18, null)" => [AsyncRecord::NotNullViolation, "name"] }.each do |row, (error, name)|
          expect { insert.call(row) }.to raise_error(error) { |raised| expect(raised.constraint).to eq(name) }
        end
      end
    end
  end
end
