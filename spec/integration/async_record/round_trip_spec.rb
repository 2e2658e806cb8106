# frozen_string_literal: true

require_relative "../../support/round_trip/mariadb"
require_relative "../../support/round_trip/postgresql"
require_relative "../../support/round_trip/sqlite"

# Random values of every type go in as binds and come back equal; the database's own client, which shares no code with
# this library, says the same of a sample. FASTR_SEED gives other values.
RSpec.describe "Values of every type" do
  # As many of each type, half of them through a model, half through plain statements.
  count = 10_000
  per_statement = 500
  sample = 100
  seed = Integer(ENV.fetch("FASTR_SEED", "20101130"))

  define_method(:given) do |type|
    random = Support::RoundTrip::RandomValues.new(seed)
    Array.new(count) { random.often?(2) ? nil : type.make.call(random) }
  end

  define_method(:store) do |type, values|
    values.each_with_index.each_slice(per_statement).with_index do |rows, index|
      index.odd? || type.bind.nil? ? store_by_model(rows) : store_by_statement(type, rows)
    end
  end

  def store_by_model(rows)
    Sample.insert_all!(rows.map { |value, id| { id: id, v: value } })
  end

  def store_by_statement(type, rows)
    binds = rows.flat_map { |value, id| [id, value.nil? ? nil : type.bind.call(value)] }
    database.execute("insert into samples (id, v) values #{(['(?, ?)'] * rows.size).join(', ')}", *binds)
  end

  define_method(:differences) do |expected, found|
    pairs = expected.zip(found).each_with_index.reject { |(one, other), _| Support::RoundTrip.same?(one, other) }
    pairs.map { |(one, other), id| "#{id}: #{other.inspect} for #{one.inspect} (seed #{seed})" }.first(5)
  end

  # @return [Array] what the client says of the first values
  define_method(:said) do |type|
    shown = "case when v is null then null else #{type.shown} end"
    witness("select #{shown} from samples where id < #{sample} order by id").map do |row|
      row.first && type.read.call(row.first)
    end
  end

  { sqlite: Support::RoundTrip::SQLite, postgresql: Support::RoundTrip::PostgreSQL,
    mysql: Support::RoundTrip::MariaDB }.each do |kind, types|
    each_database(kind) do
      types.types.each do |type|
        it "keeps #{count} of #{type.name.empty? ? 'no type' : type}", limit: 60 do
          types::PREPARATION.each { |sql| database.execute(sql) }
          database.execute("create table samples (id integer primary key, v #{type})")
          model("Sample", database)
          values = given(type)
          store(type, values)
          expected = values.map { |value| value.nil? ? nil : type.back.call(value) }
          found = Sample.order(:id).pluck(:v)
          expect(found.size).to eq(count)
          expect(differences(expected, found)).to eq([])
          if type.plain
            rows = database.query("select v from samples order by id")
            expect(differences(expected, rows.map { |row| row["v"] })).to eq([])
          end
          expect(differences(expected.first(sample), said(type))).to eq([])
          few = Sample.where(id: ...sample).order(:id)
          expect(JSON.parse(JSON.generate(few.to_a))).to eq(JSON.parse(few.to_json_bytes))
        end
      end
    end
  end
end
