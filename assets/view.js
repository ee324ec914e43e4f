// The script of every view inside chat clients. It talks to the client around its frame (MCP Apps, 2026-01-26).
import { h, render } from 'preact';
import { App } from '../src/transports/console/views/app.tsx';

const root = document.documentElement;
const pending = new Map();
let lastId = 0;
let state = { parts: {}, host: undefined, result: undefined, isCancelled: false };

const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');

function request(method, params) {
  const id = (lastId += 1);
  post({ id, method, params });
  return new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
}

function show(changes) {
  state = { ...state, ...changes };
  // Each result begins anew.
  if (state.host) render(h(App, { ...state, key: state.shown }), document.body);
}

// The variables of the client that style sheets of the console know by other names.
const variables = {
  '--color-background-primary': ['--paper', '--surface'],
  '--color-background-secondary': ['--sunken', '--tint-1'],
  '--color-text-primary': ['--ink'],
  '--color-text-secondary': ['--soft'],
  '--color-border-primary': ['--line'],
  '--font-sans': ['--letters'],
  '--font-mono': ['--letters-code'],
};

function applyContext({ theme, styles, timeZone }) {
  const systemTheme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  if (theme || !root.dataset.theme) root.dataset.theme = theme ?? systemTheme;
  for (const [name, names] of Object.entries(variables)) {
    const value = styles?.variables?.[name];
    if (value) for (const own of names) root.style.setProperty(own, value);
  }
  if (timeZone && state.host) show({ host: { ...state.host, timeZone } });
}

const handlers = {
  ping: () => ({}),
  'ui/resource-teardown'() {
    sizes.disconnect();
    render(null, document.body);
    return {};
  },
  'ui/notifications/tool-result': (result) => show({ result, shown: lastId }),
  'ui/notifications/tool-cancelled': () => show({ isCancelled: true }),
  'ui/notifications/host-context-changed': applyContext,
};

addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return;
  const { id, method, params = {}, result, error } = data;
  if (method === undefined) {
    const { resolve, reject } = pending.get(id) ?? {};
    pending.delete(id);
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
    return;
  }
  const answer = handlers[method]?.(params);
  if (id === undefined) return;
  post(answer ? { id, result: answer } : { id, error: { code: -32601, message: 'Method not found' } });
});

let lastSize = '';
const sizes = new ResizeObserver(() => {
  const { width } = root.getBoundingClientRect();
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  const size = `${width} ${height}`;
  if (size !== lastSize) post({ method: 'ui/notifications/size-changed', params: { width, height } });
  lastSize = size;
});

/** Begins to show results with these parts. */
export async function start(parts) {
  const answer = await request('ui/initialize', {
    appInfo: { name: 'Agent Messaging', version: '1' },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
    protocolVersion: '2026-01-26',
  });
  const { hostCapabilities = {}, hostContext = {} } = answer;
  applyContext(hostContext);
  show({
    parts,
    host: {
      canCall: hostCapabilities.serverTools !== undefined,
      canOpen: hostCapabilities.openLinks !== undefined,
      canWrite: hostCapabilities.message !== undefined,
      timeZone: hostContext.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
      callTool: (name, args) => request('tools/call', { name, arguments: args }),
      openLink: (url) => request('ui/open-link', { url }),
      write: (text) => request('ui/message', { role: 'user', content: [{ type: 'text', text }] }),
    },
  });
  post({ method: 'ui/notifications/initialized', params: {} });
  sizes.observe(document.body);
}
