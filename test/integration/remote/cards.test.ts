import { generateKeyPairSync } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../src/platform/observability/logger.ts';
import { createGuardedClient } from '../../../src/platform/outbound/guarded-fetch.ts';
import type { ReadCard } from '../../../src/services/remote/cards.ts';
import { readCard } from '../../../workers/remote/read-card.ts';
import { buildCard, type CardKey, createCardKey, signCard } from '../../support/a2a/remote-card.ts';
import { createFakeDns } from '../../support/servers/fake-dns.ts';
import { listen } from '../../support/servers/listen.ts';
import { use } from '../../support/use.ts';

const handlers = new Map<string, RequestListener>();
const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(`${request.headers.host} ${request.url}`);
  const handler = handlers.get(request.url ?? '');
  if (handler) handler(request, response);
  else response.writeHead(404).end();
});
const place = use(() => listen(server, '0.0.0.0'));

const logger = createLogger({ level: 'silent', part: 'test' });
const networks = [{ address: '127.0.0.1', prefix: 32 }];
const remoteClient = createGuardedClient({ networks });
const record = (confirmed: ReadCard['identity'] | null = null, path = '/card.json') => ({
  agent_id: 'agt_test',
  card_url: place.url + path,
  confirmed,
});

const read = (confirmed: ReadCard['identity'] | null = null, path?: string) =>
  readCard({ remoteClient, logger }, record(confirmed, path));

async function readWell(confirmed: ReadCard['identity'] | null = null): Promise<ReadCard> {
  const outcome = await read(confirmed);
  if ('error' in outcome) throw new Error(outcome.error);
  return outcome;
}

const json =
  (body: unknown): RequestListener =>
  (_request, response) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(body));

const card = () => buildCard(place.url, { binding: 'JSONRPC', hasPush: true });
const serve = (body: unknown, path = '/card.json') => handlers.set(path, json(body));

/** Serves the card with the signature of a key, and the key. */
async function serveSigned(key: CardKey, fields: object = {}, jku = `${place.url}/keys.json`): Promise<void> {
  serve(await signCard({ ...card(), ...fields }, key, jku));
  serve({ keys: [key.jwk] }, '/keys.json');
}

test('an address that is no longer allowed is named with the setting', async () => {
  serve(card());
  const isPublicOnly = createGuardedClient({});
  const { card_url } = record();
  expect(await readCard({ remoteClient: isPublicOnly, logger }, record())).toEqual({
    error: `its address ${isPublicOnly.checkUrl(card_url)}`,
  });
  expect(isPublicOnly.checkUrl(card_url)).toContain('REMOTE_NETWORKS');
});

describe('a card', () => {
  test('tells where messages go, and what the record of the agent shows', async () => {
    serve({
      ...card(),
      name: 'Freight \u202edesk',
      unknown: { deep: [1] },
      skills: [{ id: 'Quote & book', name: 'x' }],
    });
    const { identity, profile, card: kept } = await readWell();
    expect(identity).toMatchObject({
      url: `${place.url}/a2a`,
      binding: 'JSONRPC',
      version: '1.0',
      token_url: `${place.url}/token`,
      thumbprints: [],
    });
    expect(identity.fingerprint).toMatch(/^[\w-]{43}$/);
    expect(profile).toEqual({
      description: 'An agent of another system.',
      skills: [{ name: 'quote-book', description: '' }],
    });
    expect(kept).not.toHaveProperty('unknown');
  });

  test.each([
    ['JSON-RPC before HTTP+JSON', ['HTTP+JSON 1.0', 'JSONRPC 1.0', 'JSONRPC 0.3'], 'JSONRPC 1.0'],
    ['HTTP+JSON before version 0.3', ['JSONRPC 0.3', 'HTTP+JSON 1.0.1'], 'HTTP+JSON 1.0'],
    ['version 0.3 over JSON-RPC', ['GRPC 1.0', 'JSONRPC 0.3.0'], 'JSONRPC 0.3'],
  ])('gives %s', async (_what, names, expected) => {
    const supportedInterfaces = names.map((name) => {
      const [protocolBinding, protocolVersion] = name.split(' ');
      return { url: `${place.url}/${name.replace(' ', '-')}`, protocolBinding, protocolVersion };
    });
    serve({ ...card(), supportedInterfaces });
    const { binding, version } = (await readWell()).identity;
    expect(`${binding} ${version}`).toBe(expected);
  });

  test('of A2A 0.3 is read too', async () => {
    const { name, description, version, skills } = card();
    const about = { name, description, version, skills, protocolVersion: '0.3.0', capabilities: {} };
    const additionalInterfaces = [{ url: `${place.url}/rpc`, transport: 'JSONRPC' }];
    serve({ ...about, url: `${place.url}/grpc`, preferredTransport: 'GRPC', additionalInterfaces });
    expect((await readWell()).identity).toMatchObject({ url: `${place.url}/rpc`, version: '0.3' });
  });

  test.each([
    ['no JSON', 'no JSON', '<html>'],
    [
      'no name',
      'no valid agent card: name',
      { ...buildCard('', { binding: 'JSONRPC', hasPush: true }), name: 7 },
    ],
    ['no interface', 'no interface', { name: 'x', supportedInterfaces: [] }],
    [
      'an interface at a private address',
      'no interface',
      {
        name: 'x',
        supportedInterfaces: [
          { url: 'http://10.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        ],
      },
    ],
    [
      'an interface of another tenant',
      'no interface',
      {
        name: 'x',
        supportedInterfaces: [
          { url: 'https://a.example/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 't' },
        ],
      },
    ],
    [
      'an extension that this service lacks',
      'requires an extension',
      { name: 'x', capabilities: { extensions: [{ uri: 'urn:x', required: true }] } },
    ],
    ['text that cannot be stored', 'cannot be stored', { name: 'a\0b' }],
  ])('with %s is refused', async (_what, reason, body) => {
    handlers.set('/card.json', (_request, response) => {
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    expect(await read()).toEqual({ error: expect.stringContaining(reason) });
  });

  test('that is nested very deeply is refused', async () => {
    handlers.set('/card.json', (_request, response) => {
      response.end(`{"name":"x","more":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    });
    expect(await read()).toEqual({ error: expect.stringContaining('no valid agent card') });
  });

  test('of 1 GB is cut off', async () => {
    let sent = 0;
    handlers.set('/card.json', (_request, response) => {
      response.setHeader('content-length', 1_073_741_824);
      const chunk = Buffer.alloc(65_536, 0x20);
      const fill = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', fill).on('close', () => response.destroy());
      fill();
    });
    expect(await read()).toEqual({ error: expect.stringContaining('more than 262144 bytes') });
    expect(sent).toBeLessThan(16_777_216);
  });

  test('is read after a redirect within its origin, and not after one to another origin', async () => {
    serve(card(), '/moved.json');
    handlers.set('/card.json', (_request, response) =>
      response.writeHead(307, { location: '/moved.json' }).end(),
    );
    expect(await read()).toHaveProperty('identity');
    for (const location of [
      `http://127.0.0.2:${place.port}/card.json`,
      `http://localhost:${place.port}/card.json`,
      'file:///etc/passwd',
    ]) {
      handlers.set('/card.json', (_request, response) => response.writeHead(302, { location }).end());
      const before = requests.length;
      expect(await read()).toEqual({ error: 'the address redirects to another origin' });
      expect(requests).toHaveLength(before + 1);
    }
    handlers.set('/card.json', (_request, response) =>
      response.writeHead(302, { location: '/card.json' }).end(),
    );
    expect(await read()).toEqual({ error: 'the address redirects too often' });
  });

  test('is not read from a name that leads to a private address later', async () => {
    serve(card());
    const dns = createFakeDns(['127.0.0.1'], ['127.0.0.2']);
    const guarded = createGuardedClient({ networks, lookup: dns.lookup });
    const named = { ...record(), card_url: `http://agent.test:${place.port}/card.json` };
    expect(await readCard({ remoteClient: guarded, logger }, named)).toHaveProperty('identity');
    const before = requests.length;
    const error = 'the host name is unknown, or its address is not allowed';
    expect(await readCard({ remoteClient: guarded, logger }, named)).toEqual({ error });
    expect(requests).toHaveLength(before);
  });

  test.each([[401], [404], [500]])(
    'is not read from an answer with status %i, whose text is not shown',
    async (status) => {
      handlers.set('/card.json', (_request, response) => response.writeHead(status).end('secret'));
      expect(await read()).toEqual({ error: `the address answers with the status ${status}` });
    },
  );
});

describe('the fingerprint of a card', () => {
  test('stays the same while keys and origins do, and is another one otherwise', async () => {
    serve(card());
    const { fingerprint } = (await readWell()).identity;
    const fingerprintWith = async (fields: object) => {
      serve({ ...card(), ...fields });
      return (await readWell()).identity.fingerprint;
    };
    expect(await fingerprintWith({ description: 'Another one.', skills: [] })).toBe(fingerprint);
    const at = (address: string) => ({
      supportedInterfaces: [{ url: address, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    });
    expect(await fingerprintWith(at(`${place.url}/another/path`))).toBe(fingerprint);
    expect(await fingerprintWith(at('https://elsewhere.example/a2a'))).not.toBe(fingerprint);
    const flows = { clientCredentials: { tokenUrl: 'https://elsewhere.example/token' } };
    const securitySchemes = { oauth: { oauth2SecurityScheme: { flows } } };
    expect(await fingerprintWith({ securitySchemes })).not.toBe(fingerprint);
    await serveSigned(createCardKey());
    expect((await readWell()).identity.fingerprint).not.toBe(fingerprint);
  });

  test('has the key that the origin of the card publishes, without its private part', async () => {
    const key = createCardKey();
    await serveSigned(key);
    serve({ keys: [{ ...key.jwk, d: 'private' }] }, '/keys.json');
    const { identity } = await readWell();
    expect(identity.keys).toEqual([expect.not.objectContaining({ d: expect.anything() })]);
    expect(identity.thumbprints).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
  });

  test('does not have a key of another origin', async () => {
    serve(card());
    const unsigned = (await readWell()).identity;
    await serveSigned(createCardKey(), {}, `http://localhost:${place.port}/keys.json`);
    expect((await readWell()).identity).toEqual(unsigned);
  });

  test('does not change with a pinned key, even if its origin publishes others', async () => {
    const key = createCardKey();
    await serveSigned(key);
    const { identity } = await readWell();
    serve({ keys: [] }, '/keys.json');
    expect((await readWell(identity)).identity).toEqual(identity);
    await serveSigned(createCardKey());
    expect((await readWell(identity)).identity.fingerprint).not.toBe(identity.fingerprint);
  });
});

describe('a signature is refused', () => {
  const error = 'the signature of the agent card is not valid';

  test('that is of another text', async () => {
    const key = createCardKey();
    const signed = await signCard(card(), key, `${place.url}/keys.json`);
    serve({ ...signed, description: 'Changed.' });
    serve({ keys: [key.jwk] }, '/keys.json');
    expect(await read()).toEqual({ error });
  });

  test('that is of another key with the same id', async () => {
    const key = createCardKey();
    await serveSigned({ ...createCardKey(), kid: key.kid });
    serve({ keys: [key.jwk] }, '/keys.json');
    expect(await read()).toEqual({ error });
  });

  test('of a key that is no public key', async () => {
    const key = createCardKey();
    await serveSigned(key);
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    for (const jwk of [{ kty: 'oct', k: 'c2VjcmV0', kid: key.kid }, publicKey.export({ format: 'jwk' })]) {
      serve({ keys: [{ ...jwk, kid: key.kid }] }, '/keys.json');
      expect(await read()).toEqual({ error });
    }
  });

  test('whose keys cannot be read', async () => {
    await serveSigned(createCardKey());
    handlers.delete('/keys.json');
    expect(await read()).toEqual({ error: 'the address answers with the status 404' });
  });
});
