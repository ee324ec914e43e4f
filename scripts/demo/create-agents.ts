import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { randomBytes } from 'node:crypto';
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { registerAgentAsOperator } from '../../src/services/agents/operator-registration.ts';
import { issueToken } from '../../src/services/auth/issue-token.ts';
import { type TokenAudience, toResourceUrls, tokenLifeSeconds } from '../../src/services/auth/tokens.ts';

export interface DemoAgent {
  handle: string;
  token: string;
}

export type DemoAgents = Record<'ada' | 'bob' | 'mia', DemoAgent>;

/** Registers three agents with new owners, an open inbound policy and a token each, as `ams agent` and `ams token` do. */
export async function createAgents(env: Record<string, string | undefined>): Promise<DemoAgents> {
  const config = { ...loadConfig(env), LOG_LEVEL: 'silent' as const, DATABASE_POOL_SIZE: 2 };
  const core = compose(config, 'demo');
  const run = randomBytes(4).toString('hex');

  async function createAgent(name: string, audience: TokenAudience): Promise<DemoAgent> {
    const handle = `demo-${name}-${run}.assistant`;
    const resource = toResourceUrls(config.PUBLIC_URL)[audience];
    const issued = await core.unitOfWork.write(system, async (work) => {
      await registerAgentAsOperator(work, {
        handle,
        create_owner: true,
        inbound_policy: 'open',
        visibility: 'public',
      });
      const scopes = ['threads:read', 'threads:write'] as const;
      return issueToken(work, { handle, resource, scopes, expires_in: tokenLifeSeconds });
    });
    return { handle, token: issued.access_token };
  }

  try {
    return {
      ada: await createAgent('ada', 'api'),
      bob: await createAgent('bob', 'api'),
      mia: await createAgent('mia', 'mcp'),
    };
  } finally {
    await core.close();
  }
}
