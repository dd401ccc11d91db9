const hashed = ["RS", "PS", "ES"].flatMap((kind) => [`${kind}256`, `${kind}384`, `${kind}512`]);

/**
 * Signatures of an issuer's tokens. Asymmetric ones only: with HS256 in the list a public key would be a signing secret, and `none` is
 * not a signature.
 */
export const signatureAlgorithms = [...hashed, "EdDSA", "Ed25519"];
