# frozen_string_literal: true

module Fastr
  # The bounded pool of Ruby threads for code that blocks (`response.task`). It owns the threads and the queue;
  # results go back through the block it was given, on the dispatcher. It starts at the first task, and again in a
  # forked child, where the parent's threads do not exist.
  class TaskPool
    # How many tasks run side by side; more wait in line. The number of 2010's EventMachine.
    SIZE = 20

    # @return [TaskPool] the pool of this process
    def self.shared
      @shared = new(SIZE) if @shared.nil? || @shared.pid != Process.pid
      @shared
    end

    # @return [Integer] the process the threads belong to
    attr_reader :pid

    # @param size [Integer] the number of threads
    def initialize(size)
      @pid = Process.pid
      @jobs = Thread::Queue.new
      @size = size
      @threads = []
      @lock = Mutex.new
    end

    # Runs an operation on a pool thread, then the block on the dispatcher.
    # @param operation [#call] what may block; `return` inside it is its value
    # @yieldparam value [Object, nil] what the operation gave
    # @yieldparam error [StandardError, ScriptError, nil] what it raised
    # @return [void]
    def submit(operation, &done)
      @jobs << [operation, done]
      grow if @jobs.size > @jobs.num_waiting
      nil
    end

    private

    def grow
      @lock.synchronize do
        @threads.select!(&:alive?)
        @threads << Thread.new { work } if @threads.size < @size
      end
    end

    def work
      Thread.current.name = "fastr task"
      Thread.current.report_on_exception = false
      while (operation, done = @jobs.pop)
        perform(operation, done)
      end
    end

    # A method of its own: the block that reports must keep the variables of its own operation, not those of the loop.
    # Whatever ends the operation, its caller hears of it; `Thread.current.kill` ends this thread, and the next task
    # gets a new one.
    def perform(operation, done)
      value = nil
      error = CancelledError.new("the task ended its thread")
      value, error = attempt(operation)
    ensure
      Dispatcher.schedule { done.call(value, error) }
    end

    def attempt(operation)
      [Callable.call(operation), nil]
    rescue StandardError, ScriptError, SystemStackError => error
      [nil, error]
    rescue Exception => error # rubocop:disable Lint/RescueException -- `exit` in one task must not end the process
      [nil, Error.new("the task raised #{error.class}: #{error.message}").tap { |e| e.set_backtrace(error.backtrace) }]
    end
  end
  private_constant :TaskPool
end
