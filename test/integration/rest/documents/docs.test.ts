import { beforeAll, expect, test } from 'vitest';
import { requestRest, type RestResponse } from '../../../clients/rest.ts';
import { useSharedService } from '../../../support/service.ts';

const service = useSharedService();
let page: RestResponse;
let events: RestResponse;

beforeAll(async () => {
  page = await requestRest('GET', `${service.url}/docs`);
  events = await requestRest('GET', `${service.url}/docs/events`);
});

interface EventsDocument {
  channels: Record<string, { title: string; messages: object }>;
  components: { schemas: object };
}

/** Every URL in an HTML page or a style sheet. */
function named(text: string): string[] {
  const found = text.matchAll(/\b(?:src|href)="([^"]*)"|url\(\s*["']?([^"')]*)|@import\s*["']([^"']*)/g);
  return [...found].map(([, attribute, url, imported]) => attribute ?? url ?? imported ?? '');
}

test.each(['reference', 'events'])(
  'the page of the %s and all its assets are served by this server',
  async (name) => {
    const { status, headers, text } = name === 'events' ? events : page;
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const assets = named(text).filter((address) => !/^(?:#|\/docs$|\/console$)/.test(address));
    expect(assets.length).toBeGreaterThanOrEqual(4);
    for (const address of assets) {
      expect(address).toMatch(/^\/(?:docs|v1)\//);
      const asset = await requestRest('GET', `${service.url}${address}`);
      expect(asset.status, address).toBe(200);
      expect(asset.text.length).toBeGreaterThan(100);
      if (!address.startsWith('/docs/') || address === '/docs/events') continue;
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const type = asset.headers.get('content-type') ?? '';
      expect(type).toMatch(/^(?:text\/css|text\/javascript|image\/png)/);
      if (type.startsWith('text/css')) {
        expect(named(asset.text).filter((inner) => !/^(?:data:|#)/.test(inner))).toEqual([]);
      }
      if (address.endsWith('/docs.js')) expect(asset.text).not.toMatch(/https?:|\/\/\w/);
    }
    const withoutExamples = text.replaceAll(/<pre>.*?<\/pre>/gs, '');
    expect(withoutExamples).not.toMatch(/https?:|["']\/\/|<script>|\son\w+=|style=/);
  },
);

test('the page of events names every transport, event type and schema of the document', async () => {
  const { body } = await service.get(null, '/asyncapi.json');
  const document = body as EventsDocument;
  const names = [
    ...Object.values(document.channels).flatMap(({ title, messages }) => [title, ...Object.keys(messages)]),
    ...Object.keys(document.components.schemas),
  ];
  expect(names.length).toBeGreaterThan(60);
  for (const name of names) expect(events.text).toContain(`>${name}<`);
  const anchors = [...events.text.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id);
  for (const id of anchors) expect(events.text).toContain(` id="${id}"`);
});

test('the first groups are threads, messages and events', async () => {
  const { body } = await service.get(null, '/openapi.json');
  const { tags } = body as { tags: { name: string }[] };
  expect(tags.slice(0, 3).map(({ name }) => name)).toEqual(['threads', 'messages', 'events']);
});

test.each(['reference', 'events'])(
  'the page of the %s loads nothing from other origins and runs no inline script',
  (shown) => {
    const policy = (shown === 'events' ? events : page).headers.get('content-security-policy') ?? '';
    const directives = new Map(
      policy.split('; ').map((directive) => {
        const [name = '', ...sources] = directive.split(' ');
        return [name, sources];
      }),
    );
    expect(directives.get('default-src')).toEqual(["'none'"]);
    expect(directives.get('script-src')).toEqual(["'self'"]);
    const all = new Set([...directives.values()].flat());
    expect([...all].sort()).toEqual(["'none'", "'self'", 'data:']);
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
