# frozen_string_literal: true

require "async_record/migrator"

# The same database migrated by Rails and by us, in turns. ActiveRecord has a process of its own.
RSpec.describe "Migrations beside ActiveRecord's" do
  each_database do
    before do
      FileUtils.mkdir_p("#{sqlite_folder}/rails")
      [[migrations, "AsyncRecord::Migration[6.1]"], ["#{sqlite_folder}/rails", "ActiveRecord::Migration[6.1]"]]
        .each do |folder, parent|
        { "20240101000000_make_a" => ["MakeA", "create_table(:authors) { |t| t.string :b; t.timestamps }"],
          "20240102000000_make_c" => ["MakeC", "create_table(:books) { |t| t.references :author, foreign_key: true }"] }
          .each do |file, (name, body)|
          File.write("#{folder}/#{file}.rb", "class #{name} < #{parent}\ndef change\n#{body}\nend\nend\n")
        end
      end
    end

    def rails(code)
      url = database.url.sub(/\Asqlite:/, "sqlite3:").sub(/\Amysql:/, "mysql2:")
      output, = run_ruby(<<~RUBY, env: { "RUBYOPT" => "-W0" })
        begin
          require "active_record"
        rescue LoadError
          abort "none"
        end
        ActiveRecord::Base.establish_connection(#{url.dump})
        ActiveRecord::Migration.verbose = false
        paths = [#{"#{sqlite_folder}/rails".dump}]
        old = ActiveRecord::VERSION::MAJOR < 7
        context = ActiveRecord::MigrationContext.new(paths, *(ActiveRecord::SchemaMigration if old))
        #{code}
        puts context.get_all_versions.inspect
      RUBY
      skip "ActiveRecord is not installed" if output == "none\n"
      output.strip
    end

    it "go on where the other stopped, up and down" do
      expect(rails("context.up(20240101000000)")).to eq("[20240101000000]")
      expect(migrator.status.map(&:state)).to eq(%i[up down])
      expect(migrate).to eq(1)
      expect(rails("context.rollback")).to eq("[20240101000000]")
      expect(migrate).to eq(1)
      expect(migrator.rollback(2)).to eq(2)
      expect(rails("context.up")).to eq("[20240101000000, 20240102000000]")
      expect([migrate, migrator.problems]).to eq([0, []])
    end
  end
end
