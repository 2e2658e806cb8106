# frozen_string_literal: true

# Owns what a model does around the storing, finding and making of its records. All before-callbacks run in the order of
# their declaration, then the around-callbacks enclose the work, then the after-callbacks run. `throw :abort` before the
# work stops it, and takes back what the callbacks stored themselves.

require_relative "questions"

module AsyncRecord
  # Hooks of records.
  module Callbacks
    EVENTS = %i[validation save create update destroy].freeze
    ACTIONS = %i[create update destroy].freeze
    OPTIONS = %i[if unless on].freeze
    MOMENTS = EVENTS.to_h { |event| [event, %w[before around after].map { |word| :"#{word}_#{event}" }.freeze] }.freeze
    private_constant :EVENTS, :ACTIONS, :OPTIONS, :MOMENTS

    # One declared hook.
    Hook = Struct.new(:action, :condition, :unless, :on, keyword_init: true) do
      def run(record)
        Questions.ask(record, action) if applies?(record)
      end

      # Runs the work inside; the hook says when.
      def around(record, work)
        return work.call unless applies?(record)
        return record.send(action) { work.call } if action.is_a?(Symbol)

        record.instance_exec(record, work, &action)
      end

      def applies?(record)
        Questions.hold?(record, condition, self.unless)
      end

      def on?(action)
        on.nil? || on.include?(action)
      end
    end
    private_constant :Hook

    # What a model declares.
    module ClassMethods
      MOMENTS.each_value do |moments|
        moments.each do |moment|
          define_method(moment) { |*methods, **options, &block| add_hooks(moment, methods, options, block) }
        end
      end

      # @!method after_commit(*methods, on: nil, if: nil, unless: nil, &block)
      #   Runs once the transaction is committed, or at once where there is none.
      #   @example
      #     after_commit :notify, on: :create
      #   @return [void]
      # @!method after_rollback(*methods, on: nil, if: nil, unless: nil, &block)
      #   Runs once the transaction is rolled back; the record is as it was before.
      #   @return [void]
      # @!method after_find(*methods, if: nil, unless: nil, &block)
      #   Runs for each record that was read.
      #   @return [void]
      # @!method after_initialize(*methods, if: nil, unless: nil, &block)
      #   Runs for each record that was made, by `new` or by reading.
      #   @return [void]
      # @!method after_touch(*methods, if: nil, unless: nil, &block)
      #   @return [void]
      %i[after_commit after_rollback after_find after_initialize after_touch].each do |moment|
        define_method(moment) { |*methods, **options, &block| add_hooks(moment, methods, options, block) }
      end

      ACTIONS.each do |action|
        define_method("after_#{action}_commit") do |*methods, **options, &block|
          add_hooks(:after_commit, methods, { **options, on: action }, block)
        end
      end

      # After a commit that created or changed the record.
      # @return [void]
      def after_save_commit(*methods, **options, &block)
        add_hooks(:after_commit, methods, { **options, on: %i[create update] }, block)
      end

      # @api private
      # @return [Array<Hook>] the superclass's first
      def hooks(moment)
        @all_hooks ||= {}
        @all_hooks[moment] ||= (superclass.respond_to?(:hooks) ? superclass.hooks(moment) : []) + own_hooks[moment]
      end

      # @api private
      # @return [Boolean] whether something runs before, around or after it
      def hooked?(event)
        known = (@hooked ||= {})[event]
        known.nil? ? @hooked[event] = MOMENTS.fetch(event).any? { |moment| !hooks(moment).empty? } : known
      end

      # @api private
      def callbacks?
        hooked?(:save) || ACTIONS.any? { |action| hooked?(action) }
      end

      # @api private
      def commit_callbacks?
        !(hooks(:after_commit).empty? && hooks(:after_rollback).empty?)
      end

      # @api private
      # @return [Array<Hook>] what a record that was loaded runs
      def loading_hooks
        @loading_hooks ||= hooks(:after_find) + hooks(:after_initialize)
      end

      private

      def own_hooks
        @own_hooks ||= Hash.new { |hash, moment| hash[moment] = [] }
      end

      def add_hooks(moment, methods, options, block)
        actions = methods.map { |name| name.respond_to?(:call) ? name : name.to_sym }
        actions << block if block
        raise ArgumentError, "#{moment} needs a method name or a block" if actions.empty?

        check_hook_options(moment, options)
        actions.each do |action|
          own_hooks[moment] << Hook.new(action: action, condition: options[:if], unless: options[:unless],
                                        on: options[:on] && Array(options[:on]))
        end
        forget_hooks
      end

      def check_hook_options(moment, options)
        unknown = options.keys - OPTIONS
        raise ArgumentError, "#{moment} takes if:, unless: and on:, not #{unknown.first}:" unless unknown.empty?
        return if options[:on].nil? || moment.match?(/_(?:validation|commit|rollback)\z/)

        raise ArgumentError, "#{moment} takes no on:; say before_create or after_update instead"
      end

      def forget_hooks
        @all_hooks = @hooked = @loading_hooks = nil
        subclasses.each { |subclass| subclass.send(:forget_hooks) }
      end
    end

    private

    # @return [Object, false] what the block returns; false if a callback stopped it
    def run_callbacks(event, context = nil, &work)
      return yield unless self.class.hooked?(event)

      before, around, after = MOMENTS.fetch(event)
      return false unless run_before(before, context)

      arounds = hooks_of(around, context)
      result = arounds.empty? ? yield : run_around(arounds, work)
      run_hooks(after, context) unless result == false
      result
    end

    def run_before(moment, context)
      hooks = hooks_of(moment, context)
      return true if hooks.empty?

      catch(:abort) do
        hooks.each { |hook| hook.run(self) }
        return true
      end
      false
    end

    def run_around(hooks, work)
      result = false
      innermost = -> { result = work.call }
      chain = hooks.reverse.reduce(innermost) { |inner, hook| -> { hook.around(self, inner) } }
      catch(:abort) { chain.call }
      result
    end

    def run_hooks(moment, context = nil)
      hooks_of(moment, context).each { |hook| hook.run(self) }
    end

    # @param context [Symbol, nil] what `on:` has to name
    def hooks_of(moment, context)
      hooks = self.class.hooks(moment)
      context ? hooks.select { |hook| hook.on?(context) } : hooks
    end

    # However often the record was stored in the transaction, it is told once: that it is gone, or new, or changed.
    def run_commit_callbacks
      actions = @commit_actions || []
      @commit_actions = nil
      run_hooks(:after_commit, %i[destroy create update].find { |action| actions.include?(action) } || @last_action)
    end
  end
  private_constant :Callbacks
end
