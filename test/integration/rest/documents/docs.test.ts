import { beforeAll, expect, test } from 'vitest';
import { requestRest, type RestResponse } from '../../../clients/rest.ts';
import { useSharedService } from '../../../support/service.ts';

const service = useSharedService();
let page: RestResponse;
let events: RestResponse;
let guide: RestResponse;

beforeAll(async () => {
  page = await requestRest('GET', `${service.url}/docs`);
  events = await requestRest('GET', `${service.url}/docs/events`);
  guide = await requestRest('GET', `${service.url}/docs/guide`);
});

interface EventsDocument {
  channels: Record<string, { title: string; messages: object }>;
  components: { schemas: object };
}

interface ReferenceDocument {
  paths: Record<string, Record<string, { operationId: string; parameters: { name: string }[] }>>;
  components: { schemas: object; responses: object };
}

/** The links of a page to elements of itself that it does not have. */
function findBrokenAnchors(text: string): string[] {
  const anchors = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id);
  return anchors.filter((id) => !text.includes(` id="${id}"`));
}

/** Every URL in an HTML page or a style sheet. */
function named(text: string): string[] {
  const found = text.matchAll(/\b(?:src|href)="([^"]*)"|url\(\s*["']?([^"')]*)|@import\s*["']([^"']*)/g);
  return [...found].map(([, attribute, url, imported]) => attribute ?? url ?? imported ?? '');
}

test.each(['reference', 'events', 'guide'])(
  'the page of the %s and all its assets are served by this server',
  async (name) => {
    const { status, headers, text } = { events, guide }[name] ?? page;
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const assets = named(text).filter((address) => !/^(?:#|\/docs$|\/console$|https?:)/.test(address));
    expect(assets.length).toBeGreaterThanOrEqual(4);
    for (const address of assets) {
      expect(address).toMatch(/^\/(?:docs|v1)\//);
      const asset = await requestRest('GET', `${service.url}${address}`);
      expect(asset.status, address).toBe(200);
      expect(asset.text.length).toBeGreaterThan(100);
      if (!/^\/docs\/[\w-]{12}\//.test(address)) continue;
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const type = asset.headers.get('content-type') ?? '';
      expect(type).toMatch(/^(?:text\/css|text\/javascript|image\/svg\+xml)/);
      if (type.startsWith('text/css')) {
        expect(named(asset.text).filter((inner) => !/^(?:data:|#)/.test(inner))).toEqual([]);
      }
      if (address.endsWith('/docs.js')) expect(asset.text).not.toMatch(/https?:|\/\/\w/);
    }
    const shown = text.replaceAll(/<(pre|textarea|code|input)\b.*?(?:<\/\1>|\/>)|<a href="https?:/gs, '');
    expect(shown).not.toMatch(/["'](?:https?:)?\/\/|<script>|\son\w+=|style=/);
  },
);

test('the reference has every operation, its parameters, its errors and every schema', async () => {
  const { body } = await service.get(null, '/openapi.json');
  const { paths, components } = body as ReferenceDocument;
  const calls = Object.values(paths).flatMap((methods) => Object.values(methods));
  expect(calls.length).toBeGreaterThan(80);
  for (const { operationId, parameters } of calls) {
    expect(page.text).toContain(`<div id="${operationId}"`);
    for (const { name } of parameters) expect(page.text).toContain(`<code>${name}</code>`);
  }
  for (const name of Object.keys(components.schemas)) expect(page.text).toContain(`id="schema-${name}"`);
  const codes = Object.keys(components.responses).flatMap((name) => name.split('-'));
  for (const code of codes) expect(page.text).toContain(`<dt id="error-${code}">`);
  expect(findBrokenAnchors(page.text)).toEqual([]);
});

test('every link of the guide leads to a page and a heading of this service, or to another site', async () => {
  const pages = new Map<string, string>();
  const pending = ['/docs/guide'];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (pages.has(path)) continue;
    const { status, text } = await requestRest('GET', `${service.url}${path}`);
    expect(status, path).toBe(200);
    pages.set(path, text);
    const links = [...text.matchAll(/href="(\/docs\/[a-z\d-]+)["#]/g)].map(([, link = '']) => link);
    pending.push(...links);
  }
  expect([...pages.keys()]).toEqual(expect.arrayContaining(['/docs/quick-start', '/docs/api', '/docs/mcp']));
  for (const [path, text] of pages) {
    expect(findBrokenAnchors(text), path).toEqual([]);
    for (const [, target = '', id = ''] of text.matchAll(/href="(\/docs\/[a-z\d-]+)#([^"]+)"/g))
      expect(pages.get(target), `${path} to ${target}#${id}`).toContain(` id="${id}"`);
    expect(text).not.toMatch(/href="(?!https?:|#|\/)|<img|<picture|&lt;picture|&lt;!--/);
  }
});

test('the page of events names every transport, event type and schema of the document', async () => {
  const { body } = await service.get(null, '/asyncapi.json');
  const document = body as EventsDocument;
  const names = [
    ...Object.values(document.channels).flatMap(({ title, messages }) => [title, ...Object.keys(messages)]),
    ...Object.keys(document.components.schemas),
  ];
  expect(names.length).toBeGreaterThan(60);
  for (const name of names) expect(events.text).toContain(`>${name}<`);
  expect(findBrokenAnchors(events.text)).toEqual([]);
});

test('the first groups are threads, messages and events', async () => {
  const { body } = await service.get(null, '/openapi.json');
  const { tags } = body as { tags: { name: string }[] };
  expect(tags.slice(0, 3).map(({ name }) => name)).toEqual(['threads', 'messages', 'events']);
});

test.each(['reference', 'events', 'guide'])(
  'the page of the %s loads nothing from other origins and runs no inline script',
  (shown) => {
    const policy = ({ events, guide }[shown] ?? page).headers.get('content-security-policy') ?? '';
    const directives = new Map(
      policy.split('; ').map((directive) => {
        const [name = '', ...sources] = directive.split(' ');
        return [name, sources];
      }),
    );
    expect(directives.get('default-src')).toEqual(["'none'"]);
    expect(directives.get('script-src')).toEqual(["'self'"]);
    const all = new Set([...directives.values()].flat());
    expect([...all].sort()).toEqual(["'none'", "'self'"]);
  },
);

test('HEAD returns the same headers without the body', async () => {
  for (const address of ['/docs', ...named(page.text).filter((one) => one.startsWith('/docs/'))]) {
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => requestRest(method, `${service.url}${address}`)),
    );
    expect([head?.status, head?.text]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'cache-control', 'content-security-policy']) {
      expect(head?.headers.get(name), `${address} ${name}`).toBe(get?.headers.get(name));
    }
  }
});

test('an absent path gets the standard error body', async () => {
  const [, folder = ''] = /href="(\/docs\/[^/]+\/)/.exec(page.text) ?? [];
  const absent = ['/docs/x', '/docs/x/docs.js', `${folder}x.js`, `${folder}../../package.json`, '/docsx'];
  for (const address of [...absent, `${folder}%2e%2e/%2e%2e/package.json`, `${folder}constructor`]) {
    const { status, body } = await requestRest('GET', `${service.url}${address}`);
    expect([status, body?.error?.code], address).toEqual([404, 'NOT_FOUND']);
  }
  const post = await requestRest('POST', `${service.url}/docs`, { body: {} });
  expect([post.status, post.body.error.code, post.headers.get('allow')]).toEqual([
    405,
    'METHOD_NOT_ALLOWED',
    'GET, HEAD',
  ]);
});
