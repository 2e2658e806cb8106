# frozen_string_literal: true

require "async_record/migration"

RSpec.describe "SQL files of migrations" do
  let(:sources) { AsyncRecord::Migration.const_get(:Sources, false) }

  def statements(text, kind = :postgresql)
    sources.statements(text, AsyncRecord::Dialect.for(kind))
  end

  {
    "strings" => ["select 'a;b''c'; select \"x;y\"", ["select 'a;b''c'", "select \"x;y\""]],
    "comments" => ["-- first; one\nselect 1; /* a; b */ select 2 -- last; one",
                   ["select 1", "/* a; b */ select 2 -- last; one"]],
    "dollar quotes" => ["do $$ begin; end $$; do $a$ ;$$; $a$", ["do $$ begin; end $$", "do $a$ ;$$; $a$"]],
    "escape strings" => ["select E'a\\';b'; select 2", ["select E'a\\';b'", "select 2"]],
    "nothing" => [";; ;\n;", []],
    "triggers" => ["create trigger t after insert on a begin select case when 1 then 2 end; select 3; end; select 4",
                   ["create trigger t after insert on a begin select case when 1 then 2 end; select 3; end",
                    "select 4"]],
    "the words of bodies elsewhere" => ["select begin_at from a; select 2", ["select begin_at from a", "select 2"]]
  }.each do |what, (text, expected)|
    it "are cut around #{what}" do
      expect(statements(text)).to eq(expected)
    end
  end

  it "know MySQL's strings and the ends of its loops" do
    expect(statements("select 'a\\';b'; select 2", :mysql)).to eq(["select 'a\\';b'", "select 2"])
    body = "create procedure p() begin if 1 then select 1; end if; while 0 do begin end; end while; " \
           "case 1 when 1 then select 2; end case; end"
    expect(statements("#{body}; select 3", :mysql)).to eq([body, "select 3"])
    expect(statements("/*!50001 create view v as select 1 */;",
                      :mysql)).to eq(["/*!50001 create view v as select 1 */"])
  end

  it "refuse what only the mysql client understands" do
    expect do
      statements("select 1;\nDELIMITER //\n", :mysql)
    end.to raise_error(AsyncRecord::MigrationError, /leave it out/)
  end

  it "are a way up and a way down" do
    expect(sources.halves("-- up\na;\n-- down\nb;")).to eq(["\na;\n", "\nb;"])
    expect(sources.halves("-- migrate:up\na\n-- migrate:down\nb")).to eq(%W[\na\n \nb])
    expect(sources.halves("-- downhill is no marker\na")).to eq(["-- downhill is no marker\na", nil])
  end

  it "say when they want no transaction" do
    expect(["-- no transaction\na", "-- no_transaction!\na", "-- migrate:up transaction:false\na",
            "a -- no transaction"]
      .map do |text|
             sources.transaction?(text)
           end).to eq([false, false, false, true])
  end
end
