import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Core } from '../../src/compose.ts';
import type { RemoteAgentRow } from '../../src/repositories/remote/agents.ts';
import { openCredential } from '../../src/services/remote/credentials.ts';

/** Where the tokens for one remote agent come from. */
export interface TokenSource {
  /** Whether `get(true)` gets a new token. */
  isRenewable: boolean;
  /** Null: the agent needs none. @throws {Error} the token endpoint gives none */
  get(renew: boolean): Promise<string | null>;
}

const limits = { timeoutMs: 10_000, maxBytes: 64 * 1024 };
const marginMs = 60_000;
const maxKept = 10_000;
const tokenResponse = z.object({ access_token: z.string().min(1), expires_in: z.number().optional() });

interface KeptToken {
  token: string;
  until: number;
}

/** Returns what gets tokens for remote agents. Those of client credentials (RFC 6749, section 4.4) are kept until they expire. */
export function createTokenSources({ remoteClient, settings }: Core) {
  const fetchToken = remoteClient.createFetch(limits);
  /** By agent and sealed credential: a new credential has no token yet. */
  const kept = new LRUCache<string, KeptToken>({ max: maxKept });

  return function sourceOf(
    agent: Pick<RemoteAgentRow, 'agent_id' | 'credential' | 'confirmed'>,
  ): TokenSource {
    const credential = openCredential(settings.sealedBox, agent);
    if (credential.kind === 'none') return { isRenewable: false, get: async () => null };
    if (credential.kind === 'bearer') return { isRenewable: false, get: async () => credential.token };
    if (credential.kind === 'invitation') {
      const { token } = credential;
      return { isRenewable: false, get: async () => token };
    }
    const { client_id, client_secret } = credential;
    const token_url = credential.token_url ?? agent.confirmed?.token_url;

    const key = `${agent.agent_id} ${token_url} ${agent.credential?.toString('base64')}`;

    async function request(): Promise<string> {
      if (!token_url) throw new Error('the card of the agent names no address for tokens');
      const basic = Buffer.from(`${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`);
      const response = await fetchToken(token_url, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${basic.toString('base64')}`,
        },
        body: 'grant_type=client_credentials',
      });
      if (!response.ok) throw new Error(`the token endpoint answers ${response.status}`);
      const { access_token: token, expires_in = 3_600 } = tokenResponse.parse(await response.json());
      kept.set(key, { token, until: Date.now() + expires_in * 1_000 - marginMs });
      return token;
    }

    return {
      isRenewable: true,
      async get(renew) {
        const found = kept.get(key);
        return !renew && found && found.until > Date.now() ? found.token : request();
      },
    };
  };
}
