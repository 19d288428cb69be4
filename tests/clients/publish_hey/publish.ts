// A program over the client that @hey-api/openapi-ts makes of the document, in the folder `hey`.
// node publish.js BASE_URL KEY prints what it saw as one line of JSON.
import { createPost } from './hey/sdk.gen.js'
import { createClient } from './hey/client/index.js'

declare const process: { argv: string[] }

const [, , baseUrl = '', key = ''] = process.argv
const client = createClient({ baseUrl, auth: key })
const headers = { 'Idempotency-Key': 'from-hey-api' }

const made = await createPost({ client, headers, body: { content: 'By a generated client' } })
const again = await createPost({ client, headers, body: { content: 'Another body' } })
const bad = await createPost({ client, body: { content: ' ' } })

console.log(
  JSON.stringify({
    status: made.response?.status,
    content: made.data?.content,
    same: again.data?.id === made.data?.id,
    replayed: again.response?.headers.get('Idempotent-Replayed'),
    label: bad.error?.error,
  }),
)
