# frozen_string_literal: true

# Owns the certificates of the test servers: an authority of their own, a server certificate for 127.0.0.1 and
# localhost, a client certificate, and an authority that signed none of them. Made by the openssl command line.

require "fileutils"
require "open3"
require_relative "recipe"

module Support
  module Servers
    # Makes `ca.pem`, `server.pem`, `server.key`, `client.pem`, `client.key` and `other-ca.pem` in a folder.
    class Certificates
      KEY = %w[-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -sha256 -days 2].freeze
      private_constant :KEY

      def self.make(folder, client_name:)
        new(folder).make(client_name)
      end

      def initialize(folder)
        @folder = folder
        @openssl = Recipe.program("openssl")
      end

      def make(client_name)
        FileUtils.mkdir_p(@folder)
        authority("ca")
        authority("other-ca")
        signed("server", "127.0.0.1", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        signed("client", client_name, "extendedKeyUsage=clientAuth")
      end

      private

      def authority(name)
        run("req", "-x509", *KEY, "-subj", "/CN=fastr test #{name}", "-keyout", "#{name}.key", "-out", "#{name}.pem",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign")
      end

      def signed(name, common_name, extension)
        File.write(File.join(@folder, "#{name}.ext"), "#{extension}\nbasicConstraints=CA:FALSE\n")
        run("req", *KEY, "-subj", "/CN=#{common_name}", "-keyout", "#{name}.key", "-out", "#{name}.csr")
        run("x509", "-req", "-in", "#{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-sha256",
            "-days", "2", "-extfile", "#{name}.ext", "-out", "#{name}.pem")
        File.chmod(0o600, File.join(@folder, "#{name}.key"))
      end

      def run(*arguments)
        output, status = Open3.capture2e(@openssl, *arguments, chdir: @folder)
        raise Error, "openssl #{arguments.first}: #{output}" unless status.success?
      end
    end
  end
end
