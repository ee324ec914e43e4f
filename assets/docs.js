// Sends requests of the API reference. They carry the access token of this tab, which is kept until the tab is closed or the person
// signs out.
const client_id = document.body.dataset.client;
const [status, form, field] = ['[role=status]', '.access form', '#token'].map((one) =>
  document.querySelector(one),
);
const [signInButton, signOutButton] = ['sign-in', 'sign-out'].map((id) => document.getElementById(id));
const load = (key) => JSON.parse(sessionStorage.getItem(key));
const save = (key, value) => sessionStorage.setItem(key, JSON.stringify(value));
let refreshing;

function say(text, isError = false) {
  status.textContent = text;
  status.classList.toggle('error', isError);
}

function toText(bytes) {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const randomText = () => toText(crypto.getRandomValues(new Uint8Array(32)));

async function readAnswer(response) {
  const text = await response.text();
  const isJson = response.headers.get('Content-Type')?.includes('json');
  const body = text && isJson ? JSON.parse(text) : {};
  if (response.ok) return body;
  const message = body.error?.message ?? body.error_description ?? `The service answered ${response.status}.`;
  throw Object.assign(new Error(message), { status: response.status });
}

const findServer = () => fetch('/.well-known/oauth-authorization-server').then(readAnswer);

const post = (path, fields) =>
  fetch(path, { method: 'POST', body: new URLSearchParams({ client_id, ...fields }) }).then(readAnswer);

async function exchange(fields) {
  const { access_token, refresh_token, expires_in } = await post('/token', fields);
  const token = { access_token, refresh_token, expires_at: Date.now() + expires_in * 1000 };
  save('token', token);
  return token;
}

// A token of a sign-in is renewed shortly before it ends.
async function findToken() {
  const token = load('token');
  if (!token?.refresh_token || token.expires_at > Date.now() + 10000) return token;
  const { refresh_token } = token;
  refreshing ??= exchange({ grant_type: 'refresh_token', refresh_token }).finally(
    () => (refreshing = undefined),
  );
  return refreshing;
}

function forget(reason, isError) {
  sessionStorage.removeItem('token');
  show(false);
  say(reason, isError);
}

function show(hasToken) {
  form.hidden = hasToken;
  signOutButton.hidden = !hasToken;
}

// Shows as whom requests are sent. A token that the service does not accept is forgotten.
async function checkToken() {
  try {
    const token = await findToken();
    if (!token) return forget('Requests are sent without an access token. Sign in, or paste one.');
    show(true);
    const headers = { Authorization: `Bearer ${token.access_token}` };
    const agent = await fetch('/v1/agents/me', { headers }).then(readAnswer);
    say(`Requests are sent as @${agent.canonical_handle}.`);
  } catch (error) {
    if (error.status === 400 || error.status === 401)
      forget(`The token was not accepted: ${error.message}`, true);
    else
      say(error.status === 403 ? 'Requests are sent with your token.' : error.message, error.status !== 403);
  }
}

async function signIn() {
  const { issuer, scopes_supported } = await findServer();
  if (issuer !== location.origin) return location.assign(`${issuer}/docs`);
  if (!crypto.subtle) return say('Sign-in needs HTTPS. Paste an access token instead.', true);
  const [verifier, state] = [randomText(), randomText()];
  save('sign-in', { verifier, state, hash: location.hash });
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const query = {
    client_id,
    state,
    response_type: 'code',
    redirect_uri: `${issuer}/docs`,
    scope: scopes_supported.join(' '),
    code_challenge: toText(challenge),
    code_challenge_method: 'S256',
  };
  location.assign(`/authorize?${new URLSearchParams(query)}`);
}

// After the redirect of the authorization server (RFC 6749, section 4.1.2; RFC 9207).
async function finishSignIn() {
  const answer = new URLSearchParams(location.search);
  if (!answer.has('state')) return;
  const begun = load('sign-in');
  sessionStorage.removeItem('sign-in');
  history.replaceState(null, '', `/docs${begun?.hash ?? ''}`);
  const isOurs = begun?.state === answer.get('state') && answer.get('iss') === location.origin;
  if (!isOurs) throw new Error('The sign-in was not started in this tab. Sign in again.');
  if (!answer.has('code')) throw new Error(answer.get('error_description') ?? 'The sign-in failed.');
  const redirect_uri = `${location.origin}/docs`;
  const fields = { code: answer.get('code'), code_verifier: begun.verifier, redirect_uri };
  await exchange({ grant_type: 'authorization_code', ...fields });
}

// Ends the tokens of a sign-in. A pasted token belongs to another client, so it is only forgotten.
async function signOut() {
  const { refresh_token } = load('token') ?? {};
  if (refresh_token) await post('/revoke', { token: refresh_token });
  forget(refresh_token ? 'You are signed out.' : 'The token is forgotten.');
}

const orSay = (run) => (event) => {
  event.preventDefault();
  run().catch((error) => say(error.message, true));
};

// Sends what the form of an operation says, and shows the answer.
async function send(request) {
  const fields = Array.from(request.querySelectorAll('input'));
  const valuesIn = (place) => fields.filter((one) => one.dataset.in === place && one.value);
  const pairs = (place) => valuesIn(place).map(({ name, value }) => [name, value]);
  const { method, path } = request.dataset;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(request.elements[name].value.trim()),
  );
  const query = new URLSearchParams(pairs('query')).toString();
  const token = await findToken();
  const isOnce = fields.some(({ name }) => name === 'Idempotency-Key');
  const body = request.elements.body?.value;
  const response = await fetch(`/v1${filled}${query && `?${query}`}`, {
    method: method.toUpperCase(),
    body,
    headers: {
      ...(isOnce && { 'Idempotency-Key': randomText() }),
      ...Object.fromEntries(pairs('header')),
      ...(body && { 'Content-Type': 'application/json' }),
      ...(token && { Authorization: `Bearer ${token.access_token}` }),
    },
  });
  const text = await response.text();
  const isJson = text && response.headers.get('Content-Type')?.includes('json');
  const shown = isJson ? JSON.stringify(JSON.parse(text), null, 2) : text;
  return `${response.status} ${response.statusText}\n\n${shown}`;
}

function offer(request) {
  const output = request.querySelector('output');
  request.hidden = false;
  request.addEventListener('submit', async (event) => {
    event.preventDefault();
    output.textContent = 'Sending…';
    output.textContent = await send(request).catch((error) => error.message);
  });
}

async function start() {
  await finishSignIn().then(checkToken, (error) => checkToken().then(() => say(error.message, true)));
  document.querySelector('.access').hidden = false;
  document.querySelectorAll('.try').forEach(offer);
}

form.addEventListener(
  'submit',
  orSay(() => {
    save('token', { access_token: field.value.trim() });
    field.value = '';
    return checkToken();
  }),
);
signInButton.addEventListener('click', orSay(signIn));
signOutButton.addEventListener('click', orSay(signOut));
start().catch((error) => say(error.message, true));
