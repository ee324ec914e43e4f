// Shows what waits for the person as notifications of the browser.
const name = 'ams-notified';
const asked = () => document.querySelector('[data-notify]');
let hasTurn = false;

function show({ data }) {
  const items = Array.from(new DOMParser().parseFromString(data, 'text/html').querySelectorAll('[data-key]'));
  const known = JSON.parse(localStorage.getItem(name) ?? '[]');
  const added = items.filter(({ dataset }) => !known.includes(dataset.key));
  localStorage.setItem(name, JSON.stringify(items.map(({ dataset }) => dataset.key)));
  if (added.length === 0) return;
  const [first, ...others] = added;
  const isOne = others.length === 0;
  const notification = new Notification(isOne ? first.textContent : `${added.length} items wait for you`);
  notification.addEventListener('click', () => {
    focus();
    location.assign(isOne ? first.getAttribute('href') : '/console');
  });
}

function connect() {
  const source = new EventSource('/console/live/notifications');
  source.addEventListener('message', show);
  source.addEventListener('end', () => source.close());
  source.addEventListener('error', () => {
    if (source.readyState === 2) setTimeout(connect, 15000);
  });
}

// One page of a browser has the stream; another one takes over when it is closed.
function takeTurn() {
  const button = asked();
  if (button) button.hidden = Notification.permission === 'granted';
  const isOn = button ? button.dataset.notify === 'on' : 'notifies' in document.body.dataset;
  if (!isOn || hasTurn || Notification.permission !== 'granted') return;
  hasTurn = true;
  void navigator.locks.request(name, () => new Promise(connect));
}

if ('Notification' in window && navigator.locks) {
  addEventListener('turbo:load', takeTurn);
  addEventListener('click', ({ target }) => {
    if (target === asked()) void Notification.requestPermission().then(takeTurn);
  });
}
