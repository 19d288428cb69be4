/**
 * Verifies that a webhook delivery was sent by the service, for those who receive it.
 *
 * Copy the file: it needs Node 18 or later and nothing else.
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
 * Hand over the bytes of the body as they arrived, a Buffer. A body that was parsed and written again has other bytes.
 */

import { createHmac, timingSafeEqual } from "node:crypto";

/** Seconds that the time of a signature may differ from this machine's clock; what is older may be a replay. */
export const TOLERANCE = 300;

/** Characters of a header that is looked at; one with two signatures has about 150. */
const LONGEST_HEADER = 1024;

/** The delivery cannot be trusted; the message says why and repeats nothing of what was received but its age. */
export class VerificationFailed extends Error {
  name = "VerificationFailed";
}

/**
 * Returns if the delivery is genuine and fresh, else throws VerificationFailed.
 *
 * `body` is a Buffer or Uint8Array. `signature` is the header X-Service-Signature, `t=<unix seconds>,v1=<hex>`, with one
 * `v1` or several. `secrets` is the endpoint's secret, whole, `whsec_` included; during the 24 hours after a rotation
 * give the new one and the previous one. `tolerance` is in seconds, either way; `now` is in seconds since 1970, by
 * default the clock's. Throws a TypeError if the body is no bytes or there is no secret: that is a fault of the
 * receiver and must not look like one of the sender.
 */
export function verify(body, signature, secrets, { tolerance = TOLERANCE, now = Date.now() / 1000 } = {}) {
  if (!(body instanceof Uint8Array)) {
    throw new TypeError("The body is no Buffer. Give the raw bytes, before anything parses them.");
  }
  const keys = typeof secrets === "string" ? [secrets] : [...(secrets ?? [])];
  if (keys.length === 0 || !keys.every((key) => typeof key === "string" && key.trim() !== "")) {
    throw new TypeError("A secret is absent, empty or no text. Give the endpoint's secret whole, as text.");
  }
  const { signedAt, digests } = parse(signature);
  const age = now - Number(signedAt);
  // Written so that a tolerance or a time that is no number refuses.
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
    "The signature does not match. Verify the raw bytes of the body, with the whole secret of this very endpoint," +
      " whsec_ included.",
  );
}

function parse(header) {
  if (header === undefined || header === null || header === "") {
    throw new VerificationFailed("The header X-Service-Signature is absent. Deliveries have it: is this one?");
  }
  if (typeof header !== "string") {
    throw garbled("it is no text");
  }
  if (header.length > LONGEST_HEADER) {
    throw garbled(`it has more than ${LONGEST_HEADER} characters`);
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
        throw garbled("a v1 is not 64 hexadecimal digits");
      }
      digests.push(Buffer.from(value, "hex"));
    }
  }
  if (times.length !== 1 || !/^[0-9]{1,12}$/.test(times[0])) {
    throw garbled("there is not exactly one t of up to 12 digits");
  }
  if (digests.length === 0) {
    throw garbled("there is no v1");
  }
  return { signedAt: times[0], digests };
}

function garbled(reason) {
  return new VerificationFailed(
    `The header X-Service-Signature is garbled: ${reason}. It reads t=<unix seconds>,v1=<64 hexadecimal digits>.`,
  );
}

function untimely(age, tolerance) {
  const advice = `at most ${tolerance} s are allowed. Set this machine's clock`;
  if (age < 0) {
    return `The delivery is too new: it was signed ${Math.round(-age)} s in the future, ${advice}.`;
  }
  return `The delivery is too old: it was signed ${Math.round(age)} s ago, ${advice}, or drop it as a replay.`;
}
