# frozen_string_literal: true

module Fastr
  # "Did you mean …?" for the names an application defines. It owns the wording only; the search is Ruby's own.
  module Suggestion
    # @param word [String, Symbol] what was written
    # @param known [Enumerable<String, Symbol>] what exists
    # @return [String] " Did you mean x?", or nothing
    def self.for(word, known)
      return "" unless defined?(DidYouMean::SpellChecker)

      nearest = DidYouMean::SpellChecker.new(dictionary: known.map(&:to_s)).correct(word.to_s).first
      nearest ? " Did you mean #{nearest}?" : ""
    end
  end
  private_constant :Suggestion
end
