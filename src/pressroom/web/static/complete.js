// Completes @names, of accounts that one follows, and :emoji: in a text, by keyboard (docs/web-app.md#composing).

const EMOJI = Object.fromEntries(
  `smile 😄 grin 😁 joy 😂 wink 😉 blush 😊 heart_eyes 😍 kiss 😘 thinking 🤔 neutral 😐 smirk 😏 relieved 😌 sleepy 😪 sweat 😅 sob 😭 cry 😢 angry 😠
  scream 😱 sunglasses 😎 party 🥳 confused 😕 hug 🤗 shrug 🤷 facepalm 🤦 wave 👋 ok_hand 👌 thumbsup 👍 thumbsdown 👎 clap 👏 pray 🙏 muscle 💪
  point_right 👉 eyes 👀 heart ❤️ broken_heart 💔 fire 🔥 sparkles ✨ star ⭐ tada 🎉 rocket 🚀 hundred 💯 check ✅ cross ❌ warning ⚠️ bulb 💡
  memo 📝 book 📖 books 📚 newspaper 📰 pencil ✏️ printer 🖨️ camera 📷 film 🎬 music 🎵 guitar 🎸 microphone 🎤 art 🎨 ticket 🎫 gift 🎁 trophy 🏆
  sun ☀️ cloud ☁️ rain 🌧️ snow ❄️ rainbow 🌈 moon 🌙 earth 🌍 ocean 🌊 mountain ⛰️ tree 🌳 leaf 🍃 flower 🌸 rose 🌹 fox 🦊 cat 🐱 dog 🐶 bird 🐦 bee 🐝
  coffee ☕ tea 🍵 beer 🍺 wine 🍷 bread 🍞 pizza 🍕 cake 🍰 apple 🍎 car 🚗 train 🚆 plane ✈️ bike 🚲 ship 🚢 house 🏠 key 🔑 lock 🔒 bell 🔔 clock ⏰
  calendar 📅 mail 📧 phone 📱 computer 💻 link 🔗 pin 📌 scissors ✂️ hammer 🔨 bug 🐛 question ❓ exclamation ❗ plus ➕ zzz 💤`
    .split(/\s+/)
    .reduce((pairs, word, at, all) => (at % 2 ? pairs : [...pairs, [word, all[at + 1]]]), []),
)
const MOST = 6

function complete(field) {
  const list = Object.assign(document.createElement('ul'), { className: 'completions', id: `${field.id}-completions`, hidden: true })
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Completions')
  field.after(list)
  field.setAttribute('aria-controls', list.id)
  field.setAttribute('aria-autocomplete', 'list')
  let found = []
  let at = 0
  let latest = 0

  const word = () => /(?:^|[\s(])([@:])([\w]{1,30})$/.exec(field.value.slice(0, field.selectionStart))

  function close() {
    found = []
    latest++
    list.hidden = true
    list.replaceChildren()
    field.removeAttribute('aria-activedescendant')
  }

  function draw() {
    list.replaceChildren(...found.map(({ shown }, place) => {
      const item = Object.assign(document.createElement('li'), { id: `${list.id}-${place}`, textContent: shown })
      item.setAttribute('role', 'option')
      item.setAttribute('aria-selected', place === at)
      item.addEventListener('mousedown', (event) => (event.preventDefault(), choose(place)))
      return item
    }))
    list.hidden = !found.length
    if (found.length) field.setAttribute('aria-activedescendant', `${list.id}-${at}`)
    else field.removeAttribute('aria-activedescendant')
  }

  function choose(place) {
    const now = word()
    const { text } = found[place]
    close()
    if (!now) return
    field.setRangeText(`${text} `, field.selectionStart - now[2].length - 1, field.selectionStart, 'end')
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }

  field.addEventListener('input', async () => {
    const now = word()
    const number = ++latest
    if (!now || (now[1] === ':' && now[2].length < 2)) return close()
    if (now[1] === ':') {
      const prefix = now[2].toLowerCase()
      found = Object.entries(EMOJI).filter(([name]) => name.startsWith(prefix)).slice(0, MOST).map(([name, text]) => ({ text, shown: `${text} ${name}` }))
    } else {
      const answer = await fetch(`${field.dataset.complete}?prefix=${encodeURIComponent(now[2])}`).catch(() => null)
      const accounts = answer?.ok ? (await answer.json()).accounts : []
      if (number !== latest) return
      found = accounts.slice(0, MOST).map(({ username, displayName }) => ({ text: `@${username}`, shown: `@${username} ${displayName}` }))
    }
    at = 0
    draw()
  })
  field.addEventListener('keydown', (event) => {
    if (list.hidden || event.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') at = (at + (event.key === 'ArrowDown' ? 1 : -1) + found.length) % found.length
    else if ((event.key === 'Enter' && !event.ctrlKey && !event.metaKey) || event.key === 'Tab') return event.preventDefault(), choose(at)
    else if (event.key === 'Escape') return event.preventDefault(), close()
    else return
    event.preventDefault()
    draw()
  })
  field.addEventListener('blur', close)
}

for (const field of document.querySelectorAll('textarea[data-complete]')) complete(field)
