import { randomBytes } from 'node:crypto';
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { registerAgent } from '../../src/services/agents-admin.ts';
import { issueToken } from '../../src/services/issue-token.ts';
import { type Door, resourceAddresses, tokenLife_s } from '../../src/services/tokens.ts';

export interface DemoAgent {
  handle: string;
  token: string;
}

export type DemoAgents = Record<'ada' | 'bob' | 'mia', DemoAgent>;

/** Registers three agents of fresh owners, open to everybody, each with a token: what `ams agent` and `ams token` do. */
export async function makeAgents(env: Record<string, string | undefined>): Promise<DemoAgents> {
  const config = { ...loadConfig(env), LOG_LEVEL: 'silent' as const, DATABASE_POOL_SIZE: 2 };
  const core = compose(config, 'demo');
  const run = randomBytes(4).toString('hex');

  async function make(name: string, door: Door): Promise<DemoAgent> {
    const handle = `demo-${name}-${run}.assistant`;
    const resource = resourceAddresses(config.PUBLIC_URL)[door];
    const issued = await core.unitOfWork.administer(async (work) => {
      await registerAgent(work, { handle, create_owner: true, inbound_policy: 'open', visibility: 'public' });
      const scopes = ['threads:read', 'threads:write'] as const;
      return issueToken(work, { handle, resource, scopes, expires_in: tokenLife_s });
    });
    return { handle, token: issued.access_token };
  }

  try {
    return { ada: await make('ada', 'api'), bob: await make('bob', 'api'), mia: await make('mia', 'mcp') };
  } finally {
    await core.close();
  }
}
