// Passkeys: data-passkey says what a button or form does. Without them, or without script, the password does it
// (docs/web-app.md#passkeys).

const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0))
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
const known = (list) => list.map(({ id, type }) => ({ id: bytes(id), type }))

async function post(address, body) {
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body ?? {}),
  }).catch(() => null)
  const said = await answer?.json().catch(() => null)
  if (!answer?.ok) throw new Error(said?.details?.[0]?.message ?? said?.message ?? 'That did not arrive. Try again.')
  return said
}

async function add(form) {
  const asked = await post('/api/auth/passkeys/options')
  const publicKey = {
    ...asked,
    challenge: bytes(asked.challenge),
    user: { ...asked.user, id: bytes(asked.user.id) },
    excludeCredentials: known(asked.excludeCredentials),
  }
  const { response } = await navigator.credentials.create({ publicKey })
  await post('/api/auth/passkeys', {
    name: form.elements.name.value,
    clientDataJSON: text(response.clientDataJSON),
    attestationObject: text(response.attestationObject),
  })
  location.assign('/settings/security?done=passkey-added')
}

async function use(address) {
  const asked = await post(`${address}/options`)
  const publicKey = { ...asked, challenge: bytes(asked.challenge), allowCredentials: known(asked.allowCredentials) }
  const { id, response } = await navigator.credentials.get({ publicKey })
  await post(address, {
    credentialId: id,
    userHandle: text(response.userHandle),
    clientDataJSON: text(response.clientDataJSON),
    authenticatorData: text(response.authenticatorData),
    signature: text(response.signature),
  })
}

const ACTS = {
  add,
  'sign-in': async (button) => {
    await use('/api/auth/login/passkey')
    location.assign(button.dataset.next)
  },
  confirm: async (button) => {
    await use('/api/auth/confirm/passkey')
    // The session is confirmed: a form that was held back goes on without the password.
    if ('resend' in button.dataset) HTMLFormElement.prototype.submit.call(document.querySelector('form.stack'))
    else location.assign(button.dataset.next)
  },
}

async function act(event) {
  event.preventDefault()
  const control = event.currentTarget
  const line = document.querySelector('[data-passkey-error]')
  line.hidden = true
  control.inert = true
  try {
    await ACTS[control.dataset.passkey](control)
  } catch (error) {
    // Browsers tell no more than this of a passkey that was not chosen, or is not there.
    const isAborted = error instanceof DOMException
    const isKnown = error.name === 'InvalidStateError'
    line.textContent = isKnown ? 'This device has a passkey of this account already.' : isAborted ? 'No passkey was used.' : error.message
    line.hidden = false
    control.inert = false
  }
}

if (window.PublicKeyCredential) {
  for (const note of document.querySelectorAll('[data-passkey-missing]')) note.hidden = true
  for (const control of document.querySelectorAll('[data-passkey]')) {
    control.addEventListener(control.matches('form') ? 'submit' : 'click', act)
    ;(control.matches('form') ? control : control.parentElement).hidden = false
  }
}
