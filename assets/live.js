// Parts of pages that the server keeps up to date with streams of Turbo.
export const showEnd = () => scrollTo(0, document.documentElement.scrollHeight);
let below = 0;

// An open stream counts against the connections of the browser, so only what is seen has one. One that failed is opened again.
function check() {
  for (const region of document.querySelectorAll('[data-live]')) {
    const isWanted = !document.hidden && region.checkVisibility();
    const source = region.nextElementSibling;
    const isThere = source?.localName === 'turbo-stream-source';
    const isOpen = isThere && source.streamSource.readyState !== 2;
    if (isThere && !(isOpen && isWanted)) source.remove();
    if (isWanted && !isOpen) follow(region);
  }
}

function follow(region) {
  const { live, cursor } = region.dataset;
  const address = new URL(live, location);
  address.searchParams.set('cursor', cursor);
  const source = document.createElement('turbo-stream-source');
  source.dataset.turboTemporary = '';
  source.setAttribute('src', address);
  region.after(source);
  source.streamSource.addEventListener('end', () => {
    source.streamSource.close();
    setTimeout(() => location.reload(), Math.max(0, 2000 - performance.now()));
  });
}

document.addEventListener('visibilitychange', check);
addEventListener('resize', check);
setInterval(check, 15000);
addEventListener('turbo:load', () => {
  below = 0;
  check();
});

// A menu closes when its reader does something else.
addEventListener('click', ({ target }) => {
  for (const menu of document.querySelectorAll('.menu[open]')) if (!menu.contains(target)) menu.open = false;
});

// What a reader opened stays open.
addEventListener('turbo:before-morph-attribute', (event) => {
  if (event.detail.attributeName === 'open') event.preventDefault();
});

// What a reader has entered stays, as long as its field does.
addEventListener('turbo:before-morph-element', (event) => {
  const { target, detail } = event;
  const isEntered = 'defaultValue' in target && target.value !== target.defaultValue;
  if (isEntered && detail.newElement && target.closest('[data-live]')) event.preventDefault();
});

// A reader at the end of the messages stays there; another one is told how many are new.
addEventListener('turbo:before-stream-render', ({ target, detail }) => {
  const region = document.getElementById(target.target);
  if (!region || !('follow' in region.dataset)) return;
  const { render } = detail;
  const count = () => region.querySelectorAll('li.message').length;
  detail.render = async (stream) => {
    const isAtEnd = innerHeight + scrollY > document.documentElement.scrollHeight - 100;
    const before = count();
    await render(stream);
    if (isAtEnd) showEnd();
    else showNew(region, count() - before);
  };
});

function showNew(region, added) {
  if (added <= 0) return;
  below += added;
  document.querySelector('.new-below')?.remove();
  const button = document.createElement('button');
  button.className = 'button primary new-below';
  button.dataset.turboTemporary = '';
  button.textContent = `${below} new ↓`;
  button.addEventListener('click', () => {
    below = 0;
    button.remove();
    showEnd();
  });
  region.after(button);
}
