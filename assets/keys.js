// The keyboard of the console. /console/keys describes it.
const go = { h: '/console', c: '/console/conversations', a: '/console/agents' };
let prefix = '';
let dialog;

const isOpen = () => dialog?.open ?? false;

function step(by) {
  const list = isOpen() ? dialog : document.querySelector('main');
  const links = Array.from(list.querySelectorAll('.thread-link, .row-title a')).filter((one) =>
    one.checkVisibility(),
  );
  const has = (one) => one.closest('li').contains(document.activeElement);
  const at = links.findIndex(has);
  const from = at < 0 ? links.findIndex((one) => one.matches('[aria-current]')) : at;
  links[Math.min(Math.max(from + by, 0), links.length - 1)]?.focus();
}

async function load(address) {
  const response = await fetch(address);
  if (response.redirected) location.reload();
  return new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('main');
}

async function open(address) {
  const content = await load(address);
  dialog ??= document.body.appendChild(document.createElement('dialog'));
  dialog.replaceChildren(...content.childNodes);
  dialog.ariaLabel = dialog.querySelector('h1').textContent;
  if (!isOpen()) dialog.showModal();
  dialog.querySelector('input')?.focus();
}

function search() {
  const field = document.querySelector('#search');
  if (field) field.focus();
  else location.assign('/console/conversations#search');
}

// On the row that has the focus.
const press = (button) =>
  document.activeElement.closest('.row')?.querySelector(`.row-side ${button}`)?.click();

const keys = {
  '/': search,
  '?': () => open('/console/keys'),
  j: () => step(1),
  k: () => step(-1),
  a: () => press('.primary'),
  d: () => press('button.quiet'),
};

function find({ key, target, ctrlKey, metaKey, altKey }) {
  const hasModifier = ctrlKey || metaKey;
  if (hasModifier && key === 'k') return () => open('/console/find');
  if (hasModifier && key === 'Enter' && target.form) return () => target.form.requestSubmit();
  if (isOpen() && key === 'ArrowDown') return () => step(1);
  if (isOpen() && key === 'ArrowUp') return () => step(-1);
  if (isOpen() && key === 'Enter' && target.matches('input'))
    return () => dialog.querySelector('.row-title a')?.click();
  if (hasModifier || altKey || target.closest('input, textarea, select')) return undefined;
  const page = prefix === 'g' && go[key];
  prefix = key;
  return page ? () => location.assign(page) : keys[key];
}

addEventListener('keydown', (event) => {
  const act = event.isComposing ? undefined : find(event);
  if (!act) return;
  event.preventDefault();
  act();
});

async function update({ value, form }) {
  const found = await load(`${form.action}?${new URLSearchParams({ q: value })}`);
  // An older answer may come later.
  if (value === form.elements.q.value)
    dialog.querySelector('#found').replaceWith(found.querySelector('#found'));
}

addEventListener('input', ({ target }) => {
  if (dialog?.contains(target)) void update(target);
});
