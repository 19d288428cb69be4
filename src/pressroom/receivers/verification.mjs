/**
 * Checks that a webhook delivery was sent by the service and is recent.
 *
 * For receivers of webhooks: copy the file. It needs Node 18 or later and nothing else.
 *
 *     import { verify, VerificationFailed } from "./verification.mjs";
 *
 *     try {
 *       verify(body, request.headers["x-service-signature"], [SECRET, PREVIOUS_SECRET]);
 *     } catch (failure) {
 *       if (!(failure instanceof VerificationFailed)) throw failure;
 *       return response.writeHead(400).end(failure.message);
 *     }
 *
 * Pass the raw bytes of the body, as they arrived, as a Buffer. A body that was parsed and serialised again has
 * different bytes.
 */

import { createHmac, timingSafeEqual } from "node:crypto";

/** Seconds that a signature's time may differ from this machine's clock. An older delivery may be a replay. */
export const TOLERANCE = 300;

/** Characters of the longest header that is parsed. A header with two signatures has about 150. */
const LONGEST_HEADER = 1024;

/** The delivery cannot be trusted. The message says why; of what was received it contains only the age. */
export class VerificationFailed extends Error {
  name = "VerificationFailed";
}

/**
 * Returns undefined if the delivery is genuine and recent.
 *
 * @param {Uint8Array} body The raw bytes of the request's body, for instance a Buffer.
 * @param {string | null | undefined} signature The header X-Service-Signature, `t=<unix seconds>,v1=<hex>` with one or
 *   more `v1`; null or undefined if absent.
 * @param {string | Iterable<string>} secrets The endpoint's secret, complete with `whsec_`. For 24 hours after a
 *   rotation, pass both the new and the previous secret.
 * @param {object} [options]
 * @param {number} [options.tolerance] Seconds that the signature's time may differ from `now`, in the past or the
 *   future.
 * @param {number} [options.now] Unix time in seconds; by default the time of this machine's clock.
 * @throws {VerificationFailed} If the delivery cannot be trusted.
 * @throws {TypeError} If `body` is not bytes, or `secrets` is empty or holds an empty secret. This is an error of the
 *   receiver: do not answer it as if the sender were at fault.
 */
export function verify(body, signature, secrets, { tolerance = TOLERANCE, now = Date.now() / 1000 } = {}) {
  if (!(body instanceof Uint8Array)) {
    throw new TypeError("The body is not a Buffer. Pass the raw bytes, before anything parses them.");
  }
  const keys = typeof secrets === "string" ? [secrets] : [...(secrets ?? [])];
  if (keys.length === 0 || !keys.every((key) => typeof key === "string" && key.trim() !== "")) {
    throw new TypeError("A secret is absent, empty or not a string. Pass the endpoint's complete secret as a string.");
  }
  const { signedAt, digests } = parse(signature);
  const age = now - Number(signedAt);
  // Not `age > tolerance`: if either is NaN, the delivery must be refused.
  if (!(Math.abs(age) <= tolerance)) {
    throw new VerificationFailed(untimely(age, tolerance));
  }
  for (const key of keys) {
    const expected = createHmac("sha256", key).update(`${signedAt}.`).update(body).digest();
    if (digests.some((digest) => timingSafeEqual(expected, digest))) {
      return;
    }
  }
  throw new VerificationFailed(
    "The signature does not match. Verify the raw bytes of the body, with the complete secret of this endpoint," +
      " including whsec_.",
  );
}

function parse(header) {
  if (header === undefined || header === null || header === "") {
    throw new VerificationFailed("The header X-Service-Signature is absent. Every delivery has it: is this one?");
  }
  if (typeof header !== "string") {
    throw malformed("it is not a string");
  }
  if (header.length > LONGEST_HEADER) {
    throw malformed(`it has more than ${LONGEST_HEADER} characters`);
  }
  const times = [];
  const digests = [];
  for (const part of header.split(",")) {
    const [name, ...rest] = part.replace(/^[ \t]+/, "").replace(/[ \t]+$/, "").split("=");
    const value = rest.join("=");
    if (name === "t") {
      times.push(value);
    } else if (name === "v1") {
      if (!/^[0-9a-fA-F]{64}$/.test(value)) {
        throw malformed("a v1 is not 64 hexadecimal digits");
      }
      digests.push(Buffer.from(value, "hex"));
    }
  }
  if (times.length !== 1 || !/^[0-9]{1,12}$/.test(times[0])) {
    throw malformed("there is not exactly one t of up to 12 digits");
  }
  if (digests.length === 0) {
    throw malformed("there is no v1");
  }
  return { signedAt: times[0], digests };
}

function malformed(reason) {
  return new VerificationFailed(
    `The header X-Service-Signature is malformed: ${reason}. It must read t=<unix seconds>,v1=<64 hexadecimal digits>.`,
  );
}

function untimely(age, tolerance) {
  const advice = `at most ${tolerance} s are allowed. Set this machine's clock`;
  if (age < 0) {
    return `The delivery is too new: it was signed ${Math.round(-age)} s in the future, ${advice}.`;
  }
  return `The delivery is too old: it was signed ${Math.round(age)} s ago, ${advice}, or drop it as a replay.`;
}
