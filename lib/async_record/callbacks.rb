# frozen_string_literal: true

# Owns what a model does around the storing of its records. `throw :abort` in a before-callback stops the storing.
# Refuses around-callbacks: a method that calls `super` says the same more plainly.

module AsyncRecord
  # Hooks around save, create, update, destroy and commit.
  module Callbacks
    EVENTS = %i[validation save create update destroy].freeze
    private_constant :EVENTS

    # One declared hook.
    Hook = Struct.new(:action, :condition, :unless, :on, keyword_init: true) do
      def run(record)
        ask(record, action) if applies?(record)
      end

      def applies?(record)
        (condition.nil? || ask(record, condition)) && (self.unless.nil? || !ask(record, self.unless))
      end

      # @param question [Symbol, Proc] a method, which may be private, or a block
      def ask(record, question)
        question.is_a?(Symbol) ? record.send(question) : record.instance_exec(&question)
      end
    end
    private_constant :Hook

    # What a model declares.
    module ClassMethods
      EVENTS.each do |event|
        %i[before after].each do |moment|
          define_method("#{moment}_#{event}") do |*methods, **options, &block|
            add_hooks(:"#{moment}_#{event}", methods, options, block)
          end
        end
      end

      # Runs after the transaction is committed, or at once where there is none.
      #
      # @example
      #   after_commit :notify, on: :create
      # @return [void]
      def after_commit(*methods, **options, &block)
        add_hooks(:after_commit, methods, options, block)
      end

      # @api private
      # @return [Array<Hook>] the superclass's first
      def hooks(moment)
        @all_hooks ||= {}
        @all_hooks[moment] ||= (superclass.respond_to?(:hooks) ? superclass.hooks(moment) : []) + own_hooks[moment]
      end

      # @api private
      def callbacks?
        @callbacks_known ||= { value: storing_hooks? }
        @callbacks_known[:value]
      end

      # @api private
      def commit_callbacks?
        !hooks(:after_commit).empty?
      end

      private

      def own_hooks
        @own_hooks ||= Hash.new { |hash, moment| hash[moment] = [] }
      end

      def storing_hooks?
        moments = (EVENTS - [:validation]).flat_map { |event| [:"before_#{event}", :"after_#{event}"] }
        moments.any? { |moment| !hooks(moment).empty? }
      end

      def add_hooks(moment, methods, options, block)
        actions = methods.map { |name| name.respond_to?(:call) ? name : name.to_sym }
        actions << block if block
        raise ArgumentError, "#{moment} needs a method name or a block" if actions.empty?

        actions.each do |action|
          own_hooks[moment] << Hook.new(action: action, condition: options[:if], unless: options[:unless],
                                        on: options[:on] && Array(options[:on]))
        end
        forget_hooks
      end

      def forget_hooks
        @all_hooks = @callbacks_known = nil
        subclasses.each { |subclass| subclass.send(:forget_hooks) }
      end
    end

    private

    # @return [Object, false] what the block returns; false if a before-callback aborted
    def run_callbacks(event)
      return false unless run_before(event)

      result = yield
      self.class.hooks(:"after_#{event}").each { |hook| hook.run(self) } unless result == false
      result
    end

    def run_before(event)
      hooks = self.class.hooks(:"before_#{event}")
      return true if hooks.empty?

      catch(:abort) do
        hooks.each { |hook| hook.run(self) }
        return true
      end
      false
    end

    def run_commit_callbacks
      action = @destroyed ? :destroy : @last_action
      self.class.hooks(:after_commit).each { |hook| hook.run(self) if hook.on.nil? || hook.on.include?(action) }
    end
  end
  private_constant :Callbacks
end
