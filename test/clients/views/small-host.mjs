// A host of views as the extension MCP Apps describes it, without its library. Runs in the page around the frame.
const frame = document.querySelector('iframe');
const post = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
let torn;

const requests = {
  'ui/initialize': ({ protocolVersion, appInfo, appCapabilities }) => {
    if (!appInfo.name || !appCapabilities.availableDisplayModes)
      throw new Error('the view does not say what it is');
    const { hostContext, hostCapabilities } = globalThis.setup;
    return { protocolVersion, hostInfo: { name: 'small', version: '1' }, hostCapabilities, hostContext };
  },
  'tools/call': (params) => globalThis.callServer(params),
  'ui/message': async ({ content: [{ text }] }) => {
    await globalThis.openAddress(text);
    return {};
  },
  'ui/open-link': async ({ url }) => {
    await globalThis.openAddress(url);
    return {};
  },
};

const notifications = {
  'ui/notifications/initialized'() {
    const { args, result } = globalThis.setup;
    post({ method: 'ui/notifications/tool-input', params: { arguments: args } });
    if (result) post({ method: 'ui/notifications/tool-result', params: result });
  },
  'ui/notifications/size-changed'({ height }) {
    frame.style.height = `${height}px`;
  },
};

async function receive({ source, data }) {
  if (source !== frame.contentWindow || data.jsonrpc !== '2.0')
    throw new Error('a message of another window');
  const { id, method, params } = data;
  if (method === undefined) torn?.(data.result);
  else if (id === undefined) notifications[method](params);
  else {
    try {
      post({ id, result: await requests[method](params) });
    } catch (error) {
      post({ id, error: { code: -32000, message: error.message } });
    }
  }
}
addEventListener('message', (event) => void receive(event));

globalThis.changeContext = (params) => post({ method: 'ui/notifications/host-context-changed', params });
globalThis.sendResult = (params) => post({ method: 'ui/notifications/tool-result', params });
globalThis.cancelCall = () => post({ method: 'ui/notifications/tool-cancelled', params: {} });
globalThis.tearDown = () => {
  post({ id: 'end', method: 'ui/resource-teardown', params: {} });
  return new Promise((resolve) => (torn = resolve));
};
frame.src = globalThis.setup.address;
