# frozen_string_literal: true

# Results in Rust: cut, joined and nested. Runs again under a hostile garbage collector.
RSpec.describe AsyncRecord::Rows do
  let(:database) { memory_database }

  def rows(sql)
    database.await(sql)
  end

  it "copies some columns of some rows" do
    some = rows("select 1 as a, 'x' as b union all select 2, 'y' union all select 3, 'z'").excerpt(%w[b a], 1, 5)
    expect([some.columns, some.size, some.row(0), some.values_at_column(0)]).to eq([%w[b a], 2, ["y", 2], %w[y z]])
    expect { some.excerpt(["c"], 0, 1) }.to raise_error(ArgumentError, /no such column/)
  end

  it "keeps names of columns that nobody else knows", limit: 100 do
    names = Array.new(10) { |number| "column_#{rand(1 << 40)}_#{number}" }
    result = rows("select #{names.map.with_index { |name, index| "'#{index}' as #{name}" }.join(", ")}")
    hashes = Support::HostileGC.stress { [*result.to_a, result.hash_at(0)] }
    expect(hashes).to all(have_attributes(keys: names, values: (0...10).map(&:to_s)))
  end

  # Such a read goes on in memory that was given back: the process may end, so it is another one.
  it "reads names that change their Array while they are read", gc: false do
    output, status = run_ruby(<<~RUBY)
      require "async_record"
      rows = AsyncRecord.connect("sqlite::memory:").await("select 1 as one")
      name = Class.new do
        def initialize(names) = @names = names

        def to_str
          @names.clear.concat([nil] * 3000).clear
          GC.start
          @others = Array.new(5000) { Array.new(100, 7) }
          "one"
        end
      end
      counts = Array.new(50) do
        names = ["one"] * 100
        names[0] = name.new(names)
        rows.excerpt(names, 0, 1).columns.size
      end
      puts counts.uniq
      puts rows.excerpt(Class.new { define_method(:to_ary) { ["o" + "ne"] } }.new, 0, 1).columns
    RUBY
    expect([output, status.success?]).to eq(["100\none\n", true])
  end

  it "nests children into their parents" do
    parents = rows("select 1 as id, 'é' as name union all select 2, null")
    children = Array.new(3) { |index| rows("select #{(index % 2) + 1} as parent, #{index} as number") }
    links = [rows("select 1 as p, 7 as c union all select 1, 8")]
    tags = [rows("select 8 as id union all select 7")]
    json = described_class.nested_json(
      [[parents], nil, ["id"],
       [["children", true, "id", "parent", nil, false, [children, ["number"], nil, []]],
        ["tags", true, "id", "id", links, true, [tags, nil, nil, []]],
        ["first", false, "id", "parent", nil, false, [[], nil, nil, []]]]]
    )
    expect(json.encoding).to eq(Encoding::UTF_8)
    expect(JSON.parse(json)).to eq(
      [{ "name" => "é", "children" => [{ "number" => 0 }, { "number" => 2 }],
         "tags" => [{ "id" => 8 }, { "id" => 7 }], "first" => nil },
       { "name" => nil, "children" => [{ "number" => 1 }], "tags" => [], "first" => nil }]
    )
  end

  it "refuses a tree that is none, and names a missing column" do
    parents = [rows("select 1 as id")]
    expect { described_class.nested_json([1]) }.to raise_error(TypeError)
    expect { described_class.nested_json([parents, ["x"], nil, []]) }
      .to raise_error(AsyncRecord::QueryError, /no column "x"/)
    branch = ["c", true, "nope", "id", nil, false, [parents, nil, nil, []]]
    expect { described_class.nested_json([parents, nil, nil, [branch]]) }
      .to raise_error(AsyncRecord::QueryError, /no column "nope"/)
  end
end
