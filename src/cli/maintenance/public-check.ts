import { readFile } from 'node:fs/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { createRequire } from 'node:module';
import { connect } from 'node:tls';
import {
  maxAttachmentBytes,
  maxAttachments,
} from '../../../packages/core/src/domain/attachments/attachments.ts';
import type { Check } from './checks.ts';

const timeoutMs = 15_000;
const dayMs = 24 * 60 * 60 * 1_000;
/** Left of a certificate's time: one that lives for days is renewed later than one that lives for months. */
const minCertificate = { days: 14, share: 0.25 };

/** A form of the console with as many files as a message can have. */
const maxFormBytes = maxAttachments * maxAttachmentBytes;

/** The public address, without a slash at its end. */
interface Target {
  url: string;
}

type Response = { status: number; headers: Headers; text: string };

/** A request of a stranger. A redirect is an answer. */
async function ask({ url }: Target, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url + path, {
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
    ...init,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Whether the service itself has answered, and not something before it. */
const isOurs = ({ text }: Pick<Response, 'text'>, code: string): boolean =>
  text.startsWith(`{"error":{"code":"${code}"`);

/** The days until the certificate expires, and those of its whole life. @throws if it is not valid for the host */
function readCertificate({ url }: Target): Promise<{ left: number; life: number }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port || 443), servername: hostname }, () => {
      const { valid_from, valid_to } = socket.getPeerCertificate();
      socket.destroy();
      const [from, to] = [Date.parse(valid_from), Date.parse(valid_to)];
      resolve({ left: (to - Date.now()) / dayMs, life: (to - from) / dayMs });
    });
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer')));
    socket.on('error', reject);
  });
}

/** Opens a WebSocket without a token. The service refuses it. */
function openSocket({ url }: Target): Promise<Pick<Response, 'status' | 'text'>> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  };
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/ws`, { headers, timeout: timeoutMs }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end();
  });
}

/** The checks of what the proxy does, each after those that it needs. */
const proxyChecks: readonly Check<Target>[] = [
  {
    part: 'address',
    async run({ url }) {
      if (url.startsWith('https:')) return url;
      throw new Error(`${url} is not https: anyone on the network can read messages and tokens`);
    },
    advice: 'give the proxy a certificate, and set PUBLIC_URL to the https address',
  },
  {
    part: 'certificate',
    needs: ['address'],
    async run(target) {
      const { left, life } = await readCertificate(target);
      const time = left < 2 ? `${Math.floor(24 * left)} hours` : `${Math.floor(left)} days`;
      if (left >= Math.min(minCertificate.days, life * minCertificate.share)) return `valid for ${time}`;
      throw new Error(`it expires in ${time}`);
    },
    advice:
      'renew the certificate, for the name of this address, with its whole chain; for your own authority, set NODE_EXTRA_CA_CERTS',
  },
  {
    part: 'service',
    async run(target) {
      const { status, text } = await ask(target, '/readyz');
      if (status === 200) return 'ready';
      throw new Error(`/readyz answers ${status}: ${text.slice(0, 100)}`);
    },
    advice:
      'start the API processes, and let the proxy pass all paths to them; run ams doctor on their machines',
  },
  {
    part: 'host',
    needs: ['service'],
    async run(target) {
      const answer = await ask(target, '/mcp', { method: 'POST' });
      if (answer.status === 401) return 'passed on unchanged';
      const cause = answer.status === 403 ? ': the proxy changes the header Host' : '';
      throw new Error(`/mcp answers ${answer.status}${cause}`);
    },
    advice: 'let the proxy pass the header Host on unchanged, or add the name to ALLOWED_HOSTS',
  },
  {
    part: 'websocket',
    needs: ['service'],
    async run(target) {
      const answer = await openSocket(target);
      if (isOurs(answer, 'UNAUTHORIZED')) return 'upgrades are passed on';
      throw new Error(`/ws answers ${answer.status}: the proxy does not pass upgrades on`);
    },
    advice: 'let the proxy pass the headers Connection and Upgrade on, with HTTP/1.1',
  },
  {
    part: 'bodies',
    needs: ['service'],
    async run(target) {
      const body = Buffer.alloc(maxFormBytes);
      const headers = { 'content-type': 'application/octet-stream' };
      const answer = await ask(target, '/v1/attachments', { method: 'POST', headers, body });
      if (isOurs(answer, 'UNAUTHORIZED')) return 'those of the largest size are passed on';
      throw new Error(`${maxFormBytes} bytes are answered with ${answer.status} by the proxy`);
    },
    advice: 'let the proxy accept bodies of 52 MiB: a form of the console with five files',
  },
];

/** The checks of what the settings of the service do. */
const settingChecks: readonly Check<Target>[] = [
  {
    part: 'issuer',
    needs: ['service'],
    async run(target) {
      const { text } = await ask(target, '/.well-known/oauth-authorization-server');
      const { issuer } = JSON.parse(text) as { issuer?: unknown };
      if (issuer === target.url) return 'tokens are for this address';
      throw new Error(`tokens are for ${String(issuer)}`);
    },
    advice: 'set PUBLIC_URL to the public address in every process',
  },
  {
    part: 'operators',
    needs: ['service'],
    async run(target) {
      const open = [];
      for (const path of ['/metrics', '/ops/queues'])
        if ((await ask(target, path)).status < 400) open.push(path);
      if (open.length === 0) return 'metrics and queues are private';
      throw new Error(`everyone can open ${open.join(' and ')}`);
    },
    advice: 'set TRUST_PROXY=true, so that the proxy does not count as this machine, and OPS_PORT',
  },
  {
    part: 'sign-up',
    needs: ['service'],
    async run(target) {
      const { status, text } = await ask(target, '/sign-up');
      if (status !== 200) throw new Error(`/sign-up answers ${status}`);
      if (!text.includes('name="username"')) return 'closed';
      if (text.includes('name="invitation"')) return 'with an invitation';
      throw new Error('everyone can create an account');
    },
    advice: 'set SIGNUP=invite or SIGNUP=closed, unless this is a service for the public',
  },
];

/** What `ams doctor --public` checks. */
export const publicChecks = [...proxyChecks, ...settingChecks];

/** The parts that the configuration of a proxy mends. */
export const proxyParts: ReadonlySet<string> = new Set(proxyChecks.map(({ part }) => part));

const { resolve } = createRequire(import.meta.url);

/** The configuration of nginx on the page for teams, for the host of an address. */
export async function proxyBlock({ url }: Target): Promise<string> {
  const [, block = ''] =
    /```nginx\n([\s\S]*?)```/.exec(await readFile(resolve('#docs/team.md'), 'utf8')) ?? [];
  return block.replaceAll('ams.example.com', new URL(url).hostname);
}
