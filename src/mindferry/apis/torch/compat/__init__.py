"""Code that is emitted into converted projects, never imported by mindferry: small, with torch's meaning, readable."""
