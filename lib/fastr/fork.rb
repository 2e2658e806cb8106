# frozen_string_literal: true

# Owns what `fork` means for this library.
module Fastr
  # Makes a forked child start anew: the reactor's threads, the dispatcher's fibers and every open answer belong to
  # the parent. Prepended to Process' singleton, where Ruby calls `_fork` for every kind of fork.
  # @api private
  module Fork
    # Forks; in the child, forgets the parent's reactor and dispatcher.
    # @return [Integer] 0 in the child
    def _fork
      pid = super
      if pid.zero?
        Native.after_fork
        Dispatcher.after_fork
        Reactor.after_fork
      end
      pid
    end
  end
  private_constant :Fork

  Process.singleton_class.prepend(Fork)
end
