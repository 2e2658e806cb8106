# frozen_string_literal: true

# Owns the cases: for each public method how hostile text gets into it. A method without a case fails
# spec/unit/async_record/injection_coverage_spec.rb; say `harmless` with a reason where no text gets into SQL.

Support::Injection.on(:relation) do
  value(:where) do |users, text|
    inner = users.where(name: text).select(:name)
    conditions = [{ name: text }, { name: [text, nil] }, { name: text..text }, { users: { name: text } },
                  { name: inner }, { %i[name id] => [[text, 1]] }, AsyncRecord.sql("name = ?", text)]
    conditions.flat_map { |condition| users.where(condition).to_a } + users.where("name = ?", text).to_a +
      users.where("name = :n or name in (:l)", n: text, l: [text, text]).to_a
  end
  value(:not) { |users, text| users.not(name: text).pluck(:name) - %w[ann bob] }
  name(:where, :not, :rewhere) { |users, text, method| users.public_send(method, { text => 1 }).to_a }
  name(:where) { |users, text| users.where(users: { text => 1 }).to_a }
  name(:where) { |users, text| users.where(text => { id: 1 }).to_a }
  name(:where) { |users, text| users.where([text, :id] => [[1, 2]]).to_a }
  fragment(:where, :not, :having) { |users, text, method| users.group(:id).public_send(method, text).count }
  value(:rewhere) { |users, text| users.where(name: "ann").rewhere(name: text).to_a }
  value(:having) { |users, text| users.group(:name).having("name = ?", text).count }
  value(:merge) { |users, text| users.all.merge(users.where(name: text)).to_a + users.all.merge(name: text).to_a }
  value(:and) { |users, text| users.where(name: "ann").and(users.where(name: text)).to_a }
  value(:or) { |users, text| users.where(name: text).or(users.where(name: text)).to_a }
  value(:find_by, :exists?, :delete_by, :destroy_by, :find_or_initialize_by) do |users, text, method|
    found = users.public_send(method, { name: text })
    method == :find_or_initialize_by ? kept(found.name, text) : found
  end
  value(:find_by!, :find_sole_by) do |users, text, method|
    users.public_send(method, { name: text })
  rescue AsyncRecord::RecordNotFound
    []
  end
  name(:find_by, :find_by!, :find_sole_by, :exists?, :delete_by, :destroy_by, :find_or_create_by, :find_or_create_by!,
       :create_or_find_by, :create_or_find_by!, :find_or_initialize_by) do |users, text, method|
    users.public_send(method, { text => 1 })
  end
  fragment(:find_by, :find_by!, :find_sole_by, :exists?) { |users, text, method| users.public_send(method, text) }
  value(:find) do |users, text|
    [users.where(name: "nobody").find(text)]
  rescue AsyncRecord::RecordNotFound
    []
  end
  value(:find) do |users, text|
    users.find([text, text])
  rescue AsyncRecord::RecordNotFound
    []
  end
  value(:excluding, :without_records) do |users, text, method|
    users.all.public_send(method, text).pluck(:name) - %w[ann bob]
  end
  value(:find_or_create_by, :find_or_create_by!, :create_or_find_by, :create_or_find_by!) do |users, text, method|
    kept(users.public_send(method, { name: text }).reload.name, text)
  end
  value(:create, :create!) do |users, text, method|
    users.public_send(method, [{ name: text }]).flat_map { |user| kept(user.reload.name, text) }
  end
  name(:create, :create!, :new, :build) { |users, text, method| users.all.public_send(method, { text => 1 }) }
  value(:new, :build) { |users, text, method| kept(users.where(name: text).public_send(method).name, text) }
  name(:order, :reorder, :select, :reselect, :group, :regroup, :distinct_on) do |users, text, method|
    users.public_send(method, text).to_a
  end
  name(:order, :reorder) { |users, text, method| users.public_send(method, { text => :desc }).to_a }
  name(:order, :reorder) { |users, text, method| users.public_send(method, name: text).to_a }
  name(:order) { |users, text| users.order(name: { desc: true, nulls: text }).to_a }
  name(:select) { |users, text| users.select(text => :x).to_a }
  quoted(:select, :reselect) { |users, text, method| users.public_send(method, name: text).to_a }
  quoted(:unscope, :except) { |users, text, method| users.all.public_send(method, text) }
  quoted(:unscope) { |users, text| users.unscope(where: text).to_a }
  name(:limit, :offset) { |users, text, method| users.public_send(method, text).to_a }
  name(:joins, :lock, :from) { |users, text, method| users.public_send(method, text).to_a }
  name(:pluck, :pick, :sum, :average, :minimum, :maximum, :count) do |users, text, method|
    users.public_send(method, text)
  end
  name(:take, :first, :last) { |users, text, method| users.public_send(method, text) }
  name(:update_all) { |users, text| users.update_all(text) }
  name(:update_all) { |users, text| users.update_all(text => 1) }
  value(:update_all) do |users, text|
    users.update_all(name: text)
    users.pluck(:name).uniq.flat_map { |name| kept(name, text) }
  end
  name(:update_counters, :increment) { |users, text, method| users.public_send(method, { text => 1 }) }
  name(:update_counters, :increment) { |users, text, method| users.public_send(method, { age: text }) }
  name(:touch_all) { |users, text| users.touch_all(text) }
  value(:insert_all, :insert_all!, :upsert_all, :upsert) do |users, text, method|
    row = { id: 5, name: text, updated_at: nil }
    users.all.public_send(method, method == :upsert ? row : [row])
    users.where(id: 5).pluck(:name).flat_map { |name| kept(name, text) }
  end
  name(:insert_all, :insert_all!, :upsert_all) { |users, text, method| users.public_send(method, [{ text => 1 }]) }
  name(:insert_all, :insert_all!, :upsert_all) do |users, text, method|
    users.public_send(method, [{ id: 6 }], returning: text)
  end
  name(:insert_all, :upsert_all) { |users, text, method| users.public_send(method, [{ id: 6 }], unique_by: text) }
  name(:upsert_all) { |users, text| users.upsert_all([{ id: 6 }], update_only: text) }
  name(:upsert) { |users, text| users.upsert({ text => 1 }) }
  value(:find_each, :find_in_batches, :in_batches) do |users, text, method|
    users.where(name: "nobody").public_send(method, start: text, finish: text).to_a
  end
  name(:find_each, :find_in_batches) { |users, text, method| users.public_send(method, cursor: text).to_a }
  name(:find_each, :find_in_batches, :in_batches) { |users, text, method| users.public_send(method, order: text).to_a }
  name(:all) { |users, text| users.all(order: text).to_a }
  name(:all) { |users, text| users.all(limit: text).to_a }
  name(:preload, :includes, :eager_load, :left_joins, :left_outer_joins, :associated, :missing) do |users, text, method|
    users.all.public_send(method, text).to_a
  end
  name(:preload, :joins, :left_joins) { |users, text, method| users.all.public_send(method, { text => :posts }).to_a }
  name(:to_json_bytes) { |users, text| users.all.to_json_bytes(only: text) }
  name(:to_json_bytes) { |users, text| users.all.to_json_bytes(include: text) }
  name(:to_json) { |users, text| users.all.to_json(only: text) }
  value(:to_json_bytes) { |users, text| JSON.parse(users.where(name: text).to_json_bytes(only: :name)) }
  harmless("are not for programs", :with_keys, :with_values_of, :rows_of_columns, :where_owner, :for_owner, :joined_by)
  harmless("take a flag", :strict, :strict_loading)
  value(:stream) { |users, text| users.where(name: text).stream.to_a }
  value(:stream_json) do |users, text|
    users.where(name: text).stream_json(out = +"")
    out == "[]" ? [] : out
  end
  harmless("take a flag, an object or a pattern of Ruby's", :distinct, :using, :timeout, :none?, :one?, :any?, :as_json)
end

Support::Injection.on(:model) do
  value(:query) { |users, text| users.query("select * from users where name = ? or name = :n", text, n: text) }
  value(:find_by_sql) { |users, text| users.find_by_sql(["select * from users where name = :n", { n: text }]) }
  name(:order) { |users, text| users.order(text.to_sym).to_a }
  name(:order) { |users, text| users.order(text).to_a }
  name(:order) { |users, text| users.order({ text => :desc }).to_a }
  value(:update_counters) { |users, text| users.update_counters(text, age: 1) }
  name(:update_counters) { |users, text| users.update_counters(5, text.to_sym => 1) }
  quoted(:table_name=, :set_table_name) do |users, text, method|
    other = Class.new(AsyncRecord::Base) { set_connection(users.database) }
    other.public_send(method, text)
    other.where(id: 1).to_a
  end
  quoted(:primary_key=, :set_primary_key) do |users, text, method|
    other = Class.new(users)
    other.public_send(method, text)
    other.find(1)
  end
  quoted(:locking_column=) do |users, text|
    other = Class.new(users)
    other.locking_column = text
    other.first.touch
  end
  quoted(:scope, :enum, :store_accessor) do |users, text, method|
    other = Class.new(users)
    case method
    when :scope then other.scope(text.to_sym, -> { all })
    when :enum then other.enum(:age, { text => 1 })
    else other.store_accessor(:settings, text)
    end
  end
  value(:enum) do |users, text|
    other = Class.new(users) { enum :name, { odd: text } }
    other.odd.to_a
  end
  quoted(:alias_attribute) do |users, text|
    other = Class.new(users) { alias_attribute text, :name }
    other.where(text => "nobody").order(text).to_a
  end
  quoted(:attribute, :normalizes, :attr_readonly) do |users, text, method|
    other = Class.new(users)
    case method
    when :attribute then other.attribute(text, :string)
    when :normalizes then other.normalizes(text, with: :to_s.to_proc)
    else other.attr_readonly(text)
    end
    other.where(id: 1).to_a
  end
  value(:attribute) do |users, text|
    other = Class.new(users) { attribute :name, :string, default: text }
    kept(other.create!.reload.name, text)
  end
  quoted(:attribute) { |users, text| Class.new(users) { attribute :age, text }.where(age: text).to_a }
  value(:validates, :validates!) do |users, text, method|
    other = Class.new(users) { public_send(method, :name, uniqueness: { scope: :age, case_sensitive: false }) }
    other.new(name: text, age: 1).valid? ? [] : text
  end
  name(:validates) do |users, text|
    Class.new(users) do
      validates :name, uniqueness: { scope: text }
    end.new(name: "x").valid?
  end
  quoted(:belongs_to, :has_many, :has_one) do |users, text, method|
    other = Class.new(users)
    other.public_send(method, :thing, class_name: "User", foreign_key: text)
    other.all.joins(:thing).to_a
  end
  name(:reflection) { |users, text| users.reflection(text) }
  harmless("declare associations, or refuse to", :has_and_belongs_to_many, :automatic_preload=,
           :strict_loading_by_default=)
  harmless("ask about names in memory", :reflect_on_association, :association?)
  harmless("declare methods and blocks of the program", :validate, :validates_with, :validates_each,
           *AsyncRecord::Base.public_methods.grep(/\A(?:before|around|after)_/))
  harmless("take a database or a flag", :transaction, :set_connection, :connects_to, :abstract_class=,
           :record_timestamps=,
           :lock_optimistically=, :filter_attributes=)
  harmless("ask about names in memory", :attribute?)
  harmless("are not for programs", :define_attributes, :kind_of_attribute, :timestamp_columns, :declared_kind, :typed,
           :declared_virtual, :retypes?, :instantiate_all, :instantiate_first, :known_table_mapping, :complete_row,
           :hooks, :hooked?, :writes_only?, :creates_at_once?, :filtered_attribute?,
           :single_key, :key_condition, :keys_condition, :cast_key)
end

Support::Injection.on(:record) do
  name(:[]) { |user, text| user[text] }
  name(:[]=) { |user, text| user[text] = 1 }
  name(:read_attribute, :read_attribute_before_type_cast, :attribute_will_change!) do |user, text, method|
    user.public_send(method, text)
  end
  name(:write_attribute, :update_attribute, :update_column) { |user, text, method| user.public_send(method, text, 1) }
  name(:assign_attributes, :attributes=, :update, :update!, :update_columns) do |user, text, method|
    user.public_send(method, { text => 1 })
  end
  value(:[]=, :write_attribute, :update_attribute, :update_column) do |user, text, method|
    user.public_send(method, "name", text)
    user.save!
    kept(user.reload.name, text)
  end
  value(:assign_attributes, :attributes=, :update, :update!, :update_columns) do |user, text, method|
    user.public_send(method, { name: text })
    user.save!
    kept(user.reload.name, text)
  end
  value(:id=) do |user, text|
    user.id = text
    user.update!(name: "moved")
    []
  rescue AsyncRecord::ConstraintViolation
    []
  end
  name(:touch, :increment!, :decrement!, :toggle!, :increment, :decrement, :toggle) do |user, text, method|
    user.public_send(method, text)
  end
  name(:increment, :decrement, :increment!, :decrement!) do |user, text, method|
    user.public_send(method, :age, text).save!
  end
  name(:association) { |user, text| user.association(text) }
  harmless("make text of values", :to_json_bytes)
  harmless("are not for programs", :forget_parent, :counter_moved, :shaped)
  name(:lock!) { |user, text| user.lock!(text) }
  name(:with_lock) { |user, text| user.with_lock(text) { nil } }
  harmless("ask about names in memory", :attribute_changed?, :attribute_was, :attribute_before_last_save,
           :has_attribute?,
           :saved_change_to_attribute?, :restore_attributes, :truthy_attribute?, :deconstruct_keys)
  harmless("take contexts, flags and transactions", :save, :save!, :destroy, :destroy!, :delete, :reload, :valid?,
           :invalid?,
           :validate, :validate!)
  harmless("make text of values", :as_json, :to_json)
  harmless("compare rows in memory", :==, :eql?)
  harmless("restore what was a record", :init_with, :encode_with, :marshal_load)
  harmless("are not for programs", :load_from, :store_directly)
end

Support::Injection.on(:database) do
  value(:query) { |database, text| database.query("select * from users where name = ? or name = :n", text, n: text) }
  value(:execute) { |database, text| database.execute("delete from users where name = ?", text) }
  value(:stream) do |database, text|
    database.stream("select * from users where name = :n", n: text) { |row| raise "found #{row}" }
  end
  harmless("takes a block and options, as AsyncRecord.transaction", :transaction)
  harmless("are not for programs", :writes_to, :each_batch, :script, :twin, :pin=, :transaction_in, :await, :ask, :rows,
           :refuse, :wrote, :complete, :complete_surely, :complete_or_abandon, :waiter,
           :check_unique_index)
end

Support::Injection.on(:module) do
  value(:sql) { |_, text| User.where(AsyncRecord.sql("name = :n or name = ?", text, n: text)).to_a }
  value(:sanitize_like) { |_, text| User.where("name like ? escape '!'", "#{AsyncRecord.sanitize_like(text)}zz").to_a }
  quoted(:tag) { |_, text| AsyncRecord.tag(controller: text, "#{text}": 1) { User.count } }
  quoted(:tag) { |_, text| AsyncRecord.tag(controller: text, action: text) { User.count } }
  quoted(:advisory_lock) { |_, text| AsyncRecord.advisory_lock(text, wait: 0, database: User.database) { User.count } }
  quoted(:notify) { |_, text| AsyncRecord.notify(text, text, database: User.database) }
  harmless("names a channel, which is quoted as in notify", :listen)
  harmless("name databases and folders", :connect, :database, :pool, :check_pending!, :replace)
  name(:preload) { |_, text| AsyncRecord.preload(User.limit(1).to_a, text) }
  harmless("take seconds and a logger", :timeout, :slow=)
  harmless("take blocks, promises and flags", :on_connect=, :filter_binds=, :log=, :gather, :subscribe, :unsubscribe,
           :legacy_table_names=,
           :filter_attributes=)
  name(:transaction, :begin) do |_, text, method|
    AsyncRecord.public_send(method, database: text, &:rollback)
    raise ArgumentError, "calls back" if method == :begin
  end
end
