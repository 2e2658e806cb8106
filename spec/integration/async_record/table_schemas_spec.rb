# frozen_string_literal: true

# Tables that stand in a schema of their own; on MySQL that is another database, on SQLite an attached one.
RSpec.describe AsyncRecord, "with tables in schemas" do
  each_database do
    let(:schema) { kind == :sqlite ? "main" : "sales_#{database.url[/\d+\z/]}" }

    before do
      database.execute("create schema #{schema}") unless kind == :sqlite
      create("#{schema}.shops", "name #{column(:string)}")
      create("#{schema}.orders", "shop_id #{column(:integer)}, total #{column(:decimal)}, " \
                                 "code #{column(:string)} unique")
      shops = "#{schema}.shops"
      orders = "#{schema}.orders"
      model("Shop", database) do
        self.table_name = shops
        has_many :orders
      end
      model("Order", database) do
        self.table_name = orders
        belongs_to :shop
        belongs_to :other, class_name: "Shop", foreign_key: :shop_id, optional: true
      end
    end

    after { database.execute("drop schema #{schema}") if kind == :mysql }

    def create(table, columns)
      database.execute("create table #{table} (id #{column(:id)}, #{columns})")
    end

    it "writes, reads, joins, preloads and locks" do
      shop = Shop.create!(name: "here")
      shop.orders.create!(total: 2, code: "a")
      Order.insert_all!([{ shop_id: shop.id, total: 3, code: "b" }])
      expect(Order.column_names).to eq(%w[id shop_id total code])
      expect(Order.order(:id).pluck(:total)).to eq([2, 3])
      expect(Shop.joins(:orders).where(orders: { code: "b" }).first).to eq(shop)
      expect(Order.joins(:shop, :other).where(shop: { name: "here" }).order("orders.id").pluck(:code)).to eq(%w[a b])
      expect(Shop.preload(:orders).first.orders.map(&:code)).to eq(%w[a b])
      expect(Order.where(shop: shop).where.associated(:shop).lock.to_a.sum(&:total)).to eq(5)
      expect(JSON.parse(Order.order(:id).limit(1).to_json).first).to include("code" => "a")
    end

    it "changes and removes" do
      Shop.create!(name: "here").update!(name: "there")
      Shop.where(name: "there").limit(1).update_all(name: "gone")
      [1, 4].each { |total| Order.upsert_all([{ total: total, code: "a" }], unique_by: :code) }
      expect([Shop.pluck(:name), Order.pluck(:total)]).to eq([["gone"], [4]])
      Shop.delete_all
      Order.first.destroy
      expect([Shop.count, Order.count]).to eq([0, 0])
    end

    it "refuses names of three parts" do
      model("Odd", database) { self.table_name = "a.b.c" }
      expect { Odd.count }.to raise_error(AsyncRecord::InvalidIdentifier, /schema\.table/)
    end
  end
end
