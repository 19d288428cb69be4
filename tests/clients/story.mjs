// Runs the steps of a story by the TypeScript client, and prints their outcomes as one line of JSON.
// node story.mjs CLIENT BASE_URL KEY STORY
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const [, , client, baseUrl, key, story] = process.argv
const { Pressroom } = await import(client)
const press = new Pressroom(baseUrl, key)
const known = new Map()
const outcomes = []

function filled(value) {
  if (typeof value === 'string' && value.startsWith('$')) {
    const [name, field] = value.slice(1).split('.')
    return known.get(name)[field]
  }
  if (typeof value === 'string' && value.startsWith('@')) {
    const content = new Blob([readFileSync(join(dirname(story), value.slice(1)))], { type: 'image/png' })
    return { content, name: value.slice(1), altText: 'A proof' }
  }
  if (Array.isArray(value)) return value.map(filled)
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, filled(held)]))
  }
  return value
}

for (const step of JSON.parse(readFileSync(story, 'utf8'))) {
  try {
    const called = press[step.call](...filled(step.arguments ?? []))
    const result = Symbol.asyncIterator in called ? await Array.fromAsync?.(called) ?? (await all(called)) : await called
    if (step.as !== undefined) known.set(step.as, result)
    outcomes.push({ gives: result })
  } catch (error) {
    const faults = (error.details ?? []).map((fault) => [fault.field, fault.code])
    outcomes.push({ throws: error.name, status: error.status, faults, requiredScope: error.requiredScope, text: String(error) })
  }
}
console.log(JSON.stringify({ outcomes, shown: `${press} ${JSON.stringify(press)}` }))

async function all(items) {
  const found = []
  for await (const item of items) found.push(item)
  return found
}
