// The script of the pages with the navigation, with the libraries that it uses. Every page works without it.
import { config } from '@hotwired/turbo';
import '@github/relative-time-element';
import './attach.js';
import './copy.js';
import './keys.js';
import { showEnd } from './live.js';
import './notify.js';

// Forms that can answer with a page of their own, such as one with a secret, are sent by the browser.
config.forms.mode = 'optin';

// Pages show times in this zone.
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
document.cookie = `ams_zone=${encodeURIComponent(timeZone)}; path=/; max-age=31536000; samesite=lax`;

// What a person writes stays in the tab until it is sent: a reply and the way back open the page again.
const writing = () => document.querySelector('#write');
addEventListener('input', ({ target }) => {
  if (target === writing()) sessionStorage.setItem(location.pathname, target.value);
});
let isSent = false;
addEventListener('turbo:submit-end', ({ detail, target }) => {
  isSent = detail.success && detail.fetchResponse.redirected && target.contains(writing());
  if (isSent) sessionStorage.removeItem(location.pathname);
});

// A form that could not be sent says so. Forms that the browser sends lead to its own page.
const failure = () => document.querySelector('.not-sent');
addEventListener('turbo:submit-start', () => failure()?.remove());
addEventListener('turbo:fetch-request-error', ({ target }) => {
  if (target.method !== 'post') return;
  document.querySelector('.flash')?.remove();
  failure()?.remove();
  const notice = document.createElement('p');
  notice.className = 'notice danger not-sent';
  notice.role = 'alert';
  notice.dataset.turboTemporary = '';
  notice.textContent = 'Not sent: there is no connection. Your text is kept; send it again.';
  document.querySelector('main').append(notice);
});

// A reply changes only the line above the text.
addEventListener('turbo:frame-load', ({ target }) => {
  if (target.id !== 'reply') return;
  for (const menu of document.querySelectorAll('.message .menu[open]')) menu.open = false;
  writing().focus();
});

let listPlace = 0;
let isRefresh = false;
const list = () => document.querySelector('.pane-list');
addEventListener('turbo:before-render', ({ detail }) => {
  listPlace = list()?.scrollTop ?? 0;
  isRefresh = detail.renderMethod === 'morph';
});

addEventListener('turbo:load', () => {
  list()?.scrollTo(0, listPlace);
  const field = writing();
  if (field && !field.value) field.value = sessionStorage.getItem(location.pathname) ?? '';
  // A conversation opens at its first unread message, once. A sent message is at its end.
  const start = document.querySelector('li.message[autofocus]');
  start?.removeAttribute('autofocus');
  if (isSent) {
    const sent = [...document.querySelectorAll('li.message')].at(-1);
    if (sent) {
      sent.tabIndex = -1;
      sent.focus();
      showEnd();
    }
  } else if (!location.hash && !isRefresh) start?.focus();
  isSent = false;
});
