import { readFile } from 'node:fs/promises';
import type { Browser, Frame, Page } from 'playwright-core';
import { injectAxe } from '../../acceptance/pages/page-faults.ts';
import { type Ask, listTools, readView } from './client.ts';

const hostAddress = 'https://host.test/';
const viewAddress = 'https://view.test/';
const smallHost = new URL('small-host.mjs', import.meta.url);

export interface ViewOptions {
  ask: Ask;
  tool: string;
  args: Record<string, unknown>;
  /** In place of the result of the tool. Null: it does not come. */
  result?: object | null;
  hostContext?: object;
  hostCapabilities?: object;
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  /** The script of the host. */
  script?: string;
}

export interface OpenedView {
  page: Page;
  frame: Frame;
  /** Calls of tools that the view made. */
  calls: { name: string; arguments: Record<string, unknown> }[];
  /** Addresses that the view asked the host to open, and what it wrote into the chat. */
  links: string[];
  /** Addresses that anything but the host and its frame tried to load. */
  requests: string[];
}

/** Calls a tool, and shows its view in a host: a page with a frame without an origin, and the policy that the resource asks for. */
export async function openView(browser: Browser, options: ViewOptions): Promise<OpenedView> {
  const { ask, tool, args, viewport = { width: 720, height: 900 }, colorScheme = 'light' } = options;
  const tools = await listTools(ask);
  const view = await readView(ask, tools.get(tool)?.ui?.resourceUri ?? '');
  const result =
    options.result === undefined ? await ask('tools/call', { name: tool, arguments: args }) : options.result;
  const context = await browser.newContext({ viewport, colorScheme });
  await injectAxe(context);
  const page = await context.newPage();
  const [calls, links, requests]: [OpenedView['calls'], string[], string[]] = [[], [], []];
  await page.exposeFunction('callServer', async (params: OpenedView['calls'][number]) => {
    calls.push(params);
    // Hosts let a view call only what the list allows it.
    const { ui } = tools.get(params.name) ?? {};
    if (!tools.has(params.name) || ui?.visibility?.includes('app') === false)
      throw new Error('not for views');
    return ask('tools/call', { ...params });
  });
  await page.exposeFunction('openAddress', (url: string) => void links.push(url));
  const setup = {
    address: viewAddress,
    args,
    result,
    hostContext: { theme: 'light', timeZone: 'Europe/Berlin', ...options.hostContext },
    hostCapabilities: options.hostCapabilities ?? { serverTools: {}, openLinks: {}, message: { text: {} } },
  };
  const script = options.script ?? (await readFile(smallHost, 'utf8'));
  const body = `<!doctype html><html lang="en"><title>Host</title><style>body{margin:0}iframe{border:0;width:100%;display:block}</style><iframe title="View" sandbox="allow-scripts"></iframe><script type="module">globalThis.setup = ${JSON.stringify(setup).replaceAll('<', '\\u003c')};\n${script}</script></html>`;
  await context.route('**/*', async (route) => {
    const url = route.request().url();
    if (url === hostAddress) return route.fulfill({ contentType: 'text/html', body });
    const headers = { 'Content-Security-Policy': toPolicy(view.csp) };
    if (url === viewAddress) return route.fulfill({ contentType: 'text/html', body: view.text, headers });
    requests.push(url);
    return route.abort();
  });
  await page.goto(hostAddress);
  const frame = page.frames().find((one) => one.parentFrame() !== null);
  if (!frame) throw new Error('the host has no frame');
  await frame.waitForSelector('main.view');
  return { page, frame, calls, links, requests };
}

/** The policy of a host for the domains that a view names (MCP Apps, Host Behavior). */
function toPolicy({
  connectDomains = [],
  resourceDomains = [],
  frameDomains = [],
  baseUriDomains = [],
}: Record<string, string[]>): string {
  const [connect, frames, bases] = [connectDomains, frameDomains, baseUriDomains].map((domains) =>
    domains.length === 0 ? "'none'" : domains.join(' '),
  );
  const resources = resourceDomains.join(' ');
  return [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline' ${resources}`,
    `style-src 'self' 'unsafe-inline' ${resources}`,
    `img-src 'self' data: ${resources}`,
    `connect-src ${connect}`,
    `frame-src ${frames}`,
    `base-uri ${bases}`,
    "object-src 'none'",
  ].join('; ');
}
