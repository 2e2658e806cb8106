# frozen_string_literal: true

# Gives the main object the words of a single-file application (`get`, `post`, …) in programs where `require "fastr"`
# does not do it by itself: a config.ru, a test, a file loaded by another. See {Fastr::TopLevel}.
require_relative "../fastr"

Fastr::TopLevel.install
