/** Types of verification.mjs: copy both files side by side. */

/** Seconds that a signature's time may differ from this machine's clock. */
export declare const TOLERANCE: number;

/** The delivery cannot be trusted. The message says why; of what was received it contains only the age. */
export declare class VerificationFailed extends Error {
  name: "VerificationFailed";
}

/**
 * Returns if the delivery is genuine and recent.
 *
 * @param body The raw bytes of the request's body, for instance a Buffer.
 * @param signature The header X-Service-Signature; null or undefined if absent.
 * @param secrets The endpoint's secret, complete with `whsec_`. For 24 hours after a rotation, pass both.
 * @param options `tolerance`: seconds that the signature's time may differ from `now`. `now`: Unix time in seconds.
 * @throws {VerificationFailed} If the delivery cannot be trusted.
 * @throws {TypeError} If `body` is not bytes, or a secret is absent, empty or not a string.
 */
export declare function verify(
  body: Uint8Array,
  signature: string | null | undefined,
  secrets: string | Iterable<string>,
  options?: { tolerance?: number; now?: number },
): void;
