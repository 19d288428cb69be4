// Deliveries of webhooks: verified by Web Crypto, and typed.
import { VerificationFailed } from './errors.js'
import type { Event } from './types.js'

const TOLERANCE = 300
const LONGEST_HEADER = 1024

export interface UnwrapOptions {
  /** Seconds that the signature's time may differ from `now`; 300 by default. */
  tolerance?: number
  /** Unix time in seconds; by default that of this machine. */
  now?: number
}

/**
 * Returns the envelope of a delivery, or throws VerificationFailed.
 *
 * `body` is the raw body of the request; `secrets` the endpoint's secret, with `whsec_`, for 24 hours after a rotation
 * the new and the previous one. Deliveries come at least once: drop the ids that you know.
 */
export async function unwrap(
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  secrets: string | string[],
  { tolerance = TOLERANCE, now = Date.now() / 1000 }: UnwrapOptions = {},
): Promise<Event> {
  const keys = typeof secrets === 'string' ? [secrets] : secrets
  if (keys.length === 0 || keys.some((key) => key.trim() === '')) {
    throw new TypeError("A secret is absent or empty. Pass the endpoint's complete secret.")
  }
  const { time, digests } = parse(signatureOf(headers))
  // Not `age > tolerance`: if either is NaN, the delivery must be refused.
  if (!(Math.abs(now - Number(time)) <= tolerance)) {
    throw new VerificationFailed(`The delivery was signed ${Math.round(now - Number(time))} s ago; ${tolerance} s are allowed.`)
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  for (const key of keys) {
    for (const digest of digests) {
      if (await matches(key, digest, time, bytes)) return JSON.parse(new TextDecoder().decode(bytes)) as Event
    }
  }
  throw new VerificationFailed('The signature does not match. Verify the raw body, with the complete secret of this endpoint.')
}

function signatureOf(headers: Headers | Record<string, string | string[] | undefined>): string {
  const value =
    headers instanceof Headers
      ? headers.get('x-service-signature')
      : Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-service-signature')?.[1]
  if (typeof value !== 'string' || value === '') throw new VerificationFailed('The header X-Service-Signature is absent.')
  return value
}

function parse(header: string): { time: string; digests: Uint8Array<ArrayBuffer>[] } {
  const parts = header.length > LONGEST_HEADER ? [] : header.split(',').map((part) => part.trim().split('='))
  const times = parts.filter(([name]) => name === 't').map(([, value]) => value ?? '')
  const found = parts.filter(([name]) => name === 'v1').map(([, value]) => value ?? '')
  const [time = ''] = times
  if (times.length !== 1 || !/^\d{1,12}$/.test(time) || found.length === 0 || !found.every((v) => /^[0-9a-f]{64}$/i.test(v))) {
    throw new VerificationFailed('The header X-Service-Signature is malformed: it must read t=<unix seconds>,v1=<64 hexadecimal digits>.')
  }
  return { time, digests: found.map(bytesOf) }
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(32)
  for (let place = 0; place < 32; place += 1) bytes[place] = Number.parseInt(hex.slice(2 * place, 2 * place + 2), 16)
  return bytes
}

/** Compares in constant time: `verify` of Web Crypto does. */
async function matches(secret: string, digest: Uint8Array<ArrayBuffer>, time: string, body: Uint8Array): Promise<boolean> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), hmac, false, ['verify'])
  const head = new TextEncoder().encode(`${time}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  return crypto.subtle.verify('HMAC', key, digest, signed)
}
