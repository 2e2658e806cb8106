# frozen_string_literal: true

# Owns how a model's declarations ask a record: `if:` and `unless:`, and every place that takes a method's name or a
# block.

module AsyncRecord
  # Methods' names and blocks as questions.
  module Questions
    module_function

    # @param wanted [Object] what has to be true: a method's name, a block, a list of them
    # @param unwanted [Object] what must not
    # @return [Boolean]
    def hold?(record, wanted, unwanted)
      (wanted.nil? || Array(wanted).all? { |question| ask(record, question) }) &&
        (unwanted.nil? || Array(unwanted).none? { |question| ask(record, question) })
    end

    # @param question [Symbol, Proc] a method, which may be private, or a block
    # @return [Object]
    def ask(record, question)
      return record.send(question) if question.is_a?(Symbol)

      question.arity.zero? ? record.instance_exec(&question) : record.instance_exec(record, &question)
    end
  end
  private_constant :Questions
end
