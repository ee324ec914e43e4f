// Updates the live parts of a page with HTML from the server.
// Pages show times in this zone.
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
document.cookie = `ams_zone=${encodeURIComponent(timeZone)}; path=/; max-age=31536000; samesite=lax`;

function removeUntil(node, end) {
  while (node && node !== end) {
    const gone = node;
    node = node.nextSibling;
    gone.remove();
  }
}

function patch(old, next) {
  let at = old.firstChild;
  for (const node of Array.from(next.childNodes)) {
    const same = node.id && Array.from(old.children).find(({ id }) => id === node.id);
    if (!same) {
      old.insertBefore(node, at);
      continue;
    }
    removeUntil(at, same);
    at = same.nextSibling;
    const opened = same.querySelectorAll('details');
    node.querySelectorAll('details').forEach((one, place) => (one.open = opened[place]?.open));
    if (same.isEqualNode(node)) continue;
    if (node.querySelector('[id]')) patch(same, node);
    else same.replaceWith(node);
  }
  removeUntil(at);
}

function follow(region) {
  let { live: address, cursor } = region.dataset;
  let source;
  let waitMs = 1000;

  const button = document.createElement('button');
  button.className = 'button primary new-below';
  button.addEventListener('click', goToEnd);
  let below = 0;
  const countMessages = () => region.querySelectorAll('li.message').length;

  function goToEnd() {
    below = 0;
    button.remove();
    scrollTo(0, document.documentElement.scrollHeight);
  }

  // For a reader who is above the end.
  function showNew(added) {
    if (added <= 0) return;
    below += added;
    button.textContent = `${below} new ↓`;
    region.after(button);
  }

  function update({ data, lastEventId }) {
    const page = document.documentElement;
    const isAtEnd = innerHeight + scrollY > page.scrollHeight - 100;
    const next = document.createElement('template');
    next.innerHTML = data;
    const before = countMessages();
    patch(region, next.content);
    cursor = lastEventId;
    waitMs = 1000;
    const title = region.querySelector('[data-title]');
    if (title) document.title = title.dataset.title;
    if (!('follow' in region.dataset)) return;
    if (isAtEnd) goToEnd();
    else showNew(countMessages() - before);
  }

  function connect() {
    source?.close();
    if (document.hidden || !region.checkVisibility()) return;
    const url = new URL(address, location);
    url.searchParams.set('cursor', cursor);
    source = new EventSource(url);
    const on = (type, act) => source.addEventListener(type, act);
    on('message', update);
    on('end', () => {
      source.close();
      if (performance.now() > 2000) location.reload();
    });
    on('error', () => {
      if (source.readyState === 2) setTimeout(connect, (waitMs = Math.min(waitMs * 2, 15000)));
    });
  }

  document.addEventListener('visibilitychange', connect);
  connect();
}

document.querySelectorAll('[data-live]').forEach(follow);
