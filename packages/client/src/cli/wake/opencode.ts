import type { Harness, HarnessOptions, Wake } from './harness.ts';

interface Session {
  id: string;
  time?: { updated?: number };
}

/**
 * opencode: sends a prompt to a session of its server and waits for the answer, which is the end of the turn: `POST
 * /session/{id}/message`. Without a session, the one that was updated last. Terminals that use the server show the turn.
 * Interface: https://opencode.ai/docs/server
 */
export function createOpencode(options: HarnessOptions): Harness {
  const { env, session, harnessUrl = 'http://127.0.0.1:4096' } = options;
  const headers = { 'Content-Type': 'application/json', ...authorization(env) };

  async function call(method: string, path: string, signal: AbortSignal, body?: object): Promise<unknown> {
    const response = await fetch(`${harnessUrl.replace(/\/+$/, '')}${path}`, {
      method,
      headers,
      signal,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`opencode answers ${response.status} to ${method} ${path}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  async function findLatest(signal: AbortSignal): Promise<string> {
    const sessions = (await call('GET', '/session', signal)) as Session[];
    const [latest] = sessions.toSorted((a, b) => (b.time?.updated ?? 0) - (a.time?.updated ?? 0));
    if (latest) return latest.id;
    throw new Error('opencode has no session; start one, or name it with --session');
  }

  return {
    name: 'opencode',
    async wake({ text, signal }: Wake) {
      const id = session ?? (await findLatest(signal));
      const body = { parts: [{ type: 'text', text }] };
      await call('POST', `/session/${encodeURIComponent(id)}/message`, signal, body);
    },
  };
}

/** HTTP basic authentication with the settings of opencode itself. */
function authorization(env: HarnessOptions['env']): Record<string, string> {
  const { OPENCODE_SERVER_USERNAME: user = 'opencode', OPENCODE_SERVER_PASSWORD: password } = env;
  if (!password) return {};
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}
