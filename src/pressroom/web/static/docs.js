// Draws the API reference of /docs into #main: the OpenAPI document of this server, and nothing from another one.

const place = document.getElementById('main')
const address = place.dataset.document

function say(sentence) {
  const note = document.createElement('p')
  note.className = 'page'
  note.setAttribute('role', 'status')
  note.append(sentence, ' The raw document is at ')
  const link = document.createElement('a')
  link.href = address
  link.textContent = address
  note.append(link, '.')
  place.replaceChildren(note)
}

async function load() {
  const answer = await fetch(address, { headers: { accept: 'application/json' } })
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`)
  return answer.json()
}

// Its validation library would try whether it may compile code; our Content-Security-Policy says no, and this
// spares the attempt. It has to be set before the library runs, hence the import below and not at the top.
globalThis.__zod_globalConfig = { jitless: true }

say('The API reference is loading.')
try {
  const [content, { createApiReference }] = await Promise.all([
    load(),
    import(place.dataset.library),
  ])
  place.replaceChildren()
  createApiReference(place, {
    content,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    documentDownloadType: 'none', // The header links it.
    hideDarkModeToggle: true, // The page follows the system, as every other one does.
    metaData: { title: document.title },

    // Everything that would speak to another host.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    hideTestRequestButton: true, // scripts/vendor leaves the client out.
  })
} catch (error) {
  console.error(error)
  say('The API reference could not be loaded.')
}
