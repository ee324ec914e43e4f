// The host of views that the authors of MCP Apps publish. Runs in the page around the frame.
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

const frame = document.querySelector('iframe');
const { address, args, result, hostContext, hostCapabilities } = globalThis.setup;
const bridge = new AppBridge(null, { name: 'reference', version: '1' }, hostCapabilities, { hostContext });
bridge.oncalltool = (params) => globalThis.callServer(params);
bridge.onopenlink = async ({ url }) => {
  await globalThis.openAddress(url);
  return {};
};
bridge.onsizechange = ({ height }) => {
  frame.style.height = `${height}px`;
};
bridge.oninitialized = () => void show();
async function show() {
  await bridge.sendToolInput({ arguments: args });
  if (result) await bridge.sendToolResult(result);
}
globalThis.tearDown = () => bridge.teardownResource({});
await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
frame.src = address;
