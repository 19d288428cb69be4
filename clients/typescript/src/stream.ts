// The format of server-sent events, as far as the service uses it.

export interface Block {
  id: string
  data: string
}

/** Iterates over the events of a stream. Comments, which show that the server is there, are skipped. */
export async function* blocks(body: ReadableStream<Uint8Array>, silence: number): AsyncGenerator<Block> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let block: Block = { id: '', data: '' }
  try {
    while (true) {
      const { done, value } = await withTimeout(reader.read(), silence)
      if (done) return
      rest += decoder.decode(value, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const [name, held] = fieldOf(line)
        if (name === 'id') block.id = held
        if (name === 'data') block.data += (block.data === '' ? '' : '\n') + held
        if (line === '' && block.data !== '') yield block
        if (line === '') block = { id: '', data: '' }
      }
    }
  } finally {
    // Without an await: a peer that has gone need not answer.
    void reader.cancel().catch(() => undefined)
  }
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}

async function withTimeout<T>(promise: Promise<T>, seconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TypeError(`The stream was silent for ${seconds} s.`)), seconds * 1000)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
