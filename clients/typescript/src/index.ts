// Publishes with an API key of a Pressroom server.
//
//     import { Pressroom } from 'pressroom-client'
//
//     const press = new Pressroom('https://press.example.org', KEY)
//     const post = await press.createPost('Hello')
import { ApiError, NoAnswer, ProcessingFailed, apiError } from './errors.js'
import { pauseBeforeRetry, type Failure } from './retries.js'
import { blocks } from './stream.js'
import type {
  Account,
  Clip,
  Comment,
  CommentList,
  CreateDraft,
  Deleted,
  DeletedDraft,
  Draft,
  DraftList,
  EditDraft,
  Event,
  LocationIn,
  MediaIn,
  PollIn,
  Post,
  Visibility,
} from './types.js'

export * from './errors.js'
export type * from './types.js'
export { unwrap, type UnwrapOptions } from './webhooks.js'

const VERSION = '0.1.0'
const KEY_PREFIX = 15
const LOOK_PAUSE = 0.5
const SILENCE = 30

export interface Options {
  /** Seconds for a call with all its tries; 90 by default: more than the minute of a rate limit. */
  deadline?: number
  /** Seconds for one try; 30 by default. */
  timeout?: number
  /** Another `fetch`. */
  fetch?: typeof fetch
}

/** One key for all tries of a write; a fresh one unless given. */
export interface Once {
  idempotencyKey?: string
}

export interface PostFields extends Once {
  visibility?: Visibility
  hubId?: string
  location?: LocationIn
}

/** A file to upload, with a description for people who cannot see it. */
export interface Upload {
  content: Blob
  name?: string
  altText?: string
}

interface Call {
  method: string
  path: string
  body?: object
  form?: FormData
  key?: string
}

/** A client of one account. A call without an answer, a 408, a 5xx or a rate limit is tried again until its deadline. */
export class Pressroom {
  readonly baseUrl: string
  readonly #headers: Record<string, string>
  readonly #shown: string
  readonly #options: Required<Options>

  constructor(baseUrl: string, apiKey: string, { deadline = 90, timeout = 30, fetch = globalThis.fetch }: Options = {}) {
    this.baseUrl = baseUrl.replace(/\/+$/, '')
    this.#headers = { Authorization: `Bearer ${apiKey}`, 'User-Agent': `pressroom-client-typescript/${VERSION}` }
    this.#shown = `${apiKey.slice(0, KEY_PREFIX)}…`
    this.#options = { deadline, timeout, fetch }
  }

  toString(): string {
    return `Pressroom(${this.baseUrl}, ${this.#shown})`
  }

  /** Returns the account of the key. */
  me(): Promise<Account> {
    return this.#send({ method: 'GET', path: '/api/auth/me' })
  }

  /** Publishes a post. */
  createPost(content: string, options: PostFields & { poll?: PollIn; linkPreviewUrl?: string } = {}): Promise<Post> {
    const { idempotencyKey, ...fields } = options
    return this.#write('POST', '/api/posts', idempotencyKey, { content, ...fields })
  }

  /** Publishes a post with up to 4 pictures or videos. They are PROCESSING at first: see `waitUntilReady`. */
  uploadPost(media: Array<Blob | Upload>, options: PostFields & { content?: string } = {}): Promise<Post> {
    const { idempotencyKey, ...fields } = options
    return this.#write('POST', '/api/posts/upload', idempotencyKey, undefined, mediaForm(media, fields))
  }

  /** Returns a post of the account, or one that anyone may see. */
  getPost(id: string): Promise<Post> {
    return this.#send({ method: 'GET', path: `/api/posts/${encodeURIComponent(id)}` })
  }

  /** Changes the text or the audience of a post. */
  editPost(id: string, { idempotencyKey, ...fields }: { content?: string; visibility?: Visibility } & Once): Promise<Post> {
    return this.#write('PATCH', `/api/posts/${encodeURIComponent(id)}`, idempotencyKey, fields)
  }

  /** Deletes a post. */
  deletePost(id: string, { idempotencyKey }: Once = {}): Promise<Deleted> {
    return this.#write('DELETE', `/api/posts/${encodeURIComponent(id)}`, idempotencyKey)
  }

  /** Shares a PUBLIC post; with `content` it is quoted. */
  bounce(id: string, { idempotencyKey, ...fields }: { content?: string } & Once = {}): Promise<Post> {
    return this.#write('POST', `/api/posts/${encodeURIComponent(id)}/bounce`, idempotencyKey, fields)
  }

  /** Comments on a post, or replies to the comment `parentId`. */
  comment(
    id: string,
    { idempotencyKey, ...fields }: { content?: string; parentId?: string; media?: MediaIn } & Once,
  ): Promise<Comment> {
    return this.#write('POST', `/api/posts/${encodeURIComponent(id)}/comments`, idempotencyKey, fields)
  }

  /** Iterates over the comments of a post, oldest first. */
  async *comments(id: string): AsyncGenerator<Comment> {
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = `limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
      const page: CommentList = await this.#send({ method: 'GET', path: `/api/posts/${encodeURIComponent(id)}/comments?${query}` })
      yield* page.comments
      cursor = page.nextCursor
    }
  }

  /** Publishes a clip. It is PROCESSING at first. */
  publishClip(
    video: Blob | Upload,
    { idempotencyKey, ...fields }: { caption?: string; visibility?: Visibility; hubId?: string } & Once = {},
  ): Promise<Clip> {
    const file = video instanceof Blob ? { content: video } : video
    return this.#write('POST', '/api/clips', idempotencyKey, undefined, formOf('video', [file], fields))
  }

  /** Returns a clip of the account, or one that anyone may see. */
  getClip(id: string): Promise<Clip> {
    return this.#send({ method: 'GET', path: `/api/clips/${encodeURIComponent(id)}` })
  }

  /** Stores a draft. With `publishAt` it is scheduled; with `needsApproval` a person publishes it. */
  createDraft({ idempotencyKey, ...fields }: CreateDraft & Once = {}): Promise<Draft> {
    return this.#write('POST', '/api/drafts', idempotencyKey, fields)
  }

  /** Iterates over the drafts that this key made, newest first. */
  async *drafts(): AsyncGenerator<Draft> {
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = `limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
      const page: DraftList = await this.#send({ method: 'GET', path: `/api/drafts?${query}` })
      yield* page.drafts
      cursor = page.nextCursor
    }
  }

  /** Returns a draft that this key made. */
  getDraft(id: string): Promise<Draft> {
    return this.#send({ method: 'GET', path: `/api/drafts/${encodeURIComponent(id)}` })
  }

  /** Changes a draft from the version that is named; null clears a field. Throws Conflict, whose `body.draft` is the present one. */
  editDraft(id: string, { idempotencyKey, ...changes }: EditDraft & Once): Promise<Draft> {
    return this.#write('PATCH', `/api/drafts/${encodeURIComponent(id)}`, idempotencyKey, changes)
  }

  /** Adds files to a draft. */
  addDraftMedia(id: string, media: Array<Blob | Upload>, { idempotencyKey }: Once = {}): Promise<Draft> {
    const form = mediaForm(media, {})
    return this.#write('POST', `/api/drafts/${encodeURIComponent(id)}/media`, idempotencyKey, undefined, form)
  }

  /** Publishes a draft; `postId` of the answer is its post. It also needs the scope `posts:write`. */
  publishDraft(id: string, { idempotencyKey, ...fields }: { version?: number } & Once = {}): Promise<Draft> {
    return this.#write('POST', `/api/drafts/${encodeURIComponent(id)}/publish`, idempotencyKey, fields)
  }

  /** Deletes a draft with its files. */
  deleteDraft(id: string, { idempotencyKey }: Once = {}): Promise<DeletedDraft> {
    return this.#write('DELETE', `/api/drafts/${encodeURIComponent(id)}`, idempotencyKey)
  }

  /** Returns a post once its files are READY. Throws ProcessingFailed, and NoAnswer after `within` seconds. */
  async waitUntilReady(id: string, { within = 300 }: { within?: number } = {}): Promise<Post> {
    const until = now() + within
    while (true) {
      const post = await this.getPost(id)
      const states = (post.media ?? []).map((entry) => entry.processingStatus)
      if (states.includes('FAILED')) throw new ProcessingFailed(`A file of post ${id} cannot be decoded.`)
      if (!states.includes('PROCESSING')) return post
      if (now() > until) throw new NoAnswer(`The files of post ${id} were not processed within ${within} s.`)
      await sleep(LOOK_PAUSE)
    }
  }

  /**
   * Iterates over the account's events as they happen, each with its cursor; resumes lost connections.
   *
   * Store a cursor when its event is handled, and pass it as `after` at the next start. Without `after` the iteration
   * begins now. It ends with the event `apikey.revoked` of its own key. Throws CursorExpired when events after the
   * cursor are no longer kept.
   */
  async *events(after?: string): AsyncGenerator<{ cursor: string; event: Event }> {
    // Named before the first connection, so that a connection lost without an event loses none.
    let cursor = after ?? (await this.#send<{ cursor: string }>({ method: 'GET', path: '/api/events?wait=0' })).cursor
    for (let tries = 1; ; tries += 1) {
      let failure: Failure = {}
      try {
        for await (const found of this.#stream(cursor)) {
          tries = 0
          cursor = found.cursor
          yield found
          if (found.event.event === 'apikey.revoked') return
        }
      } catch (error) {
        if (!(error instanceof ApiError || error instanceof TypeError)) throw error
        failure = error instanceof ApiError ? error : {}
        if (pauseBeforeRetry(failure, 1, this.#options.deadline, 0) === undefined) throw error
      }
      await sleep(pauseBeforeRetry(failure, Math.max(tries, 1), this.#options.deadline, Math.random()) ?? LOOK_PAUSE)
    }
  }

  async *#stream(after: string): AsyncGenerator<{ cursor: string; event: Event }> {
    const headers = { ...this.#headers, Accept: 'text/event-stream' }
    const address = `${this.baseUrl}/api/events?after=${encodeURIComponent(after)}`
    const response = await this.#options.fetch(address, { headers, redirect: 'manual' })
    if (response.status !== 200 || response.body === null) throw await apiError(response)
    for await (const block of blocks(response.body, SILENCE)) {
      yield { cursor: block.id === '' ? after : block.id, event: JSON.parse(block.data) as Event }
    }
  }

  #write<T>(method: string, path: string, key = crypto.randomUUID() as string, body?: object, form?: FormData): Promise<T> {
    return this.#send({ method, path, key, ...(body === undefined ? {} : { body }), ...(form === undefined ? {} : { form }) })
  }

  /** Sends a call until it is answered or its deadline is over. */
  async #send<T>(call: Call): Promise<T> {
    const until = now() + this.#options.deadline
    for (let tries = 1; ; tries += 1) {
      let failure: Failure & { reason?: string }
      let refusal: ApiError | undefined
      try {
        const response = await this.#options.fetch(this.baseUrl + call.path, this.#request(call))
        if (response.ok) return (await response.json()) as T
        failure = refusal = await apiError(response)
      } catch (error) {
        if (error instanceof SyntaxError) throw error
        failure = { reason: String(error) }
      }
      const pause = pauseBeforeRetry(failure, tries, until - now(), Math.random())
      if (pause === undefined) {
        throw refusal ?? new NoAnswer(`${call.method} ${call.path} got no answer in ${tries} tries: ${failure.reason}`, call.key)
      }
      await sleep(pause)
    }
  }

  #request({ method, body, form, key }: Call): RequestInit {
    const headers = { ...this.#headers }
    if (key !== undefined) headers['Idempotency-Key'] = key
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const sent = form ?? (body === undefined ? null : JSON.stringify(body))
    return { method, headers, body: sent, redirect: 'manual', signal: AbortSignal.timeout(this.#options.timeout * 1000) }
  }
}

function mediaForm(media: Array<Blob | Upload>, fields: object): FormData {
  const files = media.map((each) => (each instanceof Blob ? { content: each } : each))
  const form = formOf('media', files, fields)
  if (files.some((file) => file.altText)) for (const file of files) form.append('altText', file.altText ?? '')
  return form
}

function formOf(field: string, files: Upload[], fields: object): FormData {
  const form = new FormData()
  for (const file of files) form.append(field, file.content, file.name ?? 'file')
  for (const [name, value] of Object.entries(fields) as Array<[string, unknown]>) {
    // The form carries objects as serialised JSON.
    if (value !== undefined && value !== null) form.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return form
}

function now(): number {
  return performance.now() / 1000
}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000))
}
