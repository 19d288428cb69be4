// A program over the client that openapi-typescript and openapi-fetch make of the document: every call is typed by it.
// node publish.js BASE_URL KEY PICTURE_IN_BASE64 prints what it saw as one line of JSON.
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

declare const process: { argv: string[] }

const [, , baseUrl = '', key = '', picture = ''] = process.argv
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } })

function ok<T>(answer: { data?: T; error?: components['schemas']['Problem'] }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error))
  return answer.data
}

function form(fields: Record<string, unknown>): FormData {
  const filled = new FormData()
  const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0))
  filled.append('media', new Blob([bytes], { type: 'image/png' }), 'proof.png')
  for (const text of fields['altText'] as string[]) filled.append('altText', text)
  filled.append('content', String(fields['content']))
  filled.append('location', JSON.stringify(fields['location']))
  return filled
}

async function untilReady(id: string): Promise<components['schemas']['Post']> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    const post = ok(await api.GET('/api/posts/{id}', { params: { path: { id } } }))
    if (post.media?.every((file) => file.processingStatus !== 'PROCESSING')) return post
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`The files of ${id} are not processed after a minute.`)
}

const once = { header: { 'Idempotency-Key': 'from-typescript' } }
const made = await api.POST('/api/posts', { params: once, body: { content: 'By a generated client' } })
const post = ok(made)
const again = await api.POST('/api/posts', { params: once, body: { content: 'Another body' } })
const edited = ok(
  await api.PATCH('/api/posts/{id}', { params: { path: { id: post.id } }, body: { content: 'Edited' } }),
)
const uploaded = ok(
  await api.POST('/api/posts/upload', {
    body: { media: [], content: 'A picture', altText: ['A proof'], location: { name: 'Köln', latitude: 50.9 } },
    bodySerializer: form,
  }),
)
const ready = await untilReady(uploaded.id)
const params = { path: { id: post.id } }
const comment = ok(await api.POST('/api/posts/{id}/comments', { params, body: { content: 'Well said' } }))
const listed = ok(await api.GET('/api/posts/{id}/comments', { params }))
const bad = await api.POST('/api/posts', { body: { content: ' ', location: { name: 'Nowhere', latitude: 91 } } })
const absent = await api.GET('/api/posts/{id}', { params: { path: { id: 'none' } } })

console.log(
  JSON.stringify({
    status: made.response.status,
    place: made.response.headers.get('Location'),
    replayed: again.response.headers.get('Idempotent-Replayed'),
    differs: again.response.headers.get('Idempotent-Body-Differs'),
    same: again.data?.id === post.id,
    edited: edited.content,
    before: uploaded.media?.map((file) => file.processingStatus),
    after: ready.media?.map((file) => [file.processingStatus, file.altText]),
    location: ready.location?.name,
    comments: listed.comments.map((each) => [each.id === comment.id, each.content]),
    faults: bad.error?.details?.map((fault) => [fault.field, fault.code]),
    label: bad.error?.error,
    absent: [absent.response.status, absent.error?.error],
  }),
)
