# frozen_string_literal: true

# Reading: lazily, in batches, preloaded, strictly.
RSpec.describe AsyncRecord::Base, "with associations" do
  each_database do
    before do
      blog
      written
    end

    def posts
      Post.order(:id)
    end

    describe "read lazily" do
      it "leads to a record, to records, through others, and back" do
        first, second, third = posts.to_a
        expect([first.user.name, second.parent, third.user]).to eq(["ann", first, nil])
        expect(first.comments.map(&:body)).to eq(%w[a b])
        expect(first.children.to_a).to eq([second])
        expect(first.live_comments.map(&:body)).to eq(["b"])
        expect([first.tags.map(&:name), first.sorted_tags.map(&:name)]).to eq([%w[sql ruby], %w[ruby sql]])
        expect([first.team.name, third.team]).to eq(["red", nil])
        expect(Team.first.comments.map(&:body)).to contain_exactly("a", "b", "c")
        expect(first.authors.map(&:name)).to eq(%w[bob ann])
      end

      it "takes the first of an order for a has_one" do
        ann = User.find_by(name: "ann")
        ann.posts.create!(title: "later")
        expect([ann.reload.latest_post.title, User.find_by(name: "cid").latest_post]).to eq(["later", nil])
      end

      it "asks once for one record" do
        post = Post.find(1)
        expect(queries { 2.times { [post.user, post.comments.to_a, post.tags.to_a, post.team] } }.size).to eq(4)
      end

      it "asks nothing where there is no key" do
        third = Post.find(3)
        expect(queries { third.user }).to be_empty
        expect(queries { Post.new.comments.to_a }).to be_empty
      end

      it "loads once for all records that were loaded together" do
        seen = posts.to_a
        read = tables_read do
          seen.each { |post| [post.user, *post.comments.map(&:author), *post.sorted_tags, post.team].size }
        end
        expect(read).to eq(%w[users comments users taggings tags users teams])
      end

      it "goes on loading together below" do
        teams = Team.all.to_a + [Team.create!(name: "blue")]
        read = tables_read do
          teams.each { |team| team.users.each { |user| user.posts.each { |post| post.comments.to_a } } }
        end
        expect(read).to eq(%w[users posts comments users]) # the new team was not loaded with the other
      end

      it "gives each record what it has, whoever asks first" do
        alone = Post.all.map { |post| Post.find(post.id).comments.to_a }
        expect(posts.to_a.reverse.map { |post| post.comments.to_a }).to eq(alone.reverse)
        expect(alone.map(&:size)).to eq([2, 1, 0])
      end

      it "knows the way back without asking" do
        post = Post.find(1)
        expect(tables_read { post.comments.each { |comment| expect(comment.post).to be(post) } }).to eq(["comments"])
        user = User.create!(name: "dan")
        user.create_profile(bio: "x")
        expect(queries { expect(user.profile.user).to be(user) }).to be_empty
        profile = Profile.find(user.profile.id)
        expect(tables_read { expect(profile.user.profile).to be(profile) }).to eq(["users"])
      end

      it "loads anew when the foreign key changed" do
        post = Post.find(1)
        expect(post.user.name).to eq("ann")
        post.user_id = 2
        expect(post.user.name).to eq("bob")
      end

      it "loads anew when told" do
        post = Post.find(1)
        post.user
        post.comments.to_a
        User.where(id: 1).update_all(name: "eve")
        Comment.delete_all
        expect([post.user.name, post.comments.size]).to eq(["ann", 2])
        expect([post.reload_user.name, post.comments.reload.to_a]).to eq(["eve", []])
        expect(post.reload.comments.to_a).to eq([])
      end

      it "asks for itself again, not from the batch" do
        first, second = posts.to_a
        first.comments.to_a
        expect(tables_read { second.comments.reload }).to eq(["comments"])
      end

      it "is never older than the program's own last write to the table" do
        first, second = posts.to_a
        first.comments.to_a
        Comment.create!(post_id: second.id, body: "new")
        expect(second.comments.map(&:body)).to eq(%w[c new])
      end

      it "does not take from the batch what another transaction saw" do
        first, second = posts.to_a
        AsyncRecord.transaction(database: Post.database) do
          Comment.where(post_id: 2).update_all(body: "within")
          first.comments.to_a
          raise AsyncRecord::Rollback
        end
        expect(second.comments.map(&:body)).to eq(["c"])
      end

      it "can be told to load for one record only" do
        Post.automatic_preload = false
        expect(tables_read { posts.to_a.each(&:user) }).to eq(%w[posts users users])
      end

      it "reads a scope with a limit, or one that takes its owner, record by record" do
        Post.has_many :last_comments, -> { order(id: :desc).limit(1) }, class_name: "Comment"
        Post.has_many :namesakes, ->(post) { where(body: post.title) }, class_name: "Comment"
        Comment.create!(post_id: 2, body: "second")
        expect(posts.map { |post| post.last_comments.map(&:body) }).to eq([["b"], ["second"], []])
        expect(posts.map { |post| post.namesakes.map(&:body) }).to eq([[], ["second"], []])
        expect { posts.preload(:last_comments).to_a }.to raise_error(AsyncRecord::AssociationError, /has a limit/)
        expect { posts.preload(:namesakes).to_a }.to raise_error(AsyncRecord::AssociationError, /takes its owner/)
      end

      it "keeps a record that came twice apart" do
        double = Post.find_by_sql("select * from posts where id = 1 union all select * from posts where id = 1")
        expect(double.map { |post| post.comments.map(&:body) }).to eq([%w[a b], %w[a b]])
      end

      it "says which column is missing" do
        expect { Post.select(:id, :title).first.user }
          .to raise_error(AsyncRecord::MissingAttribute, /Post#user needs "user_id"/)
      end

      it "tells a logger once for each batch" do
        lines = StringIO.new
        AsyncRecord.log = Logger.new(lines, level: Logger::DEBUG)
        posts.to_a.each(&:user)
        expect(lines.string.scan("Post#user was loaded for 3 records at once").size).to eq(1)
        expect(lines.string).to match(/associations_spec\.rb:\d+.*preload\(:user\)/)
      ensure
        AsyncRecord.log = nil
      end
    end

    describe "read by callback and by promise" do
      it "gives the record, the list and the error later" do
        post = Post.find(1)
        expect(called_back { |done| post.user { |user| done.call(user.name) } }).to eq("ann")
        expect(called_back { |done| post.comments { |list| done.call(list.map(&:body)) } }).to eq(%w[a b])
        expect(called_back { |done| post.comments.to_a { |list| done.call(list.size) } }).to eq(2)
        _, error = called_back { |done| Post.find(2).strict!.user { |user, e| done.call(user, e) } }
        expect(error).to be_a(AsyncRecord::StrictLoadingError)
      end

      it "gives promises" do
        post = Post.find(1)
        user = post.async.user
        comments = post.async.comments
        expect([user.await.name, comments.await.size]).to eq(["ann", 2])
        expect { post.async.nothing }.to raise_error(NoMethodError)
      end

      it "runs one query for fibers that ask at the same time" do
        post = Post.find(1)
        work = [-> { post.user }, -> { post.comments.to_a }] * 5
        read = tables_read { in_fiber { AsyncRecord.gather(*work) } }
        expect(read).to contain_exactly("users", "comments")
      end

      it "runs one query for fibers that ask several records of one batch" do
        list = posts.to_a
        read = tables_read { in_fiber { AsyncRecord.gather(*list.map { |post| -> { post.comments.to_a } }) } }
        expect(read).to eq(["comments"])
      end

      it "runs one query for threads that ask at the same time" do
        post = Post.find(1)
        read = tables_read { Array.new(4) { Thread.new { post.user } }.each(&:join) }
        expect(read.size).to eq(1)
      end

      it "is one thing for threads that ask for it at the same time" do
        start = Thread::Queue.new
        asked = Array.new(50) do
          post = Post.find(1)
          threads = Array.new(4) { Thread.new { start.pop && post.association(:user) } }
          threads.each { start << true }
          threads.map(&:value).uniq(&:object_id).size
        end
        expect(asked).to all(eq(1))
      end

      it "lets the next one try when the first one's query failed" do
        post = Post.find(1)
        calls = 0
        allow(AsyncRecord::Database).to receive(:new).and_call_original
        original = post.association(:user).method(:alone)
        post.association(:user).define_singleton_method(:alone) do
          calls += 1
          calls == 1 ? raise(AsyncRecord::QueryError, "broken") : original.call
        end
        results = in_fiber { AsyncRecord.gather(-> { post.user }, -> { post.user }, settle: true) }
        expect(results.map(&:class)).to contain_exactly(AsyncRecord::QueryError, User)
      end
    end

    describe "preloaded" do
      it "asks once for each association and level" do
        read = tables_read { posts.preload(:user, :sorted_tags, comments: { author: :team }).to_a }
        expect(read.first).to eq("posts")
        expect(read.drop(1)).to contain_exactly("users", "taggings", "tags", "comments", "users", "teams")
      end

      it "then asks nothing" do
        list = posts.preload(:user, :tags, :team, :children, comments: :author).to_a
        seen = queries do
          list.each { |post| [post.user, post.team, *post.tags, *post.children, *post.comments.map(&:author)].size }
        end
        expect(seen).to be_empty
      end

      it "is the same by every name, and adds up" do
        %i[preload includes eager_load].each do |name|
          expect(tables_read { Post.public_send(name, :user).to_a }).to eq(%w[posts users])
        end
        relation = Post.preload(:user).preload(user: :team, comments: [])
        expect(tables_read { relation.to_a }).to contain_exactly("posts", "users", "teams", "comments")
        expect(tables_read { Post.where(id: 1).merge(Post.preload(:user)).to_a }).to eq(%w[posts users])
      end

      it "asks nothing for records that are none, or keys that are none" do
        expect(tables_read { Post.where(id: 99).preload(:user, :comments).to_a }).to eq(["posts"])
        expect(tables_read { Post.where(id: 3).preload(:user).to_a }).to eq(["posts"])
      end

      it "works with find, first, and in batches" do
        expect(tables_read { Post.preload(:user).find(1).user }).to eq(%w[posts users])
        expect(tables_read { Post.preload(:user).first.user }).to eq(%w[posts users])
        walk = tables_read { Post.preload(:user).find_each(batch: 2) { |post| post.user&.name } }
        expect(walk).to eq(%w[posts users posts])
      end

      it "works by callback and by promise" do
        list = called_back { |done| posts.preload(:user).to_a { |loaded| done.call(loaded) } }
        names = list.map { |post| post.user&.name }
        expect(names).to eq(["ann", "bob", nil])
        list = posts.preload(:user).async.to_a.await
        expect(queries { list.map(&:user) }).to be_empty
        list = called_back { |done| AsyncRecord.preload(posts.to_a, :comments) { |loaded| done.call(loaded) } }
        expect(queries { list.map { |post| post.comments.size } }).to be_empty
      end

      it "works for records that are there, and asks only for what they lack" do
        list = posts.to_a
        expect(tables_read { AsyncRecord.preload(list, :user, comments: :author) })
          .to contain_exactly("users", "comments", "users")
        expect(queries { AsyncRecord.preload(list, :user, comments: :author) }).to be_empty
        expect(tables_read { AsyncRecord.preload(list, comments: { author: :team }) }).to eq(["teams"])
        expect(AsyncRecord.preload(list.first, :user).first).to be(list.first)
      end

      it "takes records of several models" do
        mixed = [Post.find(1), Profile.find(Profile.create!(user_id: 2).id)]
        expect(tables_read { AsyncRecord.preload(mixed, :user) }).to eq(%w[users users])
        expect(mixed.map { |one| one.user.name }).to eq(%w[ann bob])
      end

      it "gives one object to all that lead to it" do
        Post.update_all(user_id: 1)
        users = posts.preload(:user).map(&:user)
        expect(users).to all(be(users.first))
      end

      it "orders as the association says" do
        Tag.create!(name: "ada")
        Tagging.create!(post_id: 1, tag_id: 3)
        expect(Post.preload(:sorted_tags).find(1).sorted_tags.map(&:name)).to eq(%w[ada ruby sql])
      end

      it "splits a long list of keys" do
        User.insert_all(Array.new(1200) { |index| { id: 1000 + index, name: "u#{index}" } })
        Post.insert_all(Array.new(1200) { |index| { title: "t", user_id: 1000 + index } })
        list = nil
        expect(tables_read { list = Post.where(title: "t").preload(:user).to_a }).to eq(%w[posts users users])
        expect(list.map { |post| post.user.name }.uniq.size).to eq(1200)
      end

      it "does not shift what was built" do
        post = Post.find(1)
        post.comments.build(body: "new")
        AsyncRecord.preload(post, :comments)
        expect(post.comments.map(&:body)).to eq(%w[a b new])
      end

      it "runs one after the other in a transaction, and there sees what it wrote" do
        AsyncRecord.transaction(database: Post.database) do
          Comment.create!(post_id: 3, body: "inside")
          expect(posts.preload(:user, :comments).last.comments.map(&:body)).to eq(["inside"])
        end
      end

      it "uses the transaction that the relation was given" do
        transaction = AsyncRecord.begin(database: Post.database)
        Comment.using(transaction).where(id: 1).update_all(body: "inside")
        found = Post.using(transaction).preload(:comments).find(1)
        transaction.rollback
        expect(found.comments.map(&:body)).to contain_exactly("inside", "b")
        expect(Comment.find(1).body).to eq("a")
      end
    end

    describe "siblings" do
      it "are loaded at the same time, each on a connection of its own" do
        database = blog(fresh_database(size: 4))
        written
        running = 0
        most = 0
        allow(database).to receive(:complete).and_wrap_original do |original, *args, &block|
          running += 1
          most = [most, running].max
          original.call(*args, &block)
        ensure
          running -= 1
        end
        in_fiber { Post.preload(:user, :comments, :children).to_a }
        expect(most).to eq(3)
        most = 0
        in_fiber { AsyncRecord.transaction(database: database) { Post.preload(:user, :comments, :children).to_a } }
        expect(most).to eq(1)
      end
    end

    describe "strict" do
      it "refuses to load what was not preloaded, and says what to write" do
        post = Post.strict.preload(:user).first
        expect(post.user.name).to eq("ann")
        expect { post.comments.to_a }
          .to raise_error(AsyncRecord::StrictLoadingError, /Post#comments was not.*Post\.preload\(:comments\)/)
        expect { post.tags.each(&:name) }.to raise_error(AsyncRecord::StrictLoadingError)
      end

      it "goes down with what is preloaded" do
        author = Post.strict.preload(comments: :author).first.comments.first.author
        expect { author.team }.to raise_error(AsyncRecord::StrictLoadingError, /User#team/)
      end

      it "can be said of one record, of a class, and by the name that ActiveRecord has" do
        expect { Post.find(1).strict!.user }.to raise_error(AsyncRecord::StrictLoadingError)
        expect { Post.strict_loading.first.user }.to raise_error(AsyncRecord::StrictLoadingError)
        Post.strict_loading_by_default = true
        expect { Post.find(1).user }.to raise_error(AsyncRecord::StrictLoadingError)
        expect(Post.preload(:user).find(1).user.name).to eq("ann")
      end

      it "still asks when asked explicitly, and takes new children" do
        post = Post.find(1).strict!
        expect([post.comments.count, post.comments.where(state: 1).to_a.size]).to eq([2, 1])
        expect(post.comments.create!(body: "x").post).to be(post)
        expect(post.update(user_id: 2)).to be(true)
      end
    end

    describe "a copy" do
      it "has no associates of its own" do
        post = Post.find(1)
        post.comments.build(body: "new")
        copy = post.dup
        expect([copy.user, copy.comments.to_a, copy.save, Comment.count]).to eq([User.find(1), [], true, 3])
      end

      it "that was frozen can still be asked" do
        post = posts.to_a.first.freeze
        expect([post.user.name, post.comments.size]).to eq(["ann", 2])
      end

      it "goes through Marshal without what was loaded" do
        post = posts.preload(:user).first
        copy = Marshal.load(Marshal.dump(post))
        expect(tables_read { expect(copy.user).to eq(post.user) }).to eq(["users"])
      end
    end

    describe "a batch" do
      it "outlives the rows that it came from" do
        list = posts.to_a
        list.each { |post| post.update!(title: "changed") }
        expect(tables_read { list.each(&:user) }).to eq(["users"])
      end

      it "keeps no other record alive" do
        Post.insert_all(Array.new(2000) { |index| { title: "many #{index}", user_id: 1 } })
        kept = in_fiber do
          list = Post.where(user_id: 1).order(:id).to_a
          list.each(&:title)
          list.last
        end
        GC.start
        alive = ObjectSpace.each_object(Post).count
        expect(alive).to be < 1000
        expect(kept.user.name).to eq("ann")
      end

      it "covers at most 1000 records" do
        Post.insert_all(Array.new(1500) { |index| { title: "t", user_id: (index % 3) + 1 } })
        list = Post.where(title: "t").to_a
        expect(tables_read { list.each(&:user) }).to eq(%w[users users])
      end
    end
  end
end
