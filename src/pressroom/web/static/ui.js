// What the pages of the app do beyond HTML. Every page works without it (docs/web-app.md#script).

const MINUTE = 60_000
const LIVE_FOR = 10 * MINUTE
const TOAST_FOR = 6_000

// Read aloud alone: the page shows it.
function say(words) {
  const line = document.getElementById('said')
  if (!line) return
  line.textContent = words
  line.classList.remove('shown')
}

// A toast: names an action in place that the page does not show.
let lastToast = 0

function toast(words) {
  say(words)
  document.getElementById('said')?.classList.add('shown')
  clearTimeout(lastToast)
  lastToast = setTimeout(say, TOAST_FOR, '')
}

const pageOf = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html')
const focusOn = (element) => {
  element.setAttribute('tabindex', '-1')
  element.focus({ preventScroll: true })
}

// --- Copy: data-copy holds the text. Away from https and localhost browsers have no clipboard: the text is selected.

async function copy(button) {
  const words = button.textContent
  try {
    await navigator.clipboard.writeText(button.dataset.copy)
  } catch {
    const shown = button.parentElement.querySelector('code')
    if (shown) getSelection().selectAllChildren(shown)
    if (!shown || !document.execCommand('copy')) return say('Press Ctrl and C to copy.')
  }
  button.textContent = 'Copied'
  say('Copied')
  setTimeout(() => (button.textContent = words), 2_000)
}

// --- Passwords: data-show-password names the field.

function togglePassword(button) {
  const field = document.getElementById(button.dataset.showPassword)
  const shows = field.type === 'password'
  field.type = shows ? 'text' : 'password'
  button.textContent = shows ? 'Hide' : 'Show'
  button.setAttribute('aria-pressed', String(shows))
  field.focus()
}

// --- Filling in: data-fill names a text area, which gets data-text on a line of its own.

function fill(button) {
  const field = document.getElementById(button.dataset.fill)
  const { text } = button.dataset
  const lines = field.value.split('\n').filter((line) => line.trim())
  if (!lines.includes(text)) field.value = [...lines, text].join('\n')
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.focus()
}

// --- Counters: data-count is the most characters, counted as the server does: code points after normalisation.

function count(field) {
  const line = document.getElementById(`${field.id}-count`)
  const left = Number(field.dataset.count) - [...field.value.normalize('NFC')].length
  if (!line) return
  line.textContent = left < 0 ? `${-left} too many` : `${left} left`
  line.classList.toggle('over', left < 0)
  line.classList.toggle('near', left <= Number(field.dataset.count) / 25)
  line.setAttribute('aria-live', left <= 20 ? 'polite' : 'off')
}

// --- Times: in the reader's locale and zone; the title has them in UTC. An age ("5 min") has the whole time in its title.

const language =
  navigator.languages.find((each) => each.split('-')[0] === document.documentElement.lang) ?? navigator.language
const shownTime = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
const shownSeconds = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' })

function localise(element) {
  const at = new Date(element.dateTime)
  if (Number.isNaN(at.getTime())) return
  const words = (element.dataset.localTime === 'seconds' ? shownSeconds : shownTime).format(at)
  if (element.dataset.localTitle !== undefined) return (element.title = words)
  if (element.textContent === words) return
  element.title = element.textContent
  element.textContent = words
}

function fillLocal(field) {
  const at = new Date(field.dataset.at)
  delete field.dataset.at
  if (Number.isNaN(at.getTime())) return
  field.value = new Date(at.getTime() - at.getTimezoneOffset() * MINUTE).toISOString().slice(0, -1)
}

function zoneAt(local) {
  const at = local ? new Date(local) : new Date()
  const minutes = -(Number.isNaN(at.getTime()) ? new Date() : at).getTimezoneOffset()
  const two = (number) => String(Math.trunc(Math.abs(number))).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}

function setZone(field) {
  const zone = field.form?.elements[field.dataset.zone]
  if (!zone) return
  zone.value = zoneAt(field.value)
  const note = field.parentElement.querySelector('[data-zone-note]')
  if (note) note.textContent = `In your time zone (UTC${zone.value}).`
}

// --- Signing out: what was written and not sent (compose.js) is nobody's any more.

function forgetUnsent() {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith('pressroom.unsent.')) localStorage.removeItem(name)
    sessionStorage.removeItem(TYPED)
  } catch {} // A browser may forbid it.
}

// --- Typed text that met an ended session: data-keep on a form names whose it is. It is kept in this tab until its owner
// is back from the sign-in.

const TYPED = 'pressroom.unsent.typed'

function inTab(act) {
  try {
    return act(sessionStorage)
  } catch {
    return null // A browser may forbid it.
  }
}

function keepTyped(form, isMet) {
  const texts = [...form.elements].filter((field) => field.matches('textarea, input[type=text]')).map(({ name, value }) => [name, value])
  const typed = { whose: form.dataset.keep, action: form.getAttribute('action'), texts, isMet }
  inTab((kept) => kept.setItem(TYPED, JSON.stringify(typed)))
}

function bringBackTyped() {
  const typed = inTab((kept) => JSON.parse(kept.getItem(TYPED)))
  if (!typed) return
  if (location.pathname.startsWith('/login')) return inTab((kept) => kept.setItem(TYPED, JSON.stringify({ ...typed, isMet: true })))
  inTab((kept) => kept.removeItem(TYPED))
  const form = [...document.querySelectorAll('form[data-keep]')].find((each) => each.getAttribute('action') === typed.action)
  if (!typed.isMet || form?.dataset.keep !== typed.whose) return
  for (const [name, value] of typed.texts) {
    const field = form.elements[name]
    if (field?.matches?.('textarea, input[type=text]')) field.value = value
  }
}

// --- Forms: sent once, and the button says so.

function submit(event) {
  const form = event.target
  if (form.getAttribute('action') === '/logout') forgetUnsent()
  if (form.hasAttribute('data-sent')) return event.preventDefault()
  for (const field of form.querySelectorAll('[data-zone]')) setZone(field)
  form.setAttribute('data-sent', '')
  if (form.dataset.keep && !form.dataset.act) keepTyped(form, false)
  const button = event.submitter
  if (button?.dataset.busy) {
    button.dataset.words = button.textContent
    button.textContent = button.dataset.busy
    button.setAttribute('aria-disabled', 'true')
  }
  if (form.hasAttribute('data-upload')) upload(event, form)
  else if (form.closest('dialog')) {
    event.preventDefault()
    doAsked(form)
  }
  else if (form.dataset.act) {
    event.preventDefault()
    act(form, form.action, { method: 'POST', body: new URLSearchParams(new FormData(form, button)) })
  }
}

function makeReady(form) {
  form.removeAttribute('data-sent')
  for (const button of form.querySelectorAll('[data-words]')) {
    button.textContent = button.dataset.words
    delete button.dataset.words
    button.removeAttribute('aria-disabled')
  }
}

// --- Uploads: data-upload on a form shows in its <progress> how much has gone.

function upload(event, form) {
  event.preventDefault()
  const progress = form.querySelector('progress')
  const request = new XMLHttpRequest()
  request.open('POST', form.action)
  request.responseType = 'document'
  request.upload.addEventListener('progress', ({ loaded, total, lengthComputable }) => {
    if (!progress || !lengthComputable) return
    progress.hidden = false
    progress.max = total
    progress.value = loaded
  })
  request.addEventListener('load', () => {
    const page = request.response?.getElementById('main')
    if (request.responseURL && request.responseURL !== form.action) location.assign(request.responseURL)
    else if (page) {
      document.getElementById('main').replaceWith(page)
      enhance(page)
      document.getElementById('errors')?.focus()
    } else fail()
  })
  const fail = () => {
    if (progress) progress.hidden = true
    makeReady(form)
    say('That did not arrive. Try again.')
  }
  request.addEventListener('error', fail)
  request.addEventListener('timeout', fail)
  request.send(new FormData(form, event.submitter))
}

// --- In place: data-act on a form or a link names the part of the page that is fetched anew, at the address that the
// form leads back to. What is refused is told beside the form; what leads elsewhere, such as to the sign-in, is followed.

async function act(control, address, options) {
  const part = document.getElementById(control.dataset.act)
  const key = document.activeElement?.dataset.key
  part.setAttribute('aria-busy', 'true')
  const answer = await fetch(address, options).catch(() => null)
  const page = answer && (await pageOf(answer))
  part.removeAttribute('aria-busy')
  if (!answer?.ok) return refuse(control, page)
  const fresh = page.getElementById(part.id)
  if (!fresh) {
    if (control.dataset.keep && new URL(answer.url).pathname === '/login') keepTyped(control, true)
    return location.assign(answer.url)
  }
  const before = new Set([...part.querySelectorAll('[id^=comment-]')].map(({ id }) => id))
  if (!options) carryTyped(part, fresh)
  part.replaceWith(fresh)
  enhance(fresh)
  if (options) tellDone(page, fresh)
  const added = options && [...fresh.querySelectorAll('[id^=comment-]')].find(({ id }) => !before.has(id))
  if (added) {
    added.scrollIntoView({ block: 'center' })
    focusOn(added)
  } else if (options) fresh.querySelector(`[data-key="${key}"]`)?.focus()
  else (fresh.querySelector('textarea') ?? fresh).focus()
}

// What a page says after something was done, unless the part that was taken over says it.

function tellDone(page, part) {
  const line = page.getElementById('done')
  if (line && !part?.querySelector('#done')) toast(line.textContent)
}

// What was typed goes along into a reply, also what is typed while its form is on the way. "Cancel" drops it.

function carryTyped(part, fresh) {
  const typed = part.querySelector('textarea')
  if (typed && fresh.querySelector('[name=parentId]')) fresh.querySelector('textarea').value = typed.value
}

function refuse(control, page) {
  makeReady(control)
  const said = [...(page?.querySelectorAll('#errors li, #errors p, main .lead') ?? [])].map((each) => each.textContent)
  const line = control.parentElement.querySelector('.act-error') ?? document.createElement('p')
  line.className = 'act-error'
  line.setAttribute('role', 'alert')
  line.textContent = said.join(' ').trim() || 'That did not arrive. Try again.'
  control.parentElement.append(line)
}

// --- Questions: data-ask on a link to a page that asks before something is destroyed. The question stands in a dialog. A
// yes renews the part of the page that data-ask names, or removes it; without a name it leads where the form leads.

let asking = null

async function ask(link) {
  if (asking) return
  asking = link
  const answer = await fetch(link.href).catch(() => null)
  const question = answer?.ok && (await pageOf(answer)).querySelector('[data-question]')
  if (!question) return location.assign(link.href)
  const heading = document.createElement('h2')
  heading.id = 'asked'
  heading.append(...question.querySelector('h1').childNodes)
  question.querySelector('h1').replaceWith(heading)
  question.querySelector('.actions a').setAttribute('autofocus', '')
  const dialog = document.createElement('dialog')
  dialog.setAttribute('aria-labelledby', heading.id)
  dialog.append(question)
  dialog.addEventListener('close', () => {
    dialog.remove()
    asking = null
    // Its menu has closed meanwhile.
    ;(link.closest('details')?.querySelector('summary') ?? link).focus()
  })
  dialog.addEventListener('click', (event) => {
    if (event.target !== dialog && !event.target.closest('.actions a')) return
    event.preventDefault()
    dialog.close()
  })
  document.getElementById('main').append(dialog)
  enhance(dialog)
  dialog.showModal()
}

async function doAsked(form) {
  const link = asking
  const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) }).catch(() => null)
  const page = answer && (await pageOf(answer))
  if (!answer?.ok) return refuse(form, page)
  const part = document.getElementById(link.dataset.ask)
  if (!part || new URL(answer.url).pathname === '/login') return location.assign(answer.url)
  form.closest('dialog').close()
  const fresh = page.getElementById(part.id)
  const next = fresh ?? part.nextElementSibling ?? document.getElementById('main')
  if (fresh) part.replaceWith(fresh)
  else part.remove()
  enhance(next)
  focusOn(next)
  tellDone(page, fresh)
}

// --- Live parts: data-live on what htmx asks for again and again. They rest while nobody looks, and stop after 10 minutes.

const began = new WeakMap()

function liveBefore(event) {
  const part = event.target.closest?.('[data-live]')
  if (!part) return
  if (part.querySelector('[data-live-over]')) return event.preventDefault()
  const now = performance.now()
  if (!began.has(part)) began.set(part, now)
  const isOver = now - began.get(part) > LIVE_FOR
  if (isOver) showStopped(part, true)
  if (isOver || document.hidden) return event.preventDefault()
  const { version } = part.dataset
  if (version) event.detail.ctx.request.headers['If-None-Match'] = `"${version}"`
}

function liveAnswered(event) {
  const part = event.target.closest?.('[data-live]')
  if (!part) return
  const { raw, headers } = event.detail.ctx.response
  if (raw.redirected) {
    event.preventDefault()
    // What is shown once would be lost by loading the page again.
    return document.querySelector('[data-shown-once]') ? showStopped(part, true) : location.reload()
  }
  const version = headers.get('etag')?.match(/"([^"]*)"/)?.[1]
  if (version) part.dataset.version = version
}

function showStopped(part, isStopped) {
  const line = document.querySelector(`[data-live-stopped="${CSS.escape(part.id)}"]`)
  if (line) line.hidden = !isStopped
}

function goOn(button) {
  const part = document.getElementById(button.dataset.goOn)
  if (!part) return
  began.set(part, performance.now())
  showStopped(part, false)
  focusOn(part)
}

// --- The place: what its reader looks at stays where it is in the window, whatever comes or goes above it.

let looked = null

function keepPlace() {
  const at = (element) => element.getBoundingClientRect()
  const inSight = (element) => at(element).bottom > 0 && at(element).top < innerHeight
  const focused = document.querySelector('main :focus')
  const anchor =
    focused && inSight(focused) ? focused : [...document.querySelectorAll('main [id]')].find((each) => at(each).top >= 0)
  looked = scrollY > 0 && anchor ? { anchor, top: at(anchor).top } : null
}

function holdPlace() {
  if (looked?.anchor.isConnected) {
    scrollBy({ top: looked.anchor.getBoundingClientRect().top - looked.top, behavior: 'instant' })
  }
  looked = null
}

// --- Menus: an open one closes by Escape, and by a click or the focus elsewhere.

function closeMenus(event) {
  for (const menu of document.querySelectorAll('details:is(.menu, .more)[open]')) {
    const isInside = menu.contains(event.target)
    if (event.type === 'keydown' ? event.key !== 'Escape' : isInside) continue
    menu.open = false
    if (event.type === 'keydown' && isInside) menu.querySelector('summary').focus()
  }
}

// --- All of it

function enhance(root) {
  for (const button of root.querySelectorAll('[data-copy], [data-show-password], [data-fill], [data-print]')) button.hidden = false
  for (const element of root.querySelectorAll('[data-local-time], [data-local-title]')) localise(element)
  for (const field of root.querySelectorAll('[data-count]')) count(field)
  for (const field of root.querySelectorAll('[data-at]')) fillLocal(field)
  for (const field of root.querySelectorAll('[data-zone]')) setZone(field)
}

document.addEventListener('click', (event) => {
  const { target } = event
  const link = target.closest('a[data-act], a[data-ask]')
  if (link && !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault()
    return link.dataset.act ? act(link, link.href) : ask(link)
  }
  const button = target.closest('button')
  if (button?.dataset.copy !== undefined) copy(button)
  else if (button?.dataset.showPassword) togglePassword(button)
  else if (button?.dataset.fill) fill(button)
  else if (button?.dataset.goOn) goOn(button)
  else if (button?.dataset.print !== undefined) print()
})
document.addEventListener('input', ({ target }) => {
  if (target.dataset?.count) count(target)
  if (target.dataset?.zone) setZone(target)
})
for (const kind of ['click', 'focusin', 'keydown']) document.addEventListener(kind, closeMenus)
document.addEventListener('submit', submit)
document.addEventListener('htmx:config:request', liveBefore)
document.addEventListener('htmx:before:response', liveAnswered)
document.addEventListener('htmx:before:swap', keepPlace)
document.addEventListener('htmx:after:swap', () => {
  enhance(document)
  holdPlace()
})
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) for (const form of document.querySelectorAll('[data-sent]')) makeReady(form)
})

// --- In a narrow window the navigation of the settings scrolls sideways: the present section is in sight.

const section = document.querySelector('.side [aria-current]')
if (section) {
  const side = section.closest('.side')
  const [inner, outer] = [section.getBoundingClientRect(), side.getBoundingClientRect()]
  side.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2
}

// After everything that the page itself needs.
addEventListener('load', () => navigator.serviceWorker?.register('/service-worker.js').catch(() => {}))

bringBackTyped()
enhance(document)
