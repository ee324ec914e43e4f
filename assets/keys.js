// The keyboard of the console. /console/keys describes it.
import { visit } from '@hotwired/turbo';
import { install } from '@github/hotkey';

const dialog = () => document.querySelector('dialog');

const rows = () =>
  Array.from(
    (dialog() ?? document.querySelector('main')).querySelectorAll('.thread-link, .row-title a'),
  ).filter((one) => one.checkVisibility());

// The number of the row that has the focus, or -1.
const findRow = () => rows().findIndex((one) => one.closest('li, tr').contains(document.activeElement));

function focusRow(at) {
  const links = rows();
  links[Math.min(Math.max(at, 0), links.length - 1)]?.focus();
}

function step(by) {
  const at = findRow();
  focusRow((at < 0 ? rows().findIndex((one) => one.matches('[aria-current]')) : at) + by);
}

// A row that goes leaves the focus to the one that takes its place.
function keepRow({ detail }) {
  if (detail.renderMethod === 'replace') return;
  const { render } = detail;
  detail.render = async (...parts) => {
    const at = findRow();
    await render(...parts);
    if (at >= 0 && document.activeElement === document.body) focusRow(at);
  };
}

addEventListener('turbo:before-render', keepRow);
addEventListener('turbo:before-stream-render', keepRow);

// Shows the frame of another page over this one.
function open(address) {
  dialog()?.remove();
  const box = document.body.appendChild(document.createElement('dialog'));
  box.dataset.turboTemporary = '';
  box.innerHTML = `<turbo-frame id="over" src="${address}" target="_top"></turbo-frame>`;
  box.addEventListener('turbo:frame-load', () => (box.ariaLabel = box.querySelector('h1').textContent));
  box.addEventListener('close', () => box.remove());
  box.showModal();
}

addEventListener('click', (event) => {
  const link = event.target.closest('a[data-over]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  link.closest('details').open = false;
  open(link.href);
});

// The person has signed out.
addEventListener('turbo:frame-missing', (event) => {
  event.preventDefault();
  location.reload();
});

function search() {
  const field = document.querySelector('#search');
  if (field) field.focus();
  else visit('/console/conversations#search');
}

// On the row of Home that has the focus: rows of other pages have buttons of other meanings.
const press = (button) =>
  document.activeElement.closest('#waiting-for-you .row')?.querySelector(`.row-side ${button}`)?.click();

// To the message that has the focus, or to the last one.
const reply = () =>
  document.activeElement.closest('.message')?.querySelector('.reply') ??
  [...document.querySelectorAll('.reply')].at(-1);

// The conversation of the row that has the focus, or the one that is open.
const mark = (names) =>
  (document.activeElement.closest('.thread:has(.marks)') ?? document.querySelector('.thread-head'))
    ?.querySelector(`.marks :is(${names})`)
    ?.click();

const letters = {
  '/': search,
  '?,Shift+?': () => open('/console/keys'),
  j: () => step(1),
  k: () => step(-1),
  a: () => press('.primary'),
  d: () => press('button.quiet:not(.undo *)'),
  u: () => document.querySelector('.undo button')?.click(),
  r: () => reply()?.click(),
  e: () => mark('[value=done], [value=open]'),
  m: () => mark('[value=mute], [value=unmute]'),
  'g h': () => visit('/console'),
  'g c': () => visit('/console/conversations'),
  'g a': () => visit('/console/agents'),
};

// A person can turn them off. The page is then loaded again.
const bound = document.body.dataset.letters === 'off' ? [] : Object.entries(letters);
for (const [key, act] of bound) {
  const button = document.createElement('button');
  button.addEventListener('click', act);
  install(button, key);
}

// The name of the button can be what the form decides.
const submit = (form) =>
  form.requestSubmit(form.querySelector('button.primary') ?? form.querySelector('[type=submit]'));

// These work in fields too.
function find({ key, target, ctrlKey, metaKey }) {
  const hasModifier = ctrlKey || metaKey;
  if (hasModifier && key === 'k') return () => open('/console/find');
  if (hasModifier && key === 'Enter' && target.form) return () => submit(target.form);
  if (!dialog()) return undefined;
  if (key === 'ArrowDown') return () => step(1);
  if (key === 'ArrowUp') return () => step(-1);
  if (key === 'Enter' && target.matches('input'))
    return () => dialog().querySelector('.row-title a')?.click();
  return undefined;
}

addEventListener('keydown', (event) => {
  const act = event.isComposing ? undefined : find(event);
  if (!act) return;
  event.preventDefault();
  act();
});

addEventListener('input', ({ target }) => {
  if (dialog()?.contains(target)) target.form.requestSubmit();
});
