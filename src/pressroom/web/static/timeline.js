// The timeline beyond HTML: it counts new entries, and continues in place. It works without (docs/web-app.md#script).

const EVERY = 60_000
const PLACE = 'pressroom.timeline'

const counted = document.querySelector('[data-new]')
let after = counted?.dataset.new

// --- New entries: asked for once a minute while the page is in sight.

async function lookForNew() {
  if (document.hidden) return
  const answer = await fetch(`/api/timeline/new?after=${encodeURIComponent(after)}`).catch(() => null)
  if (!answer?.ok) return
  const found = await answer.json()
  after = found.after
  if (!found.count) return
  const words = `${found.count}${found.count === 20 ? ' or more' : ''} new ${found.count === 1 ? 'post' : 'posts'}`
  const link = counted.querySelector('a')
  if (link.textContent !== words) link.textContent = words
  counted.hidden = false
}

if (counted) setInterval(lookForNew, EVERY)

// --- Further pages: appended in place. Their number and the place in the page are kept in this tab, for the way back.

function inTab(act) {
  try {
    return act(sessionStorage)
  } catch {
    return null // A browser may forbid it.
  }
}

let pages = 0

async function loadMore(link) {
  link.setAttribute('aria-busy', 'true')
  link.textContent = 'Loading…'
  const answer = await fetch(link.href).catch(() => null)
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), 'text/html')
  const entries = page && page.querySelector('[data-entries]')
  if (!entries) return false
  const added = [...entries.querySelectorAll(':scope > article')].filter(({ id }) => !document.getElementById(id))
  document.querySelector('[data-entries]').append(...added)
  const pager = page.querySelector('[data-pager] [rel=next]')
  if (pager) link.replaceWith(pager)
  else link.remove()
  pages += 1
  return added
}

document.addEventListener('click', async (event) => {
  const link = event.target.closest('[data-pager] a[rel=next]')
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  if (link.getAttribute('aria-busy')) return
  const added = await loadMore(link)
  if (!added) return location.assign(link.href)
  const line = document.getElementById('said')
  if (line) line.textContent = `${added.length} more ${added.length === 1 ? 'post' : 'posts'}`
  const first = added[0]
  first?.setAttribute('tabindex', '-1')
  first?.focus({ preventScroll: true })
})

addEventListener('pagehide', () => {
  const place = JSON.stringify({ path: location.href, pages, top: scrollY })
  inTab((kept) => (pages ? kept.setItem(PLACE, place) : kept.removeItem(PLACE)))
})

async function goBack() {
  const [entry] = performance.getEntriesByType('navigation')
  const left = inTab((kept) => JSON.parse(kept.getItem(PLACE)))
  if (entry?.type !== 'back_forward' || left?.path !== location.href) return
  for (let page = 0; page < left.pages; page += 1) {
    const link = document.querySelector('[data-pager] a[rel=next]')
    if (!link || !(await loadMore(link))) break
  }
  scrollTo({ top: left.top, behavior: 'instant' })
}

if (document.querySelector('[data-entries]')) goBack()
