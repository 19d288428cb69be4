// Everything that a call can throw.
import type { Fault } from './types.js'

/** Any failure of a call. */
export class PressroomError extends Error {
  override get name(): string {
    return this.constructor.name
  }
}

/** No answer came before the deadline. A write may have happened; sent again with the same key it happens once. */
export class NoAnswer extends PressroomError {
  constructor(
    message: string,
    /** The key of the write, for another try. */
    readonly idempotencyKey?: string,
  ) {
    super(message)
  }
}

/** A file of a post cannot be decoded. */
export class ProcessingFailed extends PressroomError {}

/** A delivery cannot be trusted. The message says why. */
export class VerificationFailed extends PressroomError {}

/** The server refused the request. A label that this version does not know throws this class itself. */
export class ApiError extends PressroomError {
  /** The server's short name of the failure; empty when the answer was not the server's own JSON. */
  readonly label: string
  /** Every fault of the request, on 400 and 422. */
  readonly details: Fault[]
  /** The name of the limit that was reached, on 429. */
  readonly limit: string | undefined
  /** The scope that the key lacks, on 403. */
  readonly requiredScope: string | undefined

  constructor(
    readonly status: number,
    /** The answer's JSON, with fields that this version does not know. */
    readonly body: Record<string, unknown>,
    /** Names the request in the server's log. */
    readonly requestId: string | undefined,
    /** Seconds after which one request will pass. */
    readonly retryAfter: number | undefined,
  ) {
    super(sentence(status, body, requestId))
    this.label = text(body['error'])
    this.details = (body['details'] as Fault[] | undefined) ?? []
    this.limit = body['limit'] as string | undefined
    this.requiredScope = body['requiredScope'] as string | undefined
  }
}

/** 400: the request is malformed; `details` lists every fault. */
export class ValidationFailed extends ApiError {}
/** 401: the request had no key. */
export class MissingApiKey extends ApiError {}
/** 401: no such key was issued here. */
export class InvalidApiKey extends ApiError {}
/** 401: the key was revoked. */
export class ApiKeyRevoked extends ApiError {}
/** 401: the key reached its expiry. */
export class ApiKeyExpired extends ApiError {}
/** 403: the request came from outside the key's allowlist. */
export class IpAddressNotAllowed extends ApiError {}
/** 403: the key lacks `requiredScope`. */
export class MissingRequiredScope extends ApiError {}
/** 403: only a signed-in person may do this. */
export class SessionRequired extends ApiError {}
/** 404: absent, deleted, or not visible to this account. */
export class NotFound extends ApiError {}
/** 409: it exists already, a cap is reached, or the version named is not the current one. */
export class Conflict extends ApiError {}
/** 410: the cursor is older than the events that are kept; `body.oldest` is the first that can be read. */
export class CursorExpired extends ApiError {}
/** 413: the body is larger than the operation takes. */
export class PayloadTooLarge extends ApiError {}
/** 415: the body is of another type. */
export class UnsupportedMediaType extends ApiError {}
/** 422: well-formed, but stored state forbids it; `details` says why. */
export class Unprocessable extends ApiError {}
/** 429: the key made too many requests; it was tried again within the deadline. */
export class RateLimitExceeded extends ApiError {}
/** 429: the account has published all that a UTC day allows. Thrown at once. */
export class DailyContentQuotaExceeded extends ApiError {}
/** 500: something failed in the server. */
export class InternalError extends ApiError {}
/** 503: something that the server depends on is away. */
export class Unavailable extends ApiError {}

const BY_LABEL = new Map<string, typeof ApiError>([
  ['Validation failed', ValidationFailed],
  ['Missing API key', MissingApiKey],
  ['Invalid API key', InvalidApiKey],
  ['API key revoked', ApiKeyRevoked],
  ['API key expired', ApiKeyExpired],
  ['IP address not allowed', IpAddressNotAllowed],
  ['Missing required scope', MissingRequiredScope],
  ['Session required', SessionRequired],
  ['Not found', NotFound],
  ['Conflict', Conflict],
  ['Cursor expired', CursorExpired],
  ['Payload too large', PayloadTooLarge],
  ['Unsupported media type', UnsupportedMediaType],
  ['Unprocessable', Unprocessable],
  ['Rate limit exceeded', RateLimitExceeded],
  ['Daily content quota exceeded', DailyContentQuotaExceeded],
  ['Internal error', InternalError],
  ['Unavailable', Unavailable],
])

/** Returns the error of an answer that is no success, read from its body. */
export async function apiError(response: Response): Promise<ApiError> {
  let body: Record<string, unknown> = {}
  try {
    const parsed: unknown = await response.json()
    if (typeof parsed === 'object' && parsed !== null) body = parsed as Record<string, unknown>
  } catch {
    // A proxy before the server answered in its place.
  }
  const Kind = BY_LABEL.get(text(body['error'])) ?? ApiError
  const requestId = response.headers.get('x-request-id') ?? undefined
  return new Kind(response.status, body, requestId, retryAfter(response))
}

function retryAfter(response: Response): number | undefined {
  const value = response.headers.get('retry-after')
  if (value === null) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

function sentence(status: number, body: Record<string, unknown>, requestId: string | undefined): string {
  const faults = ((body['details'] as Fault[] | undefined) ?? []).map((fault) => `${fault.field}: ${fault.message}`)
  const parts = [`${status} ${text(body['error'])}`.trim(), text(body['message']), faults.join('; ')]
  return parts.filter((part) => part !== '').join(': ') + (requestId === undefined ? '' : ` (request ${requestId})`)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
