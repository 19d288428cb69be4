// The box to write in: files before they are sent, uploads, suggestions, and text that is kept until it is sent.
// Every page works without it (docs/web-app.md#composing).

const MOST_FILES = 10
const MOST_BYTES = 50 * 1024 * 1024
const KEPT = 'pressroom.unsent.'
const LEFT_OUT = new Set(['idempotency_key', 'media', 'altText', 'video'])

const form = document.querySelector('form[data-compose]')
const state = form?.querySelector('[data-upload-state]')
const chosenList = form?.querySelector('[data-chosen]')
const alert = form?.querySelector('[data-alert]')
let chosen = []
let leftOut = [] // names of files that are too large, until it was asked about them
let request = null

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

function say(words) {
  const line = document.getElementById('said')
  if (line) line.textContent = words
}

// --- Unsent text: kept in this browser, for this account, until it is sent or its owner signs out.

const place = form && KEPT + form.dataset.compose

function storage(act) {
  try {
    return act(localStorage)
  } catch {
    return null // A browser may forbid it, or be full.
  }
}

function keep() {
  const texts = {}
  for (const field of form.elements)
    if (field.name && field.type !== 'file' && !LEFT_OUT.has(field.name))
      texts[field.name] = field.type === 'checkbox' ? field.checked : field.value
  const isEmpty = !['content', 'caption', 'usernames', 'poll.question', 'poll.options', 'location.name'].some((name) => texts[name])
  storage((kept) => (isEmpty ? kept.removeItem(place) : kept.setItem(place, JSON.stringify(texts))))
}

function openAround(element) {
  for (let part = element.closest('details'); part; part = part.parentElement.closest('details')) part.open = true
}

function bringBack() {
  const asked = new URLSearchParams(location.search)
  const done = asked.get('done')
  if (['post-published', 'clip-published', 'too-late'].includes(done)) return storage((kept) => kept.removeItem(place))
  if (document.getElementById('errors') || document.getElementById('preview')) return
  if (form.elements.draft?.value || asked.has('text') || asked.has('url')) return // The server filled it in.
  const texts = storage((kept) => JSON.parse(kept.getItem(place)))
  if (!texts || typeof texts !== 'object') return
  for (const [name, value] of Object.entries(texts)) {
    const field = form.elements[name]
    if (!field || !field.matches || LEFT_OUT.has(name)) continue
    if (name === 'hubId' && asked.get('hub')) continue // The link that led here says into which.
    if (name === 'publishAt_zone') continue
    if (field.type === 'checkbox') field.checked = value === true
    else if (typeof value === 'string' && !(field.tagName === 'SELECT' && ![...field.options].some((each) => each.value === value))) field.value = value
    if (value && field.tagName !== 'SELECT') openAround(field)
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
}

// --- Files: chosen several at once, shown, described, put in order.

function add(files) {
  for (const file of files) {
    if (chosen.length >= MOST_FILES || file.size > MOST_BYTES) leftOut.push(file.name)
    else chosen.push({ file, url: URL.createObjectURL(file), text: '' })
  }
  draw()
  warn()
}

// What is wrong with the files stands above the buttons from the moment they are chosen.
function warn() {
  if (!alert) return
  const words = leftOut.map((name) => `${name} is not part of the post: a post has up to ${MOST_FILES} files of 50 MB.`)
  const hasPoll = ['poll.question', 'poll.options'].some((name) => form.elements[name].value.trim())
  if (hasPoll && (chosen.length || form.querySelector('[name=mediaIds]:checked'))) words.push('A post has a poll or files, not both. Remove one of them.')
  alert.hidden = !words.length
  if (alert.textContent !== words.join(' ')) alert.textContent = words.join(' ')
}

function move(at, by) {
  const [each] = chosen.splice(at, 1)
  if (by) chosen.splice(at + by, 0, each)
  else URL.revokeObjectURL(each.url)
  draw()
  warn()
  const next = chosenList.children[Math.min(by ? at + by : at, chosen.length - 1)]
  ;(next?.querySelector(by < 0 ? '[data-up]' : by > 0 ? '[data-down]' : '[data-remove]') ?? form.querySelector('[data-add] input')).focus()
  say(by ? `Now file ${at + by + 1} of ${chosen.length}` : `${each.file.name} was taken out`)
}

function draw() {
  chosenList.hidden = !chosen.length
  chosenList.replaceChildren(...chosen.map(row))
}

function row(each, at) {
  const { file } = each
  const text = make('input', { type: 'text', value: each.text, ariaLabel: `What file ${at + 1} shows`, placeholder: 'What it shows' })
  text.addEventListener('input', () => (each.text = text.value))
  const shown = file.type.startsWith('image/') ? make('img', { src: each.url, alt: '' }) : make('span', { ariaHidden: 'true' })
  const act = (words, label, kind, by) => {
    const button = make('button', { type: 'button', className: 'quiet', textContent: words, ariaLabel: `${label}: ${file.name}` })
    button.dataset[kind] = ''
    button.addEventListener('click', () => move(at, by))
    return button
  }
  const acts = make('p', { className: 'file-acts' })
  if (at) acts.append(act('↑', 'Move up', 'up', -1))
  if (at < chosen.length - 1) acts.append(act('↓', 'Move down', 'down', 1))
  acts.append(act('Remove', 'Remove', 'remove', 0))
  const element = make('div', { className: 'chosen-file', draggable: true })
  element.addEventListener('dragstart', ({ dataTransfer }) => dataTransfer.setData('application/x-place', at))
  element.addEventListener('drop', (event) => {
    const from = event.dataTransfer.getData('application/x-place')
    if (from === '') return
    event.preventDefault()
    event.stopPropagation()
    form.classList.remove('drop-here')
    if (Number(from) !== at) move(Number(from), at - from)
  })
  element.append(shown, make('p', { className: 'name', textContent: `${at + 1}. ${file.name}` }), text, acts)
  return element
}

// --- Sending: with progress, and told where it fails. What was typed and chosen stays.

function body(submitter, withFiles) {
  const data = new FormData(form, submitter)
  if (!chosenList) return data
  data.delete('media')
  data.delete('altText')
  for (const { file, text } of withFiles ? chosen : []) {
    data.append('media', file)
    data.append('altText', text)
  }
  return data
}

function tell(words, isOver = true) {
  state.hidden = false
  state.querySelector('[data-upload-words]').textContent = words
  for (const part of state.querySelectorAll('progress, button')) part.hidden = isOver
  say(words)
}

function end() {
  request = null
  form.removeAttribute('data-sent')
  for (const button of form.querySelectorAll('[type=submit]')) {
    button.removeAttribute('aria-disabled')
    if (button.dataset.words) button.textContent = button.dataset.words
  }
}

function shownAgain(page) {
  document.getElementById('errors')?.remove()
  document.getElementById('preview')?.remove()
  const key = page.querySelector('form[data-compose] [name=idempotency_key]')?.value
  if (key) form.elements.idempotency_key.value = key
  const part = page.getElementById('errors') ?? page.getElementById('preview')
  if (part) {
    part.removeAttribute('autofocus')
    form.before(document.adoptNode(part))
    part.focus()
    for (const link of part.querySelectorAll('a[href^="#"]')) form.querySelector(link.hash)?.closest('details')?.setAttribute('open', '')
    const version = page.querySelector('form[data-compose] [name=version]')?.value
    if (version && page.getElementById('stale')) {
      document.getElementById('stale')?.remove()
      form.before(document.adoptNode(page.getElementById('stale')))
      form.elements.version.value = version
    }
    return true
  }
  const words = page.querySelector('main p')?.textContent?.trim()
  if (words) tell(words)
  return Boolean(words)
}

// Without the attribute, the property is the address of the page.
const addressOf = (button) => (button.hasAttribute('formaction') ? button.formAction : form.action)

async function send(event) {
  event.preventDefault()
  event.stopPropagation()
  if (request) return
  const button = event.submitter ?? form.querySelector('.primary[type=submit]')
  const isPreview = button.dataset.preview !== undefined
  if (!isPreview && leftOut.length && !confirm(`${leftOut.join(', ')} is too large and is not sent. Go on without it?`)) return form.removeAttribute('data-sent')
  leftOut = []
  warn()
  await form.pendingSave // It may bring the draft's next version.
  const data = body(button, !isPreview)
  if (isPreview && chosen.length && !data.get('content')) return tell('There is no text to preview. The files are shown above.')
  request = new XMLHttpRequest()
  request.open('POST', isPreview ? '/preview' : addressOf(button))
  request.responseType = 'document'
  button.dataset.words ??= button.textContent
  button.textContent = button.dataset.busy ?? button.dataset.words
  button.setAttribute('aria-disabled', 'true')
  const bar = state.querySelector('progress')
  bar.value = 0
  if (!isPreview) tell('Sending…', false)
  request.upload.addEventListener('progress', ({ loaded, total, lengthComputable }) => {
    if (isPreview || !lengthComputable) return
    bar.max = total
    bar.value = loaded
    const percent = Math.floor((100 * loaded) / total)
    state.querySelector('[data-upload-words]').textContent = `Sending… ${percent} %`
  })
  // What has arrived whole may be published: it can be called off no more.
  request.upload.addEventListener('load', () => !isPreview && ((state.querySelector('button').hidden = true), say('Sent. Publishing…')))
  request.addEventListener('load', () => answered(isPreview))
  request.addEventListener('error', () => (end(), tell('The connection was lost. What you wrote is still here: send it again. It is published once, however often you send it.')))
  request.addEventListener('abort', () => (end(), callOff(button)))
  request.send(data)
}

// What has been called off may have arrived all the same. The server tells, and then takes it no more.

async function callOff(button) {
  tell('Cancelling…')
  const address = addressOf(button)
  const key = form.elements.idempotency_key
  const sent = new URLSearchParams({ called_off: 'true', idempotency_key: key.value })
  const answer = await fetch(address, { method: 'POST', body: sent }).catch(() => null)
  const said = answer?.ok && (await answer.json().catch(() => null))
  if (!said) return tell('Cancelled, but whether it had arrived is not known. Look at your posts, or send it again: it is published once, however often you send it.')
  if (said.wasDone) {
    storage((kept) => kept.removeItem(place))
    return location.assign(`${address === form.action ? address : '/drafts'}?done=too-late`)
  }
  key.value = said.idempotencyKey
  tell('Cancelled. Nothing was published.')
}

function answered(isPreview) {
  const { response, responseURL, status } = request
  const address = new URL(responseURL)
  end()
  state.hidden = true
  if (!isPreview && status < 400) {
    storage((kept) => address.pathname !== '/login' && kept.removeItem(place))
    return location.assign(address)
  }
  if (status === 404 && form.elements.draft?.value) {
    form.elements.draft.value = form.elements.version.value = ''
    return tell('The draft was deleted elsewhere. What you wrote is still here: send it again.')
  }
  if (status < 400 && address.pathname === '/login') return location.assign(address)
  if (!response || !shownAgain(response)) tell(`That failed with status ${status}. Nothing was published; send it again.`)
}

// --- Suggestions of user names, of those whom one follows.

const lineStart = (field) => field.value.lastIndexOf('\n', field.selectionStart - 1) + 1

function suggest(field) {
  const list = make('p', { className: 'suggestions', role: 'group', ariaLabel: 'Suggestions' })
  field.after(list)
  let latest = 0
  field.addEventListener('input', async () => {
    const number = ++latest
    const prefix = field.value.slice(lineStart(field), field.selectionStart).trim()
    if (!/^@?\w{1,30}$/.test(prefix)) return list.replaceChildren()
    const answer = await fetch(`${field.dataset.suggest}?prefix=${encodeURIComponent(prefix)}`).catch(() => null)
    const found = answer?.ok ? (await answer.json()).accounts : []
    if (number !== latest) return
    list.replaceChildren(...found.map(({ username, displayName }) => {
      const button = make('button', { type: 'button', className: 'quiet', textContent: `@${username}`, title: displayName })
      button.addEventListener('click', () => {
        // More may have been typed since these were suggested.
        field.setRangeText(`${username}\n`, lineStart(field), field.selectionStart, 'end')
        list.replaceChildren()
        field.focus()
        field.dispatchEvent(new Event('input', { bubbles: true }))
      })
      return button
    }))
  })
}

// --- All of it

for (const field of document.querySelectorAll('[data-suggest]')) suggest(field)
if (form) {
  const input = form.querySelector('[data-add] input')
  if (input) {
    form.querySelector('[data-add]').hidden = false
    form.querySelector('.file-rows').classList.add('with-script')
    input.addEventListener('change', () => {
      add(input.files)
      input.value = ''
    })
  }
  const audience = form.elements.visibility
  const readers = form.querySelector('[data-part="CUSTOM"]')
  const showReaders = () => {
    if (readers) readers.hidden = audience.value !== 'CUSTOM' && !form.elements.usernames.value
    if (readers && audience.value === 'CUSTOM') readers.open = true
  }
  audience.addEventListener('change', showReaders)
  bringBack()
  showReaders()
  form.addEventListener('input', keep)
  form.addEventListener('change', keep)
  form.addEventListener('submit', send)
  form.addEventListener('input', warn)
  form.addEventListener('change', warn)
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return
    event.preventDefault()
    form.requestSubmit(form.querySelector('button.primary[type=submit]'))
  })
  if (input) {
    const filesOf = ({ clipboardData, dataTransfer }) => [...((clipboardData ?? dataTransfer)?.files ?? [])]
    form.addEventListener('paste', (event) => {
      if (filesOf(event).length) event.preventDefault()
      add(filesOf(event))
    })
    form.addEventListener('dragover', (event) => {
      event.preventDefault()
      form.classList.add('drop-here')
    })
    form.addEventListener('dragleave', () => form.classList.remove('drop-here'))
    form.addEventListener('drop', (event) => {
      form.classList.remove('drop-here')
      if (!filesOf(event).length) return
      event.preventDefault()
      add(filesOf(event))
    })
  }
  state.querySelector('[data-cancel]').addEventListener('click', () => request?.abort())
}
