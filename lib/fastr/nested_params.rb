# frozen_string_literal: true

module Fastr
  # Turns name/value pairs into nested values: `user[name]=ann`, `tags[]=a`, `rows[][id]=1`. It owns the grammar of
  # names and its limits; decoding the bytes was Rust's work. Whatever contradicts itself is a {RequestError} (400).
  #
  # A plain name given twice becomes an Array, as in 2010.
  class NestedParams
    # Pairs accepted in one request.
    MAX_PAIRS = 4096
    # Levels of brackets accepted in one name.
    MAX_DEPTH = 32

    # @param pairs [Array<Array(String, Object)>] names and values in the order of the request
    # @return [Hash{String => Object}]
    def self.build(pairs)
      raise RequestError, "more than #{MAX_PAIRS} parameters" if pairs.size > MAX_PAIRS

      new.build(pairs)
    end

    # @return [Hash{String => Object}] names as they were sent; repeats as an Array (2010's `get_params`)
    def self.flat(pairs)
      raise RequestError, "more than #{MAX_PAIRS} parameters" if pairs.size > MAX_PAIRS

      pairs.each_with_object({}) { |(name, value), values| add(values, name, value) }
    end

    # Adds a value under a plain name.
    # @api private
    def self.add(values, name, value)
      if values.key?(name)
        known = values[name]
        known.is_a?(Array) ? known << value : values[name] = [known, value]
      else
        values[name] = value
      end
    end

    # @return [Hash{String => Object}]
    # @api private
    def build(pairs)
      root = {}
      pairs.each do |name, value|
        name.include?("[") ? store(root, split(name), value, name) : store_plain(root, name, value)
      end
      root
    end

    private

    def store_plain(root, name, value)
      conflict(name) if root[name].is_a?(Hash)
      NestedParams.add(root, name, value)
    end

    # "rows[][id]" -> ["rows", "", "id"]; a name whose brackets do not fit is taken as it is.
    def split(name)
      opening = name.index("[")
      return [name] if opening.zero? || !name.end_with?("]")

      keys = [name[0, opening]]
      keys.concat(name[(opening + 1)...-1].split("][", -1))
      raise RequestError, "parameter #{name[0, 40].inspect} is nested too deeply" if keys.size > MAX_DEPTH

      keys.any? { |key| key.include?("[") || key.include?("]") } ? [name] : keys
    end

    def store(target, keys, value, name)
      *path, last = keys
      path.each_with_index do |key, index|
        target = descend(target, key, keys[index + 1], keys[index + 2], name)
      end
      put(target, last, value, name)
    end

    def put(target, last, value, name)
      if target.is_a?(Array)
        last.empty? ? target << value : conflict(name)
      elsif last.empty?
        conflict(name)
      elsif target[last].is_a?(Hash)
        conflict(name)
      else
        NestedParams.add(target, last, value)
      end
    end

    # One step into `target[key]`, which has to hold what `following` needs: a list for "", a Hash for a name.
    def descend(target, key, following, after, name)
      return descend_into_list(target, following, after, name) if key.empty?

      child = target[key]
      wanted = following.empty? ? Array : Hash
      child = target[key] = wanted.new if child.nil?
      child.is_a?(wanted) ? child : conflict(name)
    end

    # A row of `rows[][id]=1&rows[][name]=x` is complete when a name comes that it already has.
    def descend_into_list(list, following, after, name)
      conflict(name) unless list.is_a?(Array)
      return list.push([]).last if following.empty?

      row = list.last
      conflict(name) unless row.nil? || row.is_a?(Hash)
      row = list.push({}).last if row.nil? || (after.nil? && row.key?(following))
      row
    end

    def conflict(name)
      raise RequestError, "parameter #{name[0, 80].inspect} contradicts an earlier one"
    end
  end
  private_constant :NestedParams
end
