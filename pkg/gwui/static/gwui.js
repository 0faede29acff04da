// Updates of open pages, and shortcuts. Everything else works without this module.
const body = document.body
const root = body.dataset.root
const policy = globalThis.trustedTypes?.createPolicy('gw', { createHTML: (html) => html })
const $ = (id) => document.getElementById(id)

// What the browser remembers; where it may not, nothing.
const memory = {
  get: (name) => { try { return localStorage.getItem(name) } catch { return null } },
  set: (name, value) => { try { localStorage.setItem(name, value) } catch { /* it is a comfort only */ } },
}

// A reload does not repeat what was done.
const here = new URL(location.href)
if (here.searchParams.has('op') && !here.pathname.endsWith('/operations')) {
  here.searchParams.delete('op')
  history.replaceState(null, '', here)
}

// --- Updates ---

const pending = new Map() // the newest state of panels that must not be swapped now
let stream, paused = false

// isBusy tells whether somebody is at work in a panel: swapping it would take that away.
function isBusy(panel) {
  if (panel.contains(document.activeElement)) return true
  if (panel.querySelector('input[type=checkbox]:checked, details.menu[open], dialog[open]')) return true
  const selection = document.getSelection()
  return selection && !selection.isCollapsed && panel.contains(selection.anchorNode)
}

function swap() {
  if (paused) return
  for (const [id, { html, mark }] of pending) {
    const panel = $(id)
    const target = panel?.querySelector(':scope > .body')
    if (!target || panel.dataset.mark === mark) { pending.delete(id); continue }
    if (isBusy(panel)) continue
    const open = [...target.querySelectorAll('details')].map((d) => d.open)
    target.innerHTML = policy ? policy.createHTML(html) : html
    panel.dataset.mark = mark
    target.querySelectorAll('details').forEach((d, i) => { if (open[i]) d.open = true })
    pending.delete(id)
    enhance(target)
  }
  tell(pending.size ? 'Updates wait while you work here' : 'Up to date')
}

function tell(text) {
  const state = $('live-state')
  if (state && state.textContent !== text) state.textContent = text
}

function connect() {
  if (stream || paused || document.hidden || !body.dataset.stream || !globalThis.EventSource) return
  stream = new EventSource(body.dataset.stream)
  stream.addEventListener('panels', (event) => {
    for (const [id, shown] of Object.entries(JSON.parse(event.data))) pending.set(id, shown)
    swap()
  })
  stream.addEventListener('error', () => {
    tell('Connection lost')
    if (stream.readyState === EventSource.CLOSED) disconnect()
  })
}

function disconnect() {
  stream?.close()
  stream = undefined
}

function pause() {
  paused = !paused
  $('pause').setAttribute('aria-pressed', String(paused))
  $('pause').textContent = paused ? 'Go on with updates' : 'Pause updates'
  if (paused) { disconnect(); tell('Paused') } else { swap(); connect() }
}

document.addEventListener('visibilitychange', () => { document.hidden ? disconnect() : connect() })
addEventListener('pagehide', disconnect)
document.addEventListener('focusout', () => setTimeout(swap, 200))
if (body.dataset.stream && globalThis.EventSource) {
  document.querySelector('.live').hidden = false
  $('pause').addEventListener('click', pause)
  connect()
}

// --- Times relative to now, which the server writes in the same way ---

const ahead = Date.now() - Date.parse(body.dataset.now) // of this clock

function lasting(s) {
  const two = (n, unit, rest, smaller) => rest ? `${n} ${unit} ${rest} ${smaller}` : `${n} ${unit}`
  const [min, h, d] = [60, 3600, 86400].map((unit) => Math.floor(s / unit))
  if (s < 60) return `${s} s`
  if (s < 3600) return `${min} min`
  if (h < 48) return two(h, 'h', min % 60, 'min')
  return d < 10 ? two(d, 'd', h % 24, 'h') : `${d} d`
}

function tick() {
  if (paused || document.hidden || !document.getSelection()?.isCollapsed) return
  for (const time of document.querySelectorAll('time[title]')) {
    const past = Math.floor((Date.now() - ahead - Date.parse(time.dateTime)) / 1000)
    if (Number.isNaN(past)) continue
    const [, prefix, suffix] = time.textContent.match(/^(due |for )?[^,]*(.*)$/)
    let text = past > 0 ? `${lasting(past)} ago` : past < -1 ? `in ${lasting(-past - 1)}` : 'now'
    if (prefix === 'for ') text = lasting(Math.max(0, past))
    text = (prefix ?? '') + text + suffix
    if (time.textContent !== text) time.textContent = text
  }
}

if (body.dataset.stream) setInterval(() => { if (pending.size) swap(); tick() }, 1000)

// --- Parts of pages ---

function enhance(part) {
  for (const button of part.querySelectorAll('[data-copy]')) {
    if (!navigator.clipboard) continue
    button.hidden = false
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText($(button.dataset.copy).textContent)
      button.textContent = 'Copied'
      setTimeout(() => { button.textContent = 'Copy' }, 2000)
    })
  }
  const all = part.querySelector('[data-all]')
  if (all) {
    all.hidden = false
    all.addEventListener('change', () => { for (const box of boxes()) box.checked = all.checked })
  }
}

const boxes = () => document.querySelectorAll('[data-rows] input[name=id]')

function tellSelected() {
  for (const count of document.querySelectorAll('[data-count]')) {
    count.textContent = [...boxes()].filter((box) => box.checked).length || ''
  }
}

document.addEventListener('change', tellSelected)

function closeMenus(except) {
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    if (menu.contains(except)) continue
    menu.open = false
    if (menu.contains(document.activeElement)) menu.querySelector('summary').focus()
    setTimeout(swap, 200)
  }
}

document.addEventListener('click', (event) => closeMenus(event.target))
enhance(document)

// --- Shortcuts ---

const shortcuts = $('shortcuts')
if (shortcuts) {
  shortcuts.disabled = false
  shortcuts.checked = memory.get('gw-shortcuts') !== 'off'
  shortcuts.addEventListener('change', () => memory.set('gw-shortcuts', shortcuts.checked ? 'on' : 'off'))
}

const rowOf = (element) => element?.closest('tr, .card')

const links = () => [...document.querySelectorAll('main tbody tr, main .card')]
  .map((row) => row.querySelector('td a[href], .does a[href]')).filter((link) => link && link.offsetParent)

function move(step) {
  const all = links()
  if (!all.length) return
  const row = rowOf(document.activeElement)
  const at = all.findIndex((link) => rowOf(link) === row)
  all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + step))].focus()
}

function select() {
  const box = rowOf(document.activeElement)?.querySelector('input[type=checkbox]')
  if (box) box.checked = !box.checked
  tellSelected()
}

let going = 0 // when g was pressed

function go(key) {
  for (const link of document.querySelectorAll('nav a')) if (link.dataset.key === key) link.click()
}

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') closeMenus(null)
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
  if (memory.get('gw-shortcuts') === 'off') return
  if (event.target.closest('input:not([type=checkbox]), select, textarea')) {
    if (event.key === 'Escape') event.target.blur()
    return
  }
  if (going && Date.now() - going < 2000) {
    going = 0
    go(event.key)
    return
  }
  const act = {
    '/': () => $('find').focus(), j: () => move(1), k: () => move(-1), x: select, b: () => document.querySelector('[data-rows] .acts button')?.focus(), p: () => body.dataset.stream && pause(),
    '?': () => { location.href = root + 'help' }, g: () => { going = Date.now() },
  }[event.key]
  if (!act) return
  event.preventDefault()
  act()
})
