// The compose box keeps its text as a draft at the server while one types (docs/web-app.md#drafts).
// A change elsewhere comes back as a 409 with that text: both are shown, and neither is lost.

const QUIET = 1500
const form = document.querySelector('form[data-compose]')
const draft = form?.elements.draft
const version = form?.elements.version
const saved = form?.querySelector('[data-saved]')
const conflict = form?.querySelector('[data-conflict]')
let timer = null
let last = ''

const value = (name) => form.elements[name]?.value.trim() ?? ''
const lines = (name) => value(name).split('\n').map((line) => line.trim()).filter(Boolean)

function number(name) {
  const given = Number(value(name).replace(',', '.'))
  return value(name) && Number.isFinite(given) ? given : null
}

// What is not complete yet is left out: half a poll would be refused.
function fields() {
  const options = [...new Set(lines('poll.options'))]
  const link = value('linkPreviewUrl')
  return {
    content: form.elements.content.value || null,
    visibility: value('visibility') || null,
    comments: value('comments') || null,
    hubId: value('hubId') || null,
    usernames: [...new Set(lines('usernames').map((name) => name.replace(/^@/, '')))],
    linkPreviewUrl: /^https?:\/\/[^\s/]+/i.test(link) ? link : null,
    location: value('location.name') ? { name: value('location.name'), latitude: number('location.latitude'), longitude: number('location.longitude') } : null,
    poll: options.length > 1 ? {
      question: value('poll.question') || null,
      options,
      multiple: form.elements['poll.multiple'].checked,
      durationMinutes: Number(value('poll.durationMinutes')) || null,
    } : null,
  }
}

async function save() {
  const now = JSON.stringify(fields())
  if (now === last || form.hasAttribute('data-sent') || !conflict.hidden) return
  if (!draft.value && !fields().content) return
  const body = draft.value ? { ...fields(), version: Number(version.value) } : fields()
  const answer = await fetch(draft.value ? `/api/drafts/${draft.value}` : '/api/drafts', {
    method: draft.value ? 'PATCH' : 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => null)
  if (!answer) return say('Not saved: there is no connection')
  const told = await answer.json().catch(() => ({}))
  if (answer.ok) {
    last = now
    draft.value = told.id
    version.value = told.version
    say('Saved')
    form.dispatchEvent(new Event('change', { bubbles: true }))
  } else if (answer.status === 409 && told.draft) show(told.draft)
  else if (draft.value && (answer.status === 404 || answer.status === 422)) {
    draft.value = version.value = '' // It was deleted or published elsewhere: what is typed becomes a new one.
    later()
  } else say(`Not saved: ${told.details?.[0]?.message ?? told.message ?? answer.status}`)
}

function say(words) {
  saved.textContent = words
}

// One after the other: each needs the version, and the first one the id, that the one before brings back.
function later() {
  clearTimeout(timer)
  timer = setTimeout(() => (form.pendingSave = Promise.resolve(form.pendingSave).then(save)), QUIET)
}

function button(words, act) {
  const element = Object.assign(document.createElement('button'), { type: 'button', textContent: words })
  element.addEventListener('click', act)
  return element
}

function show(other) {
  say('Not saved')
  const mine = form.elements.content
  const settle = (text) => {
    mine.value = text
    version.value = other.version
    conflict.hidden = true
    conflict.replaceChildren()
    mine.focus()
    mine.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const heading = Object.assign(document.createElement('h3'), { textContent: 'This draft was changed in another window' })
  const label = Object.assign(document.createElement('p'), { textContent: 'The text that was saved there:' })
  const text = Object.assign(document.createElement('div'), { className: 'stale-text', dir: 'auto', textContent: other.content ?? '' })
  const acts = Object.assign(document.createElement('p'), { className: 'actions' })
  acts.append(
    button('Keep my text', () => settle(mine.value)),
    button('Use that text', () => settle(other.content ?? '')),
    button('Keep both', () => settle([other.content, mine.value].filter(Boolean).join('\n\n'))),
  )
  conflict.replaceChildren(heading, label, text, acts)
  conflict.hidden = false
  conflict.setAttribute('role', 'alert')
}

// A scheduled draft is not saved half-written: it might be published so.
if (draft && form.dataset.state !== 'scheduled') {
  last = JSON.stringify(fields())
  form.addEventListener('input', later)
  form.addEventListener('submit', () => clearTimeout(timer), true)
}
