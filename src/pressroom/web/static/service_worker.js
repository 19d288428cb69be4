// Shows a page of ours while the server cannot be reached. It keeps that page's files, the same for everybody, and nothing else
// (docs/web-app.md#offline). The server puts FILES before this text: their addresses, the page first.

const [OFFLINE, STYLES] = FILES
const CACHE = STYLES // its address changes with every file of ours

addEventListener('install', (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)))
  skipWaiting()
})

async function dropOlder() {
  await registration.navigationPreload?.enable() // A page is asked for while this worker starts.
  for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name)
}

async function load(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request))
  } catch {
    return (await caches.match(OFFLINE)) ?? Response.error()
  }
}

addEventListener('activate', (event) => event.waitUntil(dropOlder()))
addEventListener('fetch', (event) => {
  const { request } = event
  if (request.mode === 'navigate' && request.method === 'GET') event.respondWith(load(event))
  else if (FILES.includes(new URL(request.url).pathname)) event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)))
})
