//! The Ruby binding.
