# frozen_string_literal: true

# Owns what `fork` means for this library.
module Fastr
  # Makes a forked child start anew: the reactor's threads, the dispatcher's fibers and every open answer belong to
  # the parent. Prepended to Process' singleton, where Ruby calls `_fork` for every kind of fork but that of
  # `Process.daemon`.
  # @api private
  module Fork
    # Forks; in the child, forgets the parent's reactor and dispatcher.
    # @return [Integer] 0 in the child
    def _fork
      pid = Dispatcher.instance.at_rest { Fork.at_standstill { super } }
      Fork.start_anew if pid.zero?
      pid
    end

    def daemon(*)
      result = Fork.at_standstill { super }
      Fork.start_anew
      result
    end

    @hooks = []

    # Has a block called in every forked child, once the library has started anew.
    # @return [void]
    def self.in_child(&block)
      @hooks << block
    end

    # Calls a block while no thread of ours is inside SQLite, which would take its locks along into the child.
    def self.at_standstill
      Native.stand_still
      begin
        yield
      ensure
        Native.go_on
      end
    end

    def self.start_anew
      Native.after_fork
      Dispatcher.after_fork
      Reactor.after_fork if Fastr.const_defined?(:Reactor, false) # AsyncRecord alone does not load it
      @hooks.each(&:call)
    end
  end

  Process.singleton_class.prepend(Fork)
end
