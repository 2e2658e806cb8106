# frozen_string_literal: true

# Owns running the examples' own specs, so that the examples never rot.
desc "Run the specs of every example"
task :examples do
  FileList["examples/*/spec"].each do |folder|
    puts "== #{folder}"
    library = [File.join(NativeBuild::ROOT, "lib"), ENV.fetch("RUBYLIB", nil)].compact.join(":")
    Dir.chdir(File.dirname(folder)) do
      sh({ "RUBYLIB" => library, "PATH" => "#{NativeBuild::ROOT}/exe:#{ENV.fetch('PATH')}" },
         RbConfig.ruby, "-S", "rspec", "--options", File::NULL, "spec", verbose: false)
    end
  end
end
